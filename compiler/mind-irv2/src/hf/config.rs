//! `config.json`, as Hugging Face writes it.

use mind_diag::{Diagnostic, Diagnostics, Severity, Span};
use mind_json::{Limits, Value, locate};
use mind_weights::WeightType;

use super::family::{Defaults, Window, defaults};
use super::reader::{
    CONTEXT, HEAD_DIM, HEADS, HIDDEN, INTERMEDIATE, KV_HEADS, LAYERS, Reader, VOCAB,
};
use crate::codes;
use crate::config::{Family, Parameters, Rope, RopeScaling};

/// What a configuration says.
pub(super) struct Said {
    /// The model, with the defaults of its family.
    pub(super) parameters: Parameters,
    /// Whether the width of heads is said; it follows from other numbers without.
    pub(super) head_dim: bool,
    /// Whether the number of key-value heads is said.
    pub(super) kv_heads: bool,
    /// Whether the head is tied, where that is said.
    pub(super) tied: Option<bool>,
    /// The share of each head that rotates.
    pub(super) rotary_factor: f64,
    /// How weights are stored, where that is said.
    pub(super) dtype: Option<WeightType>,
    /// What is read with doubt.
    pub(super) warnings: Diagnostics,
    /// Where hyperparameters stand, by their names in documents.
    pub(super) places: Vec<(&'static str, Span)>,
}

impl Said {
    /// Where the hyperparameter `key` stands.
    pub(super) fn span_of(&self, key: &str) -> Option<Span> {
        let place = self.places.iter().find(|(own, _)| *own == key);
        place.map(|(_, span)| *span)
    }
}

/// Where `rope_theta` and its kind may stand but in the configuration itself.
const NESTED: [&str; 2] = ["rope_parameters", "rope_scaling"];

/// Reads the text of a `config.json`.
///
/// Errors: see [`document`](super::document).
pub(super) fn read(text: &str) -> Result<Said, Diagnostics> {
    let root = mind_json::parse(text, &Limits::default()).map_err(|found| *found)?;
    let nested = root.get("text_config");
    let config = match nested {
        Some(nested) if !Reader::new(&root).has(&HIDDEN) => nested,
        _ => &root,
    };
    let mut reader = Reader::new(config);
    let said = reader.said();
    let mut found = reader.found;
    found.sort_by_place();
    let found = locate(&root, found);
    match said {
        Some(mut said) if !found.has_errors() => {
            said.warnings = found;
            said.places = reader.places;
            Ok(said)
        }
        _ => Err(found),
    }
}

impl<'v> Reader<'v> {
    fn said(&mut self) -> Option<Said> {
        if self.config.members().is_none() {
            let message = format!(
                "a configuration is an object, found {}",
                self.config.describe()
            );
            self.push(codes::KIND, self.config.span, message);
            return None;
        }
        let family = self.family()?;
        let rules = defaults(family);
        self.refusals();
        let (layers, hidden) = (self.count(&LAYERS), self.count(&HIDDEN));
        let (inner, heads) = (self.count(&INTERMEDIATE), self.count(&HEADS));
        let (vocab, context) = (self.count(&VOCAB), self.count(&CONTEXT));
        let rope = self.rope();
        let eps = self.real("rms_norm_eps", rules.eps);
        let kv_heads = self.kv_heads(rules, heads);
        let head_dim = self.maybe_count(&HEAD_DIM);
        let tied = self.truth("tie_word_embeddings");
        let attention = self.truth("attention_bias").unwrap_or(false);
        let mlp = self.truth("mlp_bias").unwrap_or(false);
        let dtype = self.dtype();
        let (theta, scaling, rotary_factor) = rope?;
        let (hidden, heads, context) = (hidden?, heads?, context?);
        let context = self.window(rules, context, layers?);
        let width = head_dim.or(rules.head_dim);
        if width.is_none() && (heads == 0 || !hidden.is_multiple_of(heads)) {
            let span = self.place("num_attention_heads");
            let message =
                format!("`num_attention_heads` {heads} does not divide `hidden_size` {hidden}");
            self.push(codes::RANGE, span, message);
            return None;
        }
        let head_dim_or = width.unwrap_or_else(|| hidden / heads);
        Some(Said {
            parameters: Parameters {
                family,
                num_layers: layers?,
                hidden_size: hidden,
                intermediate_size: inner?,
                num_attention_heads: heads,
                num_kv_heads: kv_heads?.0,
                head_dim: head_dim_or,
                vocab_size: vocab?,
                context_window: context,
                rms_norm_eps: eps?,
                rope: Some(Rope {
                    theta,
                    scaling,
                    rotary_dims: rotary_dims(head_dim_or, rotary_factor),
                }),
                tie_word_embeddings: tied.unwrap_or(false),
                biases: (rules.biases)(attention, mlp),
                qk_norm: rules.qk_norm,
            },
            head_dim: head_dim.is_some(),
            kv_heads: kv_heads?.1,
            tied,
            rotary_factor,
            dtype,
            warnings: Diagnostics::new(),
            places: Vec::new(),
        })
    }

    fn family(&mut self) -> Option<Family> {
        let Some(value) = self.get("model_type") else {
            self.push(codes::MISSING, self.config.span, "`model_type` is missing");
            return None;
        };
        let family = value.text().and_then(Family::parse);
        if family.is_none() {
            let message = format!(
                "`model_type` is {}, which is not supported",
                value.describe()
            );
            let help = format!("supported are {}", Family::ALL.map(Family::name).join(", "));
            let found = Diagnostic::error(value.span, message);
            self.found.push(found.code(codes::UNSUPPORTED).help(help));
        }
        family
    }

    /// What would make another model of it.
    fn refusals(&mut self) {
        if let Some(value) = self.get("quantization_config") {
            self.unsupported(
                "quantization_config",
                value,
                "weights are read from plain tensors or GGUF",
            );
        }
        for key in ["hidden_act", "hidden_activation"] {
            let Some(value) = self.get(key) else { continue };
            if !matches!(value.text(), Some("silu" | "swish")) {
                self.unsupported(key, value, "the MLP is gated by silu");
            }
        }
        for key in ["num_local_experts", "num_experts", "n_routed_experts"] {
            if let Some(value) = self.get(key).filter(|value| value.integer() != Some(0)) {
                self.unsupported(key, value, "mixtures of experts are not");
            }
        }
        if let Some(value) = self.get("no_rope_layers") {
            self.unsupported("no_rope_layers", value, "all layers rotate");
        }
        let Some(types) = self.get("layer_types") else {
            return;
        };
        let known =
            |value: &&Value| !matches!(value.text(), Some("full_attention" | "sliding_attention"));
        let foreign = types.elements().unwrap_or_default().iter().find(known);
        if let Some(value) = foreign {
            self.unsupported(
                "layer_types",
                value,
                "layers attend to everything or through a window",
            );
        }
    }

    /// How many key-value heads there are, and whether that is said; `null` is as many as query heads.
    fn kv_heads(&mut self, rules: &Defaults, heads: Option<usize>) -> Option<(usize, bool)> {
        if let Some((name, value)) = self.find(&KV_HEADS) {
            return Some((self.natural(name, value)?, true));
        }
        match self.has(&KV_HEADS) {
            true => Some((heads?, true)),
            false => Some((rules.kv_heads.or(heads)?, false)),
        }
    }

    fn dtype(&mut self) -> Option<WeightType> {
        let key = ["dtype", "torch_dtype"]
            .into_iter()
            .find(|key| self.get(key).is_some())?;
        let value = self.get(key)?;
        let word = value.text().map(|word| word.trim_start_matches("torch."));
        let dtype = word.and_then(WeightType::parse);
        if dtype.is_none() {
            self.unsupported(key, value, "weights are float32, float16 or bfloat16");
        }
        dtype
    }

    /// Base, scaling and rotating share of rotary embeddings.
    fn rope(&mut self) -> Option<(f64, RopeScaling, f64)> {
        let nested = NESTED
            .into_iter()
            .find_map(|key| Some((key, self.get(key)?)));
        let by_type = |value: &Value| {
            let members = value.members().unwrap_or_default();
            members
                .iter()
                .any(|member| member.value.members().is_some())
        };
        if let Some((key, value)) = nested.filter(|(_, value)| by_type(value)) {
            self.unsupported(key, value, "layers have one kind of rotation");
            return None;
        }
        let own = |key: &str| {
            let flat = self.get(key);
            flat.or_else(|| nested?.1.get(key).filter(|value| !value.is_null()))
        };
        let (theta, base) = (own("rope_theta"), self.get("rope_base"));
        let factor = own("partial_rotary_factor");
        let theta = match theta.or(base) {
            Some(value) => {
                self.places.push(("rope_theta", value.span));
                self.number("rope_theta", value)?
            }
            None => crate::rope::DEFAULT_THETA,
        };
        let factor = match factor {
            Some(value) => {
                self.places.push(("partial_rotary_factor", value.span));
                self.number("partial_rotary_factor", value)?
            }
            None => 1.0,
        };
        let scaling = match nested {
            Some((_, value)) => match crate::rope::scaling(value) {
                Ok(scaling) => scaling,
                Err(problem) => {
                    self.push(problem.code, problem.span, problem.message);
                    return None;
                }
            },
            None => RopeScaling::None,
        };
        Some((theta, scaling, factor))
    }

    /// The positions that a run may have: no more than a window lets each of them see, which is warned of.
    fn window(&mut self, rules: &Defaults, context: usize, layers: usize) -> usize {
        let key = "sliding_window";
        let said = self.config.get(key);
        let width = match rules.window {
            Window::Never => return context,
            Window::Asked(default) => {
                let asked = self.truth("use_sliding_window").unwrap_or(false);
                let from = self.get("max_window_layers").and_then(Value::integer);
                let some = from.is_none_or(|from| from < layers as i64);
                match said {
                    Some(value) if value.is_null() => None,
                    Some(value) if asked && some => self.natural(key, value),
                    None if asked && some => Some(default),
                    _ => None,
                }
            }
            Window::Said(default) => match said {
                Some(value) if value.is_null() => None,
                Some(value) => self.natural(key, value),
                None => default,
            },
        };
        let Some(width) = width.filter(|width| *width < context) else {
            return context;
        };
        let span = said.map_or(self.config.span, |value| value.span);
        let how = if said.is_some() { "" } else { " by default" };
        let message = format!(
            "`sliding_window` is {width}{how}, less than the context of {context}: a run has {width} tokens at most"
        );
        let found = Diagnostic::new(Severity::Warning, span, message).code(codes::UNSUPPORTED);
        self.found.push(found.help(WINDOW_HELP));
        width
    }
}

/// Why a window limits a run.
pub(super) const WINDOW_HELP: &str =
    "every position sees all others then; windows that slide past the first are not supported";

/// How many elements of a head rotate.
pub(super) fn rotary_dims(head_dim: usize, factor: f64) -> usize {
    // Whatever the factor, the configuration's check has the last word.
    (head_dim as f64 * factor) as usize
}
