//! Checked hyperparameters of a model.

mod check;

use std::ops::Deref;

use thiserror::Error;

use crate::attributes::{Activation, Attribute, Attributes, Layers};
use crate::audio::Audio;
use crate::experts::Experts;
use crate::factors::FrequencyFactors;
use crate::family::Family;
use crate::image::Image;
use crate::layout::buffers::Buffer;
use crate::stacks::EncoderSizes;

/// The number of elements to whose multiples extents are padded: 64 bytes of `f32`, for all dtypes.
pub const ALIGNMENT: usize = 16;
/// The largest value of a hyperparameter.
pub const MAX_EXTENT: usize = 1 << 24;
/// The most layers and heads that a model may have.
pub const MAX_COUNT: usize = 1 << 12;
/// The most elements of all weights together, and of the KV cache.
pub const MAX_ELEMENTS: u64 = 1 << 44;

/// Returns the padded extent of `n` elements: the next multiple of `ALIGNMENT`.
pub const fn align(n: usize) -> usize {
    n.next_multiple_of(ALIGNMENT)
}

/// The subset of a family's optional weights, mostly biases, that a model has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Biases(u64);

impl Biases {
    /// The most optional weights of a family.
    pub const MOST: usize = u64::BITS as usize;

    /// Adds the weight at `index` among the optional weights of its family.
    pub(crate) const fn with(self, index: usize) -> Biases {
        Biases(self.0 | 1 << index)
    }

    /// Returns whether the weight at `index` is in the set.
    pub(crate) const fn has(self, index: usize) -> bool {
        self.0 >> index & 1 == 1
    }

    /// Returns the intersection.
    pub const fn and(self, other: Biases) -> Biases {
        Biases(self.0 & other.0)
    }
}

/// The rotary frequencies that a layer uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RotaryStyle {
    /// The frequencies of the model.
    Global,
    /// The frequencies of sliding-window layers.
    Local,
    /// No rotation.
    None,
}

impl RotaryStyle {
    /// The number of variants.
    pub const COUNT: usize = 3;
    /// All variants, in order of their discriminants.
    pub const ALL: [RotaryStyle; RotaryStyle::COUNT] =
        [RotaryStyle::Global, RotaryStyle::Local, RotaryStyle::None];
}

/// The scaling of rotary frequencies for contexts longer than those of training.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "a description is `Copy`, with its factors"
)]
pub enum RopeScaling {
    /// No scaling.
    None,
    /// Every frequency is divided by `factor`.
    Linear {
        /// At least 1.
        factor: f64,
    },
    /// Low frequencies are divided, high ones are kept, and those between are interpolated, as in Llama 3.1.
    Llama3 {
        /// The divisor of low frequencies; at least 1.
        factor: f64,
        /// Wavelengths above `original_context / low_freq_factor` are divided.
        low_freq_factor: f64,
        /// Wavelengths below `original_context / high_freq_factor` are kept.
        high_freq_factor: f64,
        /// The context that the model was trained on, in tokens.
        original_context: usize,
    },
    /// Frequencies decrease when a sequence exceeds the model's context. Sequences never do here, so frequencies are
    /// kept.
    Dynamic {
        /// At least 1.
        factor: f64,
    },
    /// Low frequencies are divided, high ones are kept, those between are interpolated pair by pair, and cosines and
    /// sines are scaled.
    Yarn(Yarn),
    /// Each frequency is divided by a factor of its pair, which depends on whether the sequence exceeds the original
    /// context. Cosines and sines are scaled.
    LongRope {
        /// The divisors for sequences within the original context.
        short: FrequencyFactors,
        /// The divisors for longer sequences.
        long: FrequencyFactors,
        /// The factor of cosines and sines.
        attention_factor: f64,
        /// The context that the model was trained on, in tokens.
        original_context: usize,
    },
}

/// The parameters of [`RopeScaling::Yarn`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Yarn {
    /// The divisor of low frequencies; at least 1.
    pub factor: f64,
    /// The factor of cosines and sines.
    pub attention_factor: f64,
    /// Pairs with more rotations in the original context are kept.
    pub beta_fast: f64,
    /// Pairs with fewer rotations in the original context are divided.
    pub beta_slow: f64,
    /// The context that the model was trained on, in tokens.
    pub original_context: usize,
    /// Whether the bounds of the interpolated range are rounded to whole pairs.
    pub truncate: bool,
}

impl RopeScaling {
    /// Returns its word in `rope_type`.
    pub const fn name(self) -> &'static str {
        match self {
            RopeScaling::None => "default",
            RopeScaling::Linear { .. } => "linear",
            RopeScaling::Llama3 { .. } => "llama3",
            RopeScaling::Dynamic { .. } => "dynamic",
            RopeScaling::Yarn(_) => "yarn",
            RopeScaling::LongRope { .. } => "longrope",
        }
    }

    /// Returns the factor of cosines and sines.
    pub const fn attention_factor(self) -> f64 {
        match self {
            RopeScaling::None
            | RopeScaling::Linear { .. }
            | RopeScaling::Llama3 { .. }
            | RopeScaling::Dynamic { .. } => 1.0,
            RopeScaling::Yarn(Yarn {
                attention_factor, ..
            })
            | RopeScaling::LongRope {
                attention_factor, ..
            } => attention_factor,
        }
    }
}

/// Rotary position embeddings.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rope {
    /// The base of the frequencies, greater than 0.
    pub theta: f64,
    /// The scaling of the frequencies.
    pub scaling: RopeScaling,
    /// Further divisors of the frequencies, one for each pair.
    pub factors: Option<FrequencyFactors>,
    /// The number of leading elements of each head that rotate; even, and at most the size of a head.
    pub rotary_dims: usize,
}

/// The unchecked description of a model; [`Config::new`] checks it.
///
/// Extents do not include padding.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Parameters {
    /// The architecture.
    pub family: Family,
    /// The number of transformer layers.
    pub num_layers: usize,
    /// The width of the residual stream.
    pub hidden_size: usize,
    /// The width of the MLP.
    pub intermediate_size: usize,
    /// The number of query heads.
    pub num_attention_heads: usize,
    /// The number of key and value heads; divides that of query heads.
    pub num_kv_heads: usize,
    /// The elements of a head.
    pub head_dim: usize,
    /// The number of token ids, or of classes for images.
    pub vocab_size: usize,
    /// The most positions of a sequence, in tokens.
    pub context_window: usize,
    /// The epsilon of normalisations, which is added to the mean of squares or the variance.
    pub rms_norm_eps: f64,
    /// Rotary embeddings, if the model has them.
    pub rope: Option<Rope>,
    /// Whether the output head of the language model is the embedding table.
    pub tie_word_embeddings: bool,
    /// The optional weights that the model has, mostly biases.
    pub biases: Biases,
    /// The experts, in layers that have them.
    pub experts: Option<Experts>,
    /// The encoder of an encoder-decoder.
    pub encoder: Option<EncoderSizes>,
    /// The activation function of the MLP, if the plan reads it.
    pub activation: Activation,
    /// Hyperparameters that most models leave at their neutral value.
    pub attributes: Attributes,
    /// The layers with sliding-window attention.
    pub sliding_layers: Layers,
    /// The layers without rotation.
    pub no_rope_layers: Layers,
}

/// The reason why parameters do not describe a model. Keys are those of the `config` of a document.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum ConfigError {
    /// An integer out of its range.
    #[error("`{key}` is {value}, expected {min} to {max}")]
    Range {
        /// The key.
        key: &'static str,
        /// Its value.
        value: usize,
        /// The least valid value.
        min: usize,
        /// The largest valid value.
        max: usize,
    },
    /// A real number out of its range.
    #[error("`{key}` is {value}, expected {expected}")]
    Real {
        /// The key.
        key: &'static str,
        /// Its value.
        value: f64,
        /// The expected values.
        expected: &'static str,
    },
    /// The number of query heads is not a multiple of that of key-value heads.
    #[error("`num_attention_heads` is {heads}, which `num_kv_heads` {kv_heads} does not divide")]
    Groups {
        /// The number of query heads.
        heads: usize,
        /// The number of key and value heads.
        kv_heads: usize,
    },
    /// Frequency divisors that are not positive, or not one for each pair of a head.
    #[error(
        "`{key}` has {found} divisors, expected {pairs} positive numbers, one for each rotated pair"
    )]
    Factors {
        /// The key.
        key: &'static str,
        /// The number of divisors.
        found: usize,
        /// The number of rotated pairs of a head.
        pairs: usize,
    },
    /// An activation that no step of the family reads.
    #[error("`hidden_act` is {activation:?}, which no step of the family reads")]
    Activation {
        /// The activation.
        activation: &'static str,
    },
    /// An odd number of elements to be rotated in pairs.
    #[error("`{key}` is {value}, which must be even where heads are rotated")]
    Odd {
        /// The key.
        key: &'static str,
        /// Its value.
        value: usize,
    },
    /// A total size that is too large.
    #[error("the {what} would have {elements} elements, more than the limit of {MAX_ELEMENTS}")]
    TooLarge {
        /// The name of the data.
        what: &'static str,
        /// The number of its elements.
        elements: u128,
    },
}

impl ConfigError {
    /// Returns the key of the document's `config` to report; `None` if several keys are involved.
    pub fn key(&self) -> Option<&'static str> {
        match self {
            ConfigError::Range { key, .. }
            | ConfigError::Real { key, .. }
            | ConfigError::Factors { key, .. }
            | ConfigError::Odd { key, .. } => Some(key),
            ConfigError::Groups { .. } => Some("num_attention_heads"),
            ConfigError::Activation { .. } => Some("hidden_act"),
            ConfigError::TooLarge { .. } => None,
        }
    }
}

/// The checked description of a model. Its [`Parameters`] are accessed through [`Deref`].
///
/// Every extent is at least 1, and the bytes of every buffer fit in an `i64`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    parameters: Parameters,
    /// The layer for which conditions are evaluated; `None` for the whole model.
    layer: Option<usize>,
}

impl Deref for Config {
    type Target = Parameters;

    fn deref(&self) -> &Parameters {
        &self.parameters
    }
}

impl Config {
    /// Checks `parameters`.
    ///
    /// # Errors
    ///
    /// Returns all errors found.
    pub fn new(parameters: Parameters) -> Result<Config, Vec<ConfigError>> {
        let errors = check::check(&parameters);
        if errors.is_empty() {
            Ok(Config::of(parameters))
        } else {
            Err(errors)
        }
    }

    pub(crate) const fn of(parameters: Parameters) -> Config {
        Config {
            parameters,
            layer: None,
        }
    }

    /// Returns the same model, with conditions evaluated for `layer`.
    pub const fn of_layer(&self, layer: usize) -> Config {
        Config {
            parameters: self.parameters,
            layer: Some(layer),
        }
    }

    /// Returns the layer for which conditions are evaluated. If it is `None`, a condition holds if it holds for any
    /// layer.
    pub const fn layer(&self) -> Option<usize> {
        self.layer
    }

    /// Returns whether the MLP has a gate.
    pub fn has_gate(&self) -> bool {
        let mut nodes = self.family.all_nodes();
        let may_lack = nodes.any(|node| node.reads(Attribute::GatedAct));
        self.family.is_gated() && (!may_lack || self.attributes.get(Attribute::GatedAct) > 0.0)
    }

    /// Returns whether the model has a table of positions.
    pub fn has_positions(&self) -> bool {
        let mut nodes = self.family.all_nodes();
        self.rope.is_none() && nodes.any(|node| node.arg("pos").is_some())
    }

    /// Returns the width of all query heads together.
    pub fn q_width(&self) -> usize {
        self.num_attention_heads * self.head_dim
    }

    /// Returns the width of all key heads together, which equals that of the value heads.
    pub fn kv_width(&self) -> usize {
        self.num_kv_heads * self.head_dim
    }

    /// Returns whether `layer` has a buffer, or the model if `layer` is `None`.
    pub fn has_in(&self, buffer: &Buffer, layer: Option<usize>) -> bool {
        let is_among = layer.is_none_or(|layer| buffer.layers.has(self.has_experts(layer)));
        is_among && self.has(buffer)
    }

    /// Returns whether the model has a buffer. An optional weight must be among its `biases`.
    pub fn has(&self, buffer: &Buffer) -> bool {
        buffer.exists(self) && (!buffer.optional || self.has_bias(&buffer.name))
    }

    /// The weights of the model that no step of its plan reads, but for those that the plan declares unused.
    pub fn unread_weights(&self) -> impl Iterator<Item = &'static str> {
        let is_read = |name: &str| {
            let mut args = self.family.all_nodes().flat_map(|node| &node.args);
            args.any(|arg| arg.buffer == name)
        };
        let weights = self.family.buffers().iter();
        let weights = weights.filter(|own| !own.parts().is_empty() && self.has(own));
        let unread = weights.filter(move |own| !is_read(&own.name));
        unread.map(|own| own.name.as_str())
    }

    /// Returns whether `name` is an optional weight that the model has.
    pub fn has_bias(&self, name: &str) -> bool {
        let index = self.family.optional_index(name);
        index.is_some_and(|index| self.biases.has(index))
    }

    /// Returns the rotary frequencies that `layer` uses.
    pub fn rotary_style(&self, layer: usize) -> RotaryStyle {
        if self.no_rope_layers.has(layer) {
            RotaryStyle::None
        } else if self.sliding_layers.has(layer)
            && self.attributes.get(Attribute::LocalRopeTheta) > 0.0
        {
            RotaryStyle::Local
        } else {
            RotaryStyle::Global
        }
    }

    /// Returns the number of positions that a query of `layer` sees, including its own; `None` if it has no window.
    pub fn window(&self, layer: usize) -> Option<usize> {
        let width = self.attributes.get(Attribute::SlidingWindow) as usize;
        (self.sliding_layers.has(layer) && width > 0).then_some(width)
    }

    /// Returns the row of the position table for the first position.
    pub fn first_position(&self) -> usize {
        self.position_offset() + self.position_start()
    }

    /// Returns the number of positions before that of the first token; 0 if the model has no padding token.
    pub fn position_offset(&self) -> usize {
        self.attributes.get(Attribute::PositionOffset) as usize
    }

    /// Returns the number of unused rows at the start of the position table, which are not part of the context window.
    pub(crate) fn position_start(&self) -> usize {
        self.attributes.get(Attribute::PositionStart) as usize
    }

    /// Returns the most tokens of a sequence, which excludes the positions before that of the first token.
    pub fn most_tokens(&self) -> usize {
        self.context_window.saturating_sub(self.position_offset())
    }

    /// Returns the rows of the position table for the tokens of an encoder.
    ///
    /// If `position_offset` is not 0, the token with the id one less is padding: it takes the row before that of the
    /// first position, and is not counted as a position.
    pub fn position_rows(&self, tokens: &[u32]) -> Vec<usize> {
        let (offset, first) = (self.position_offset(), self.first_position());
        let mut next = first;
        let row = |&token: &u32| {
            if offset > 0 && token as usize == offset - 1 {
                return first - 1;
            }
            next += 1;
            next - 1
        };
        tokens.iter().map(row).collect()
    }

    /// Returns the images that the model reads; `None` if it reads tokens.
    pub fn image(&self) -> Option<Image> {
        Image::of(self.family, &self.attributes)
    }

    /// Returns the audio that the stack of layers reads; `None` if it does not read audio.
    pub fn audio(&self) -> Option<Audio> {
        Audio::of(self)
    }

    /// Returns the number of query heads that share a key-value head.
    pub fn group_size(&self) -> usize {
        self.num_attention_heads / self.num_kv_heads
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns the parameters of Qwen2-0.5B.
    pub(crate) fn qwen2() -> Parameters {
        let qwen2 = Family::named("qwen2").unwrap();
        Parameters {
            family: qwen2,
            num_layers: 24,
            hidden_size: 896,
            intermediate_size: 4864,
            num_attention_heads: 14,
            num_kv_heads: 2,
            head_dim: 64,
            vocab_size: 151_936,
            context_window: 131_072,
            rms_norm_eps: 1e-6,
            rope: Some(Rope {
                theta: 1e6,
                scaling: RopeScaling::None,
                factors: None,
                rotary_dims: 64,
            }),
            tie_word_embeddings: true,
            biases: qwen2.biases(&["bq", "bk", "bv"]),
            experts: None,
            encoder: None,
            activation: Activation::Silu,
            attributes: Attributes::default(),
            sliding_layers: Layers::NONE,
            no_rope_layers: Layers::NONE,
        }
    }

    fn errors(change: impl FnOnce(&mut Parameters)) -> Vec<String> {
        let mut parameters = qwen2();
        change(&mut parameters);
        let found = Config::new(parameters).map(|_| ()).unwrap_err();
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_model_is_read_through_its_check() {
        let config = Config::new(qwen2()).unwrap();
        assert_eq!(
            (config.q_width(), config.kv_width(), config.group_size()),
            (896, 128, 7)
        );
    }

    #[test]
    fn padding_is_to_sixteen_elements() {
        assert_eq!([1, 15, 16, 17, 896].map(align), [16, 16, 16, 32, 896]);
    }

    #[test]
    fn families_read_back() {
        for &family in Family::shipped() {
            assert_eq!(Family::named(family.name()), Some(family));
        }
        assert_eq!(Family::named("perceiver"), None);
    }

    #[test]
    fn errors_name_key_and_value() {
        assert_eq!(
            errors(|p| (p.num_layers, p.hidden_size) = (0, MAX_EXTENT + 1)),
            [
                "`num_layers` is 0, expected 1 to 4096",
                "`hidden_size` is 16777217, expected 1 to 16777216"
            ]
        );
        assert_eq!(
            errors(|p| p.num_kv_heads = 4),
            ["`num_attention_heads` is 14, which `num_kv_heads` 4 does not divide"]
        );
        assert_eq!(
            errors(|p| p.head_dim = 63),
            ["`head_dim` is 63, which must be even where heads are rotated"]
        );
        assert_eq!(
            errors(|p| p.rms_norm_eps = f64::NAN),
            ["`rms_norm_eps` is NaN, expected a number between 0 and 1"]
        );
        assert_eq!(
            errors(|p| p.rope.as_mut().unwrap().theta = 0.0),
            ["`rope_theta` is 0, expected a positive number"]
        );
    }

    #[test]
    fn sizes_that_are_fine_alone_may_be_too_large_together() {
        let found = errors(|p| (p.hidden_size, p.intermediate_size) = (MAX_EXTENT, MAX_EXTENT));
        assert!(found[0].contains("the weights would have"), "{found:?}");
    }
}
