//! Reads the `config.json` of Hugging Face.

use mind_diag::{Diagnostic, Diagnostics, Severity, Span};
use mind_json::{Limits, Value, locate};
use mind_weights::WeightType;

use super::reader::{
    CONTEXT, DTYPE, ENCODER_HEADS, ENCODER_INTERMEDIATE, ENCODER_LAYERS, EPS, HEAD_DIM, HEADS,
    HIDDEN, INTERMEDIATE, KV_HEADS, Key, LAYERS, Reader, SOURCE, VOCAB,
};
use crate::attributes::{Attribute, Layers};
use crate::codes;
use crate::config::{Biases, Parameters, Rope};
use crate::family::{Families, Family, NoRope, shared_keys};
use crate::image::Image;
use crate::rope::{contradiction, means_the_same};
use crate::stacks::EncoderSizes;

/// The contents of a configuration.
pub(super) struct RawHfConfig {
    /// The parameters of the model, with the defaults of its family.
    pub(super) parameters: Parameters,
    /// Whether the head size is given; otherwise it follows from other numbers.
    pub(super) head_dim: bool,
    /// Whether the number of key-value heads is given.
    pub(super) kv_heads: bool,
    /// Whether the output head is tied, if given.
    pub(super) tied: Option<bool>,
    /// The share of each head that rotates.
    pub(super) rotary_factor: f64,
    /// Whether the source is the header of a weight file instead of a `config.json`.
    pub(super) is_header: bool,
    /// The storage type of weights, if given.
    pub(super) dtype: Option<WeightType>,
    /// Warnings.
    pub(super) warnings: Diagnostics,
    /// The locations of hyperparameters, by their keys in documents.
    pub(super) places: Vec<(&'static str, Span)>,
}

/// The key that states whether the output head is the embedding table.
pub(super) const TIED: &str = "tie_word_embeddings";
/// The family of configurations and documents that name none.
const NAMELESS: &str = "llama";
/// The context of a configuration without a family and a context, as in the reference.
const NAMELESS_CONTEXT: usize = 2048;
/// The key of the names of classes, by their number.
const LABELS: &str = "id2label";
/// The key of the number of classes.
const CLASSES: &str = "num_labels";

impl RawHfConfig {
    /// Returns the location of the hyperparameter `key`.
    pub(super) fn span_of(&self, key: &str) -> Option<Span> {
        let place = self.places.iter().find(|(own, _)| *own == key);
        place.map(|(_, span)| *span)
    }
}

/// Reads the text of a `config.json`.
///
/// # Errors
///
/// See [`document`](super::document).
pub(super) fn read(text: &str, families: Families) -> Result<RawHfConfig, Diagnostics> {
    let root = mind_json::parse(text, &Limits::default()).map_err(|found| *found)?;
    let config = configuration(&root);
    let mut reader = Reader::new(config);
    let mut raw = reader.read_raw(families);
    if !std::ptr::eq(config, &root) {
        outer_tie(&root, &mut reader, raw.as_mut());
    }
    let mut found = reader.found;
    found.sort_by_place();
    let found = locate(&root, found);
    match raw {
        Some(mut raw) if !found.has_errors() => {
            raw.warnings = found;
            raw.places = reader.places;
            Ok(raw)
        }
        _ => Err(found),
    }
}

/// The family of the model that the text of a `config.json` describes; `None` if it is not supported.
pub(super) fn family(text: &str, families: Families) -> Option<Family> {
    let root = mind_json::parse(text, &Limits::default()).ok()?;
    Reader::new(configuration(&root)).family(families)
}

/// The configuration of the decoder: `text_config` of a model that also reads images or sound.
fn configuration(root: &Value) -> &Value {
    match root.get("text_config") {
        Some(nested) if !Reader::new(root).has(&HIDDEN) => nested,
        _ => root,
    }
}

/// Reads the tie key next to a nested configuration.
fn outer_tie<'v>(root: &'v Value, reader: &mut Reader<'v>, raw: Option<&mut RawHfConfig>) {
    let Some(outer) = root.get(TIED).filter(|value| !value.is_null()) else {
        return;
    };
    match reader.get(TIED) {
        Some(inner) if !means_the_same(inner, outer) => {
            let found = contradiction(("text_config.tie_word_embeddings", inner), (TIED, outer));
            reader.found.push(found);
        }
        Some(_) => {}
        None => {
            let mut own = Reader::new(root);
            let tied = own.truth(TIED);
            reader.found.append(own.found);
            if let Some(raw) = raw {
                raw.tied = tied;
                let has_head = !raw.parameters.family.is_encoder();
                raw.parameters.tie_word_embeddings = tied.unwrap_or(false) && has_head;
            }
        }
    }
}

impl<'v> Reader<'v> {
    fn read_raw(&mut self, families: Families) -> Option<RawHfConfig> {
        if self.config.members().is_none() {
            let message = format!(
                "a configuration is an object, found {}",
                self.config.describe()
            );
            self.push(codes::KIND, self.config.span, message);
            return None;
        }
        let family = self.family(families)?;
        self.family = Some(family);
        let rules = family.rules();
        self.known_keys(family);
        let (layers, hidden) = (self.layers(family), self.count(&HIDDEN));
        let (inner, heads) = (self.inner(family, hidden), self.count(&HEADS));
        let attributes = hidden.and_then(|hidden| self.attributes(family, hidden));
        let image = attributes.as_ref().and_then(|own| Image::of(family, own));
        let (vocab, context) = match image {
            Some(image) => (self.classes(), Some(image.positions())),
            None if self.get("model_type").is_none() && !self.is_given(&CONTEXT) => {
                (self.count(&VOCAB), Some(NAMELESS_CONTEXT))
            }
            None => (self.count(&VOCAB), self.count(&CONTEXT)),
        };
        let rope = self.rope(family, context);
        let eps = self.real(&EPS, rules.default_of("rms_norm_eps").unwrap_or(1e-6));
        let kv_heads = self.kv_heads(heads);
        let head_dim = self.maybe_count(&HEAD_DIM);
        let tied = self.truth(TIED);
        let biases = self.biases(family);
        let activation = self.activation(family);
        let dtype = self.dtype();
        let rope = rope?;
        let (hidden, heads, context) = (hidden?, heads?, context?);
        let window = self.window(family, context, layers?)?;
        let no_rope_layers = self.no_rope_layers(family, layers?, window.layers)?;
        let mut attributes = attributes?;
        attributes.set(Attribute::SlidingWindow, window.width as f64);
        if let Some(local) = rope.as_ref().and_then(|rope| rope.local) {
            attributes.set(Attribute::LocalRopeTheta, local);
        }
        let experts = self.experts(family, inner?, layers?)?;
        let width = head_dim.or(rules.default_of("head_dim").map(|width| width as usize));
        if width.is_none() && (heads == 0 || !hidden.is_multiple_of(heads)) {
            let span = self.place("num_attention_heads");
            let message =
                format!("`num_attention_heads` {heads} does not divide `hidden_size` {hidden}");
            self.push(codes::RANGE, span, message);
            return None;
        }
        let head_dim_or = width.unwrap_or_else(|| hidden / heads);
        let encoder = match family.encoder() {
            Some(_) => Some(self.encoder((layers?, inner?, heads, context), hidden, width)?),
            None => None,
        };
        Some(RawHfConfig {
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
                rope: rope.as_ref().map(|rope| Rope {
                    theta: rope.theta,
                    scaling: rope.scaling,
                    factors: None,
                    rotary_dims: rotary_dims(head_dim_or, rope.share),
                }),
                tie_word_embeddings: tied.unwrap_or(rules.tied) && !family.is_encoder(),
                biases,
                experts,
                encoder,
                activation: activation?,
                attributes,
                sliding_layers: window.layers,
                no_rope_layers,
            },
            head_dim: head_dim.is_some(),
            kv_heads: kv_heads?.1,
            tied,
            rotary_factor: rope.map_or(1.0, |rope| rope.share),
            is_header: false,
            dtype,
            warnings: Diagnostics::new(),
            places: Vec::new(),
        })
    }

    /// Returns the number of layers. The default for a decoder without one is the number of its encoder.
    fn layers(&mut self, family: Family) -> Option<usize> {
        let is_silent = !self.is_given(&LAYERS) && family.rules().default_of(LAYERS.ours).is_none();
        if family.encoder().is_some() && is_silent {
            return self.count(&ENCODER_LAYERS);
        }
        self.count(&LAYERS)
    }

    /// Returns the encoder of an encoder-decoder. Absent values default to those of the decoder.
    fn encoder(
        &mut self,
        (layers, inner, heads, context): (usize, usize, usize, usize),
        hidden: usize,
        head_dim: Option<usize>,
    ) -> Option<EncoderSizes> {
        let rules = self.family.map(Family::rules);
        let mut or = |key: &Key, of_decoder: usize| {
            if self.is_given(key) {
                return self.maybe_count(key);
            }
            let own = rules.and_then(|own| own.default_of(key.ours));
            Some(own.map_or(of_decoder, |own| own as usize))
        };
        let num_layers = or(&ENCODER_LAYERS, layers)?;
        let intermediate_size = or(&ENCODER_INTERMEDIATE, inner)?;
        let num_attention_heads = or(&ENCODER_HEADS, heads)?;
        let context_window = or(&SOURCE, context)?;
        let divided = hidden.checked_div(num_attention_heads);
        let head_dim = head_dim.or(divided.filter(|own| own * num_attention_heads == hidden));
        if head_dim.is_none() {
            let span = self.place("encoder_attention_heads");
            let message = format!(
                "`encoder_attention_heads` {num_attention_heads} does not divide `hidden_size` {hidden}"
            );
            self.push(codes::RANGE, span, message);
        }
        Some(EncoderSizes {
            num_layers,
            intermediate_size,
            num_attention_heads,
            head_dim: head_dim?,
            context_window,
        })
    }

    fn family(&mut self, families: Families) -> Option<Family> {
        let Some(value) = self.get("model_type") else {
            return self.nameless(families);
        };
        let family = value.text().and_then(|name| families.named(name));
        if family.is_none() {
            let message = format!(
                "`model_type` is {}, which is not supported",
                value.describe()
            );
            let help = format!("supported are {}", families.names());
            let found = Diagnostic::error(value.span, message);
            self.found.push(found.code(codes::UNSUPPORTED).help(help));
        }
        family
    }

    /// Returns the family of a configuration without `model_type`: `llama` if it has the keys that the description of
    /// IR v2 lists.
    fn nameless(&mut self, families: Families) -> Option<Family> {
        let keys = [&HIDDEN, &VOCAB, &HEADS, &INTERMEDIATE, &LAYERS];
        // The other keys must be known, because an unknown one may be a misspelt `model_type`.
        let mut members = self.config.members().unwrap_or_default().iter();
        let is_plain = members.all(|own| own.key != "architectures" && is_shared(&own.key));
        let is_plain = is_plain && keys.into_iter().all(|key| self.is_given(key));
        let Some(llama) = families.named(NAMELESS).filter(|_| is_plain) else {
            self.push(codes::MISSING, self.config.span, "`model_type` is missing");
            return None;
        };
        let mut message = format!("`model_type` is missing: the model is read as {NAMELESS}");
        if !self.is_given(&CONTEXT) {
            message += &format!(", with a context of {NAMELESS_CONTEXT} tokens");
        }
        let found = Diagnostic::new(Severity::Warning, self.config.span, message);
        let help = "add `model_type` and `max_position_embeddings`, which the published file has";
        self.found.push(found.code(codes::MISSING).help(help));
        Some(llama)
    }

    /// Returns the number of classes of images: that of the names in `id2label`, else `num_labels`, else 2.
    fn classes(&mut self) -> Option<usize> {
        let labels = match self.get(CLASSES) {
            Some(value) => Some((CLASSES, value, self.natural(CLASSES, value)?)),
            None => None,
        };
        let Some(value) = self.get(LABELS) else {
            return Some(labels.map_or(2, |(_, _, count)| count));
        };
        let Some(names) = value.members() else {
            let message = format!("`{LABELS}` is {}, expected an object", value.describe());
            self.push(codes::KIND, value.span, message);
            return None;
        };
        self.places.push(("vocab_size", value.span));
        if let Some((key, other, count)) = labels
            && count != names.len()
        {
            let found = contradiction((LABELS, value), (key, other));
            self.found.push(found);
        }
        Some(names.len())
    }

    /// Returns the width of the MLP.
    fn inner(&mut self, family: Family, hidden: Option<usize>) -> Option<usize> {
        match family.rules().mlp_ratio {
            Some(ratio) if !self.is_given(&INTERMEDIATE) => hidden?.checked_mul(ratio),
            Some(_) | None => self.count(&INTERMEDIATE),
        }
    }

    /// Returns the number of key-value heads, and whether it is given; `null` means the number of query heads.
    fn kv_heads(&mut self, heads: Option<usize>) -> Option<(usize, bool)> {
        if let Some((name, value)) = self.find(&KV_HEADS) {
            return Some((self.natural(name, value)?, true));
        }
        if self.has(&KV_HEADS) {
            Some((heads?, true))
        } else {
            let rules = self.family.map(Family::rules);
            let default = rules.and_then(|rules| rules.default_of("num_kv_heads"));
            Some((default.map(|own| own as usize).or(heads)?, false))
        }
    }

    /// Returns the optional weights that the model has.
    fn biases(&mut self, family: Family) -> Biases {
        let mut names: Vec<&str> = Vec::new();
        for rule in &family.rules().biases {
            let given = rule.key.as_deref().map(|key| self.truth(key));
            let has = given.is_none_or(|given| given.unwrap_or(rule.default));
            names.extend(rule.weights.iter().filter(|_| has).map(String::as_str));
        }
        family.biases(&names)
    }

    /// Returns the layers without rotation; `None` after an error.
    fn no_rope_layers(&mut self, family: Family, layers: usize, sliding: Layers) -> Option<Layers> {
        let (list, interval, default) = match &family.rules().no_rope {
            NoRope::Never => return Some(Layers::NONE),
            NoRope::WithoutWindow => {
                return Some(Layers::of((0..layers).filter(|&layer| !sliding.has(layer))));
            }
            NoRope::Listed {
                list,
                interval,
                default,
            } => (list, interval, *default),
        };
        let interval = match self.get(interval) {
            Some(value) => self.natural(interval, value)?.max(1),
            None => default,
        };
        let Some(value) = self.get(list) else {
            return Some(Layers::of(
                (0..layers).filter(|layer| (layer + 1).is_multiple_of(interval)),
            ));
        };
        let flags = value.elements().unwrap_or_default().iter();
        let flags: Option<Vec<i64>> = flags.map(Value::integer).collect();
        let Some(flags) = flags.filter(|own| own.len() == layers) else {
            let message = format!(
                "`{list}` is {}, expected 0 or 1 for each layer",
                value.describe()
            );
            self.push(codes::KIND, value.span, message);
            return None;
        };
        Some(Layers::of((0..layers).filter(|&layer| flags[layer] == 0)))
    }

    fn dtype(&mut self) -> Option<WeightType> {
        let (key, value) = self.find(&DTYPE)?;
        let word = value.text().map(|word| word.trim_start_matches("torch."));
        let dtype = word.and_then(WeightType::parse);
        if dtype.is_none() {
            self.unsupported(key, value, "weights are float32, float16 or bfloat16");
        }
        dtype
    }
}

fn is_shared(key: &str) -> bool {
    shared_keys().iter().any(|row| row.key == key)
}

/// Returns the number of rotated elements of a head.
pub(super) fn rotary_dims(head_dim: usize, factor: f64) -> usize {
    // Any factor is accepted here, because the check of the configuration validates the result.
    (head_dim as f64 * factor) as usize
}
