//! Rules for reading the `config.json` of a family.

use mind_json::Value;

use super::experts::ExpertRule;
use super::plan::Plan;
use crate::attributes::{Activation, Attribute};
use crate::codes;
use crate::read::field::{Reader, present, shown};

/// The keys of a family's configuration, and the defaults of absent keys.
pub(crate) struct Rules {
    /// Whether checkpoints fuse q, k and v in one matrix.
    pub(crate) is_fused: bool,
    /// Keys of hyperparameters that differ from those that families share.
    pub(crate) keys: Vec<(String, Vec<String>)>,
    /// Defaults of hyperparameters.
    pub(crate) defaults: Vec<(String, f64)>,
    /// The default width of the MLP, as a multiple of the hidden size.
    pub(crate) mlp_ratio: Option<usize>,
    /// The default of whether the output head is tied to the embedding table.
    pub(crate) tied: bool,
    /// Defaults of tokens that control generation.
    pub(crate) generation: Vec<(String, u32)>,
    /// Optional weights that models of the family have, either always or if a key is true.
    pub(crate) biases: Vec<BiasRule>,
    /// The rule for experts.
    pub(crate) experts: Option<ExpertRule>,
    /// The rule for sliding windows.
    pub(crate) window: Option<WindowRule>,
    /// The rule for rotary embeddings; without it, models have a table of positions.
    pub(crate) rotation: Option<RotationRule>,
    /// The layers without rotation.
    pub(crate) no_rope: NoRope,
    /// The rule for the activation function of the MLP.
    pub(crate) activation: Option<ActivationRule>,
    /// Attributes that steps of the plan read.
    pub(crate) numbers: Vec<Number>,
    /// Keys with values that are rejected, because they denote another model.
    pub(crate) refuses: Vec<Refusal>,
    /// Keys that do not change the output of the model.
    ignores: Vec<String>,
    /// The rules for GGUF files.
    pub(crate) gguf: Option<GgufRules>,
    /// Whether rows of q and k are stored for rotations of adjacent elements.
    pub(crate) neighbours: bool,
    /// Every key that this family reads and not all families do.
    reads: Vec<String>,
}

/// Optional weights that depend on a key.
pub(crate) struct BiasRule {
    /// The key; `None` if models always have the weights.
    pub(crate) key: Option<String>,
    /// The value if the key is absent.
    pub(crate) default: bool,
    /// The weights.
    pub(crate) weights: Vec<String>,
    /// Whether the checkpoint decides whether the model has the weights.
    pub(crate) by_checkpoint: bool,
}

/// The rule for sliding-window attention.
pub(crate) struct WindowRule {
    /// The key of the window size.
    pub(crate) key: String,
    /// Whether the size counts both sides of a position together, without the position itself.
    pub(crate) both_sides: bool,
    /// The size if the key is absent.
    pub(crate) default: Option<usize>,
    /// The key that must be true for windows to apply.
    pub(crate) asked_by: Option<String>,
    /// Whether `layer_types` is read.
    pub(crate) types: bool,
    /// The layers with a window, if the configuration does not list them.
    pub(crate) layers: WindowLayers,
    /// The key of the first layer without a window, for configurations without `layer_types`, and its default.
    pub(crate) below: Option<(String, usize)>,
}

impl WindowRule {
    /// Returns whether all layers have a window, regardless of other keys.
    pub(crate) fn is_of_all_layers(&self) -> bool {
        let asks = self.asked_by.is_some() || self.types || self.below.is_some();
        let of_all = match self.layers {
            WindowLayers::All => true,
            WindowLayers::From(..) | WindowLayers::Period(..) | WindowLayers::FirstOfPeriod(..) => {
                false
            }
        };
        of_all && !asks
    }
}

/// The layers with a window.
pub(crate) enum WindowLayers {
    /// All layers.
    All,
    /// The layers from a number on: its key and default.
    From(String, usize),
    /// All but the last layer of each period: the key and default of the period.
    Period(Option<String>, usize),
    /// All but the first layer of each period: the key and default of the period.
    FirstOfPeriod(Option<String>, usize),
}

/// The rule for rotary embeddings.
pub(crate) struct RotationRule {
    /// Whether a part of each head may rotate.
    pub(crate) partial: bool,
    /// An additional key for the rotated share of a head.
    pub(crate) share_key: Option<String>,
    /// The share if the key is absent.
    pub(crate) share: f64,
    /// The supported frequency scalings.
    pub(crate) scalings: Vec<String>,
    /// The key of the base in layers with a window, and its default.
    pub(crate) local: Option<(String, f64)>,
}

/// The layers without rotation.
pub(crate) enum NoRope {
    /// None.
    Never,
    /// Layers with a 0 in a list or, without the list, the last of every n layers.
    Listed {
        /// The key of the list.
        list: String,
        /// The key of n.
        interval: String,
        /// The value of n if its key is absent.
        default: usize,
    },
    /// Layers without a window.
    WithoutWindow,
}

/// The rule for the activation function of the MLP.
pub(crate) struct ActivationRule {
    pub(crate) keys: Vec<String>,
    pub(crate) default: Activation,
    pub(crate) words: Vec<(String, Activation)>,
}

/// The rule for an attribute that a step reads.
pub(crate) struct Number {
    pub(crate) attribute: Attribute,
    /// The key; `None` if the configuration never states the number.
    pub(crate) key: Option<String>,
    /// The base value if the key is absent.
    pub(crate) value: Base,
    pub(crate) how: How,
    /// The words of the key that mean 1, for a flag.
    pub(crate) words: Vec<String>,
    /// Keys, the first of which that is present states whether the number is read. If it is false, the number is
    /// neutral.
    pub(crate) asked_by: Vec<String>,
    /// Whether the number is read if none of these keys is present.
    pub(crate) asked: bool,
}

/// The base value of a number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Base {
    /// A constant.
    Value(f64),
    /// The hidden size.
    HiddenSize,
    /// The neutral value.
    Neutral,
}

/// The function from the base value to the number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum How {
    Same,
    Inverse,
    Root,
    InverseRoot,
    /// 1 for true, 0 for false.
    Truth,
    Next,
}

const HOWS: [(&str, How); 6] = [
    ("same", How::Same),
    ("inverse", How::Inverse),
    ("root", How::Root),
    ("inverse_root", How::InverseRoot),
    ("truth", How::Truth),
    ("next", How::Next),
];

/// A key with values that are rejected, because they denote another model.
pub(crate) struct Refusal {
    pub(crate) key: String,
    pub(crate) unless: Vec<Value>,
    pub(crate) reason: String,
}

/// The rules for the GGUF files of a family.
pub(crate) struct GgufRules {
    /// Their architecture name.
    pub(crate) architecture: String,
    /// Whether rows of q and k are stored for rotations of adjacent elements.
    pub(crate) neighbours: bool,
    /// Whether a tensor holds frequency divisors of the rotation.
    pub(crate) factors: bool,
    /// Whether routing weights are normalised to a sum of 1, which headers do not state.
    pub(crate) shares: bool,
}

const KEYS: &[&str] = &[
    "family",
    "plan",
    "switches",
    "fused_qkv",
    "keys",
    "defaults",
    "mlp_ratio",
    "tied",
    "generation",
    "biases",
    "experts",
    "window",
    "rotation",
    "no_rope",
    "activation",
    "numbers",
    "refuses",
    "ignores",
    "tensors",
    "gguf",
];

/// Hyperparameters whose keys or defaults a family may override.
const PARAMETERS: &[&str] = &[
    "num_layers",
    "hidden_size",
    "intermediate_size",
    "num_attention_heads",
    "num_kv_heads",
    "head_dim",
    "vocab_size",
    "context_window",
    "rms_norm_eps",
    "rope_theta",
    "encoder_layers",
    "encoder_intermediate_size",
    "encoder_attention_heads",
    "source_window",
];

/// Tokens that control generation.
const TOKENS: &[&str] = &[
    "decoder_start_token_id",
    "eos_token_id",
    "forced_bos_token_id",
    "forced_eos_token_id",
];

impl Rules {
    /// Returns whether the family reads `key`, which not every family does.
    pub(crate) fn reads(&self, key: &str) -> bool {
        self.reads.iter().any(|own| own == key)
    }

    /// Returns whether the family has rules for members of the object at `key`.
    pub(crate) fn nests(&self, key: &str) -> bool {
        let refused = self.refuses.iter().map(|own| &own.key);
        let mut all = self.reads.iter().chain(&self.ignores).chain(refused);
        all.any(|own| {
            own.strip_prefix(key)
                .is_some_and(|own| own.starts_with('/'))
        })
    }

    /// Returns whether layers with a window also differ in other ways, which matter even if the context fits into the
    /// window.
    pub(crate) fn window_has_other_effects(&self) -> bool {
        let local = self
            .rotation
            .as_ref()
            .is_some_and(|own| own.local.is_some());
        local || matches!(self.no_rope, NoRope::WithoutWindow)
    }

    /// Returns whether `key` does not change the output.
    pub(crate) fn ignores(&self, key: &str) -> bool {
        self.ignores.iter().any(|own| own == key)
    }

    /// Returns the default of a hyperparameter.
    pub(crate) fn default_of(&self, parameter: &str) -> Option<f64> {
        let own = self.defaults.iter().find(|(own, _)| own == parameter);
        own.map(|(_, value)| *value)
    }

    /// Returns the default of the token `key`.
    pub(crate) fn token_of(&self, key: &str) -> Option<u32> {
        let own = self.generation.iter().find(|(own, _)| own == key);
        own.map(|(_, token)| *token)
    }

    /// Returns the keys of a hyperparameter if they differ from those that families share.
    pub(crate) fn keys_of(&self, parameter: &str) -> Option<&[String]> {
        let own = self.keys.iter().find(|(own, _)| own == parameter);
        own.map(|(_, keys)| keys.as_slice())
    }
}

/// Reads `family.json`.
pub(super) fn read(root: &Value, plan: &Plan, r: &mut Reader) -> Option<Rules> {
    r.foreign(root, KEYS);
    let mut rules = Rules {
        is_fused: r.maybe_truth(root, "fused_qkv").unwrap_or(false),
        keys: keys(root, r),
        defaults: defaults(root, r),
        mlp_ratio: natural(root, "mlp_ratio", r),
        tied: r.maybe_truth(root, "tied").unwrap_or(false),
        generation: generation(root, r),
        biases: biases(root, plan, r),
        experts: super::experts::read(root, r),
        window: window(root, r),
        rotation: rotation(root, r),
        no_rope: no_rope(root, r),
        activation: activation(root, r),
        numbers: numbers(root, plan, r),
        refuses: refuses(root, r),
        ignores: ignores(root, r),
        gguf: gguf(root, r),
        neighbours: false,
        reads: Vec::new(),
    };
    if let Some(rotation) = present(root, "rotation") {
        rules.neighbours = r.maybe_truth(rotation, "neighbours").unwrap_or(false);
    }
    let mut reads: Vec<String> = Vec::new();
    reads.extend(rules.keys.iter().flat_map(|(_, keys)| keys.clone()));
    reads.extend(rules.biases.iter().filter_map(|rule| rule.key.clone()));
    reads.extend(rules.numbers.iter().filter_map(|rule| rule.key.clone()));
    reads.extend(rules.numbers.iter().flat_map(|rule| rule.asked_by.clone()));
    reads.extend(rules.experts.iter().flat_map(ExpertRule::keys).cloned());
    if let Some(window) = &rules.window {
        reads.push(window.key.clone());
        reads.extend(window.asked_by.clone());
        reads.extend(window.below.as_ref().map(|(key, _)| key.clone()));
        reads.extend(window.types.then(|| "layer_types".to_owned()));
        match &window.layers {
            WindowLayers::All | WindowLayers::Period(None, _) => {}
            WindowLayers::FirstOfPeriod(None, _) => {}
            WindowLayers::From(key, _)
            | WindowLayers::Period(Some(key), _)
            | WindowLayers::FirstOfPeriod(Some(key), _) => reads.push(key.clone()),
        }
    }
    if let Some(rotation) = &rules.rotation {
        reads.extend(rotation.share_key.clone());
        reads.extend(rotation.local.as_ref().map(|(key, _)| key.clone()));
    }
    if let NoRope::Listed { list, interval, .. } = &rules.no_rope {
        reads.extend([list.clone(), interval.clone()]);
    }
    if let Some(activation) = &rules.activation {
        reads.extend(activation.keys.iter().cloned());
    }
    rules.reads = reads;
    Some(rules)
}

/// Returns the members of the object at `key`.
fn object<'v>(root: &'v Value, key: &str, r: &mut Reader) -> &'v [mind_json::Member] {
    let Some(value) = present(root, key) else {
        return &[];
    };
    value.members().unwrap_or_else(|| {
        r.wrong(key, value, "an object");
        &[]
    })
}

fn is_parameter(member: &mind_json::Member, r: &mut Reader) -> bool {
    let known = PARAMETERS.contains(&member.key.as_str());
    if !known {
        let message = format!("no hyperparameter is called `{}`", shown(&member.key));
        let help = format!("hyperparameters are {}", PARAMETERS.join(", "));
        r.push_with_help(codes::NAME, member.key_span, message, help);
    }
    known
}

fn keys(root: &Value, r: &mut Reader) -> Vec<(String, Vec<String>)> {
    let value = present(root, "keys").unwrap_or(&Value::NULL);
    let mut all = Vec::new();
    for member in object(root, "keys", r) {
        if !is_parameter(member, r) {
            continue;
        }
        let names = r.texts(value, &member.key);
        if names.is_empty() {
            r.wrong(
                &member.key,
                &member.value,
                "at least one key of a configuration",
            );
        }
        all.push((member.key.clone(), names));
    }
    all
}

fn defaults(root: &Value, r: &mut Reader) -> Vec<(String, f64)> {
    let mut all = Vec::new();
    for member in object(root, "defaults", r) {
        if is_parameter(member, r) {
            match member.value.real() {
                Some(value) => all.push((member.key.clone(), value)),
                None => r.wrong(&member.key, &member.value, "a number"),
            }
        }
    }
    all
}

fn generation(root: &Value, r: &mut Reader) -> Vec<(String, u32)> {
    let mut all = Vec::new();
    for member in object(root, "generation", r) {
        if !TOKENS.contains(&member.key.as_str()) {
            let message = format!("no token is called `{}`", shown(&member.key));
            let help = format!("tokens are {}", TOKENS.join(", "));
            r.push_with_help(codes::NAME, member.key_span, message, help);
            continue;
        }
        let token = member.value.integer();
        match token.and_then(|token| u32::try_from(token).ok()) {
            Some(token) => all.push((member.key.clone(), token)),
            None => r.wrong(&member.key, &member.value, "a token id"),
        }
    }
    all
}

fn biases(root: &Value, plan: &Plan, r: &mut Reader) -> Vec<BiasRule> {
    let mut all = Vec::new();
    if present(root, "biases").is_none() {
        return all;
    }
    for value in r.list(root, "biases") {
        if value.members().is_none() {
            r.wrong("biases", value, "an array of objects");
            continue;
        }
        r.foreign(value, &["weights", "if", "default", "by_checkpoint"]);
        let weights = r.texts(value, "weights");
        for weight in &weights {
            let optional = plan.buffers.iter().filter(|own| own.optional);
            if !optional.clone().any(|own| own.name == *weight) {
                let names: Vec<&str> = optional.map(|own| own.name.as_str()).collect();
                let message = format!("no optional weight is called `{}`", shown(weight));
                let help = format!("optional weights are {}", names.join(", "));
                r.push_with_help(codes::NAME, value.span, message, help);
            }
        }
        all.push(BiasRule {
            key: r.maybe_text(value, "if").map(|(key, _)| key.to_owned()),
            default: r.maybe_truth(value, "default").unwrap_or(false),
            weights,
            by_checkpoint: r.maybe_truth(value, "by_checkpoint").unwrap_or(false),
        });
    }
    all
}

fn natural(value: &Value, key: &str, r: &mut Reader) -> Option<usize> {
    let own = present(value, key)?;
    r.natural(key, own)
}

fn real(value: &Value, key: &str, r: &mut Reader) -> Option<f64> {
    let own = present(value, key)?;
    let real = own.real();
    if real.is_none() {
        r.wrong(key, own, "a number");
    }
    real
}

fn owned(value: &Value, key: &str, r: &mut Reader) -> Option<String> {
    r.maybe_text(value, key).map(|(text, _)| text.to_owned())
}

fn window(root: &Value, r: &mut Reader) -> Option<WindowRule> {
    let value = present(root, "window")?;
    r.foreign(
        value,
        &[
            "key",
            "both_sides",
            "first_of_period",
            "default",
            "asked_by",
            "types",
            "from",
            "from_default",
            "period",
            "period_key",
            "below",
            "below_default",
        ],
    );
    let period_key = owned(value, "period_key", r);
    let layers = match (
        owned(value, "from", r),
        natural(value, "period", r),
        natural(value, "first_of_period", r),
    ) {
        (Some(key), _, _) => {
            WindowLayers::From(key, natural(value, "from_default", r).unwrap_or(0))
        }
        (None, Some(period), _) => WindowLayers::Period(period_key, period.max(1)),
        (None, None, Some(period)) => WindowLayers::FirstOfPeriod(period_key, period.max(1)),
        (None, None, None) => WindowLayers::All,
    };
    let key = owned(value, "key", r);
    Some(WindowRule {
        key: key.unwrap_or_else(|| "sliding_window".to_owned()),
        both_sides: r.maybe_truth(value, "both_sides").unwrap_or(false),
        default: natural(value, "default", r),
        asked_by: owned(value, "asked_by", r),
        types: r.maybe_truth(value, "types").unwrap_or(false),
        layers,
        below: owned(value, "below", r).map(|key| {
            (
                key,
                natural(value, "below_default", r).unwrap_or(usize::MAX),
            )
        }),
    })
}

fn rotation(root: &Value, r: &mut Reader) -> Option<RotationRule> {
    let value = present(root, "rotation")?;
    r.foreign(
        value,
        &[
            "partial",
            "share_key",
            "share",
            "scalings",
            "local_key",
            "local",
            "neighbours",
        ],
    );
    let scalings = match present(value, "scalings") {
        Some(_) => r.texts(value, "scalings"),
        None => Vec::new(),
    };
    let local = owned(value, "local_key", r);
    let local_default = real(value, "local", r);
    Some(RotationRule {
        partial: r.maybe_truth(value, "partial").unwrap_or(false),
        share_key: owned(value, "share_key", r),
        share: real(value, "share", r).unwrap_or(1.0),
        scalings,
        local: local.map(|key| (key, local_default.unwrap_or(crate::rope::DEFAULT_THETA))),
    })
}

fn no_rope(root: &Value, r: &mut Reader) -> NoRope {
    let Some(value) = present(root, "no_rope") else {
        return NoRope::Never;
    };
    if value.text() == Some("without_window") {
        return NoRope::WithoutWindow;
    }
    r.foreign(value, &["list", "interval", "default"]);
    let list = r.text(value, "list").map(|(text, _)| text.to_owned());
    let interval = r.text(value, "interval").map(|(text, _)| text.to_owned());
    NoRope::Listed {
        list: list.unwrap_or_default(),
        interval: interval.unwrap_or_default(),
        default: natural(value, "default", r).unwrap_or(1).max(1),
    }
}

fn activation_word(value: &Value, key: &str, r: &mut Reader) -> Option<Activation> {
    let (word, span) = r.text(value, key)?;
    let found = Activation::parse(word);
    if found.is_none() {
        let message = format!("no activation is called `{}`", shown(word));
        let help = format!(
            "activations are {}",
            Activation::ALL.map(Activation::name).join(", ")
        );
        r.push_with_help(codes::NAME, span, message, help);
    }
    found
}

fn activation(root: &Value, r: &mut Reader) -> Option<ActivationRule> {
    let value = present(root, "activation")?;
    r.foreign(value, &["keys", "default", "words"]);
    let default = activation_word(value, "default", r)?;
    let words = present(value, "words").unwrap_or(&Value::NULL);
    let mut all = Vec::new();
    for member in object(value, "words", r) {
        if let Some(own) = activation_word(words, &member.key, r) {
            all.push((member.key.clone(), own));
        }
    }
    Some(ActivationRule {
        keys: r.texts(value, "keys"),
        default,
        words: all,
    })
}

fn numbers(root: &Value, plan: &Plan, r: &mut Reader) -> Vec<Number> {
    let mut all = Vec::new();
    for member in object(root, "numbers", r) {
        let Some(attribute) = Attribute::parse(&member.key) else {
            let message = format!("no number of a model is called `{}`", shown(&member.key));
            let names: Vec<&str> = Attribute::all().map(Attribute::key).collect();
            let help = format!("numbers are {}", names.join(", "));
            r.push_with_help(codes::NAME, member.key_span, message, help);
            continue;
        };
        if !plan.nodes.iter().any(|node| node.reads(attribute)) {
            let message = format!("no step of the plan reads `{}`", attribute.key());
            r.push(codes::CONTRADICTION, member.key_span, message);
        }
        let value = &member.value;
        if value.members().is_none() {
            r.wrong(&member.key, value, "an object");
            continue;
        }
        r.foreign(
            value,
            &["key", "default", "of", "how", "words", "asked_by", "asked"],
        );
        let default = real(value, "default", r);
        let base = match (default, r.maybe_text(value, "of")) {
            (Some(value), None) => Base::Value(value),
            (None, Some(("hidden_size", _))) => Base::HiddenSize,
            (None, None) => Base::Neutral,
            (_, Some((_, span))) => {
                let help = "a number has a `default`, or is made `of` `hidden_size`";
                r.push_with_help(codes::NAME, span, "`of` cannot be read", help);
                Base::Neutral
            }
        };
        let how = match r.maybe_text(value, "how") {
            None => How::Same,
            Some((word, span)) => {
                let found = HOWS.iter().find(|(own, _)| *own == word);
                if found.is_none() {
                    let words: Vec<&str> = HOWS.iter().map(|(word, _)| *word).collect();
                    let message = format!("`how` is `{}`", shown(word));
                    r.push_with_help(
                        codes::NAME,
                        span,
                        message,
                        format!("expected {}", words.join(", ")),
                    );
                }
                found.map_or(How::Same, |(_, how)| *how)
            }
        };
        all.push(Number {
            attribute,
            key: owned(value, "key", r),
            value: base,
            how,
            words: maybe_texts(value, "words", r),
            asked_by: maybe_texts(value, "asked_by", r),
            asked: r.maybe_truth(value, "asked").unwrap_or(true),
        });
    }
    all
}

/// Returns the texts of an array, which may be absent.
fn maybe_texts(value: &Value, key: &str, r: &mut Reader) -> Vec<String> {
    match present(value, key) {
        Some(_) => r.texts(value, key),
        None => Vec::new(),
    }
}

fn refuses(root: &Value, r: &mut Reader) -> Vec<Refusal> {
    let mut all = Vec::new();
    for member in object(root, "refuses", r) {
        r.foreign(&member.value, &["unless", "reason"]);
        let reason = r.text(&member.value, "reason").map(|(text, _)| text);
        let unless = member.value.get("unless").and_then(Value::elements);
        all.push(Refusal {
            key: member.key.clone(),
            unless: unless.unwrap_or_default().to_vec(),
            reason: reason.unwrap_or_default().to_owned(),
        });
    }
    all
}

fn ignores(root: &Value, r: &mut Reader) -> Vec<String> {
    let value = present(root, "ignores").unwrap_or(&Value::NULL);
    let mut all = Vec::new();
    for member in object(root, "ignores", r) {
        all.extend(r.texts(value, &member.key));
    }
    all
}

fn gguf(root: &Value, r: &mut Reader) -> Option<GgufRules> {
    let value = present(root, "gguf")?;
    r.foreign(value, &["architecture", "neighbours", "factors", "shares"]);
    Some(GgufRules {
        architecture: r.text(value, "architecture")?.0.to_owned(),
        neighbours: r.maybe_truth(value, "neighbours").unwrap_or(false),
        factors: r.maybe_truth(value, "factors").unwrap_or(false),
        shares: r.maybe_truth(value, "shares").unwrap_or(false),
    })
}
