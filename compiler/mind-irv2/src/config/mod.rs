//! The hyperparameters of a model, checked.

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

/// How many elements a padded extent is a multiple of: 64 bytes of `f32`, whatever the dtype.
pub const ALIGNMENT: usize = 16;
/// The largest number that a single hyperparameter may be.
pub const MAX_EXTENT: usize = 1 << 24;
/// The most layers and heads that a model may have.
pub const MAX_COUNT: usize = 1 << 12;
/// The most elements that all weights, or the key-value cache, may have together.
pub const MAX_ELEMENTS: u64 = 1 << 44;

/// The extent that `n` elements take with their padding: the next multiple of `ALIGNMENT`.
pub const fn align(n: usize) -> usize {
    n.next_multiple_of(ALIGNMENT)
}

/// Which of the weights that a checkpoint may lack a model has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Biases(u64);

impl Biases {
    /// The most that a family may have.
    pub const MOST: usize = u64::BITS as usize;

    /// With the weight that is at `index` among those of its family.
    pub(crate) const fn with(self, index: usize) -> Biases {
        Biases(self.0 | 1 << index)
    }

    /// Whether the weight at `index` is one of them.
    pub(crate) const fn has(self, index: usize) -> bool {
        self.0 >> index & 1 == 1
    }

    /// Those of both.
    pub const fn and(self, other: Biases) -> Biases {
        Biases(self.0 & other.0)
    }
}

/// By which frequencies the heads of a layer turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turning {
    /// Those of the model.
    Usual,
    /// Those of layers with a window.
    Local,
    /// None.
    None,
}

impl Turning {
    /// How many there are.
    pub const COUNT: usize = 3;
    /// Each of them, in the order of their numbers.
    pub const ALL: [Turning; Turning::COUNT] = [Turning::Usual, Turning::Local, Turning::None];
}

/// How frequencies of rotary embeddings are stretched for contexts longer than those trained on.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "a description is `Copy`, with its factors"
)]
pub enum RopeScaling {
    /// Not at all.
    None,
    /// Every frequency is divided by `factor`.
    Linear {
        /// At least 1.
        factor: f64,
    },
    /// Low frequencies are divided, high ones stay, those between are blended, as in Llama 3.1.
    Llama3 {
        /// What low frequencies are divided by; at least 1.
        factor: f64,
        /// Wavelengths above `original_context / low_freq_factor` are divided.
        low_freq_factor: f64,
        /// Wavelengths below `original_context / high_freq_factor` stay.
        high_freq_factor: f64,
        /// The context that the model was trained on, in tokens.
        original_context: usize,
    },
    /// Frequencies fall as a sequence outgrows the model's context. No sequence does here, so they stay.
    Dynamic {
        /// At least 1.
        factor: f64,
    },
    /// Low frequencies are divided, high ones stay, those between are blended pair by pair, and rotated heads grow.
    Yarn(Yarn),
    /// Each frequency is divided by its factor, one for sequences within the original context or one for longer ones, and
    /// rotated heads grow.
    LongRope {
        /// The divisors for sequences within the original context.
        short: FrequencyFactors,
        /// Those for longer ones.
        long: FrequencyFactors,
        /// What cosines and sines are multiplied by.
        attention_factor: f64,
        /// The context that the model was trained on, in tokens.
        original_context: usize,
    },
}

/// The numbers of [`RopeScaling::Yarn`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Yarn {
    /// What low frequencies are divided by; at least 1.
    pub factor: f64,
    /// What cosines and sines are multiplied by.
    pub attention_factor: f64,
    /// Pairs that turn more often in the original context stay.
    pub beta_fast: f64,
    /// Pairs that turn less often in it are divided.
    pub beta_slow: f64,
    /// The context that the model was trained on, in tokens.
    pub original_context: usize,
    /// Whether the bounds of what is blended are whole pairs.
    pub truncate: bool,
}

impl RopeScaling {
    /// The word in `rope_type`.
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

    /// What cosines and sines are multiplied by.
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
    /// How frequencies are stretched.
    pub scaling: RopeScaling,
    /// What the frequency of each pair is divided by besides; one divisor a pair.
    pub factors: Option<FrequencyFactors>,
    /// How many leading elements of each head rotate; even, at most the head's.
    pub rotary_dims: usize,
}

/// What describes a model, unchecked; [`Config::new`] checks it.
///
/// Extents are true ones, without padding.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Parameters {
    /// The architecture.
    pub family: Family,
    /// Transformer layers.
    pub num_layers: usize,
    /// The width of the residual stream.
    pub hidden_size: usize,
    /// The width of the gated MLP.
    pub intermediate_size: usize,
    /// Query heads.
    pub num_attention_heads: usize,
    /// Key and value heads; divides the query heads.
    pub num_kv_heads: usize,
    /// Elements a head.
    pub head_dim: usize,
    /// Token ids, from 0.
    pub vocab_size: usize,
    /// The most positions that a run may have, in tokens.
    pub context_window: usize,
    /// What is added to the mean of squares in normalisation.
    pub rms_norm_eps: f64,
    /// Rotary embeddings; a learned table of positions, `pos_emb`, without.
    pub rope: Option<Rope>,
    /// Whether the language model's head is the table of embeddings.
    pub tie_word_embeddings: bool,
    /// Which of the weights that a checkpoint may lack there are: biases, mostly.
    pub biases: Biases,
    /// The experts of layers that have some.
    pub experts: Option<Experts>,
    /// The encoder in front of the decoder, of an encoder-decoder.
    pub encoder: Option<EncoderSizes>,
    /// What the MLP does to each element in between, where its plan asks.
    pub activation: Activation,
    /// Numbers that most models leave at what changes nothing.
    pub attributes: Attributes,
    /// The layers whose queries see a window alone.
    pub sliding_layers: Layers,
    /// The layers whose heads do not rotate.
    pub no_rope_layers: Layers,
}

/// Why parameters describe no model; keys are those of a document's `config`.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum ConfigError {
    /// A number outside of its range.
    #[error("`{key}` is {value}, expected {min} to {max}")]
    Range {
        /// The key.
        key: &'static str,
        /// Its value.
        value: usize,
        /// The least that is allowed.
        min: usize,
        /// The most that is allowed.
        max: usize,
    },
    /// A real number outside of its range.
    #[error("`{key}` is {value}, expected {expected}")]
    Real {
        /// The key.
        key: &'static str,
        /// Its value.
        value: f64,
        /// What it must be.
        expected: &'static str,
    },
    /// Query heads that key-value heads do not divide.
    #[error("`num_attention_heads` is {heads}, which `num_kv_heads` {kv_heads} does not divide")]
    Groups {
        /// Query heads.
        heads: usize,
        /// Key and value heads.
        kv_heads: usize,
    },
    /// Divisors for another number of pairs than a head has, or that are no positive numbers.
    #[error(
        "`{key}` has {found} divisors, expected {pairs} positive numbers, one for each rotated pair"
    )]
    Factors {
        /// The key.
        key: &'static str,
        /// How many divisors there are.
        found: usize,
        /// How many pairs of a head rotate.
        pairs: usize,
    },
    /// An activation that no step of the family reads.
    #[error("`hidden_act` is {activation:?}, which no step of the family reads")]
    Activation {
        /// The activation.
        activation: &'static str,
    },
    /// An odd number of elements to rotate in pairs.
    #[error("`{key}` is {value}, which must be even where heads are rotated")]
    Odd {
        /// The key.
        key: &'static str,
        /// Its value.
        value: usize,
    },
    /// Sizes that are fine alone and too large together.
    #[error("the {what} would have {elements} elements, more than the limit of {MAX_ELEMENTS}")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// How many elements it would have.
        elements: u128,
    },
}

impl ConfigError {
    /// The key of a document's `config` to blame; `None` if several are.
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

/// The checked description of a model, read through [`Deref`] to its [`Parameters`].
///
/// Every extent is at least 1, and every product of extents that describes a buffer fits in an `i64` of bytes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    parameters: Parameters,
    /// The layer that conditions are about; `None` for the whole model.
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
    /// Everything that is wrong with them, at least one.
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

    /// The same model, of which conditions hold that do in `layer`.
    pub const fn of_layer(&self, layer: usize) -> Config {
        Config {
            parameters: self.parameters,
            layer: Some(layer),
        }
    }

    /// The layer that conditions are about; `None` for the whole model, in which one holds that does in some layer.
    pub const fn layer(&self) -> Option<usize> {
        self.layer
    }

    /// Whether the MLP has a gate.
    pub fn has_gate(&self) -> bool {
        let mut nodes = self.family.all_nodes();
        let may_lack = nodes.any(|node| node.reads(Attribute::GatedAct));
        self.family.is_gated() && (!may_lack || self.attributes.get(Attribute::GatedAct) > 0.0)
    }

    /// Whether positions have a table of their own.
    pub fn has_positions(&self) -> bool {
        let mut nodes = self.family.all_nodes();
        self.rope.is_none() && nodes.any(|node| node.arg("pos").is_some())
    }

    /// The width of all query heads together.
    pub fn q_width(&self) -> usize {
        self.num_attention_heads * self.head_dim
    }

    /// The width of all key heads together, which is that of the values too.
    pub fn kv_width(&self) -> usize {
        self.num_kv_heads * self.head_dim
    }

    /// Whether `layer` has a buffer, or the model if it is of no layer.
    pub fn has_in(&self, buffer: &Buffer, layer: Option<usize>) -> bool {
        let is_among = layer.is_none_or(|layer| buffer.layers.has(self.has_experts(layer)));
        is_among && self.has(buffer)
    }

    /// Whether the model has a buffer: one that its checkpoint may lack is among its `biases`.
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

    /// Whether the weight `name` is one that a checkpoint may lack, and the model has it.
    pub fn has_bias(&self, name: &str) -> bool {
        let index = self.family.optional_index(name);
        index.is_some_and(|index| self.biases.has(index))
    }

    /// How the heads of `layer` turn.
    pub fn turning(&self, layer: usize) -> Turning {
        if self.no_rope_layers.has(layer) {
            Turning::None
        } else if self.sliding_layers.has(layer)
            && self.attributes.get(Attribute::LocalRopeTheta) > 0.0
        {
            Turning::Local
        } else {
            Turning::Usual
        }
    }

    /// How many positions a query of `layer` sees, itself included; `None` for all in front of it.
    pub fn window(&self, layer: usize) -> Option<usize> {
        let width = self.attributes.get(Attribute::SlidingWindow) as usize;
        (self.sliding_layers.has(layer) && width > 0).then_some(width)
    }

    /// The row of the table of positions that the first position has.
    pub fn first_position(&self) -> usize {
        self.position_offset() + self.position_start()
    }

    /// The positions of the context window in front of the first one that a token has; 0 where padding is no such token.
    pub fn position_offset(&self) -> usize {
        self.attributes.get(Attribute::PositionOffset) as usize
    }

    /// The rows of the table of positions that are beyond the context window, in front of all others.
    pub(crate) fn position_start(&self) -> usize {
        self.attributes.get(Attribute::PositionStart) as usize
    }

    /// The most tokens that a run may have: positions of the context window in front of the first one are of none.
    pub fn most_tokens(&self) -> usize {
        self.context_window.saturating_sub(self.position_offset())
    }

    /// The rows of the table of positions for the tokens of an encoder.
    ///
    /// Where `position_offset` is not 0, the token in front of that number is padding: it keeps its row, and counts for no
    /// position.
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

    /// The images that the model reads; `None` if it reads tokens.
    pub fn image(&self) -> Option<Image> {
        Image::of(self.family, &self.attributes)
    }

    /// The sound that the stack of layers reads; `None` if it reads something else.
    pub fn audio(&self) -> Option<Audio> {
        Audio::of(self)
    }

    /// How many query heads share a key-value head.
    pub fn group_size(&self) -> usize {
        self.num_attention_heads / self.num_kv_heads
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Qwen2-0.5B.
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
