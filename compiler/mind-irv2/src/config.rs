//! The hyperparameters of a decoder model, checked.

use std::ops::Deref;

use thiserror::Error;

use crate::factors::FrequencyFactors;

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

/// The architecture that a model's hyperparameters and tensor names follow.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Family {
    /// Llama, and what shares its architecture: SmolLM2 among others.
    Llama,
    /// Qwen2 and Qwen2.5: q, k and v have biases.
    Qwen2,
    /// Mistral without a sliding window.
    Mistral,
    /// Qwen3: q and k are normalised per head.
    Qwen3,
    /// Phi-3: q, k, v and gate, up are fused in the checkpoint.
    Phi3,
}

impl Family {
    /// Every family.
    pub const ALL: [Family; 5] = [
        Family::Llama,
        Family::Qwen2,
        Family::Mistral,
        Family::Qwen3,
        Family::Phi3,
    ];

    /// The word for it in `model_type` and in `meta.family`.
    pub const fn name(self) -> &'static str {
        match self {
            Family::Llama => "llama",
            Family::Qwen2 => "qwen2",
            Family::Mistral => "mistral",
            Family::Qwen3 => "qwen3",
            Family::Phi3 => "phi3",
        }
    }

    /// Whether its checkpoints keep q, k and v in one matrix.
    pub const fn is_fused(self) -> bool {
        matches!(self, Family::Phi3)
    }

    /// The family called `name`.
    pub fn parse(name: &str) -> Option<Family> {
        Family::ALL.into_iter().find(|family| family.name() == name)
    }
}

/// Which projections add a bias.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Biases {
    /// The query projection, buffer `bq`.
    pub q: bool,
    /// The key projection, buffer `bk`.
    pub k: bool,
    /// The value projection, buffer `bv`.
    pub v: bool,
    /// The projection behind attention, buffer `bo`.
    pub o: bool,
    /// Gate and up projections, buffer `b1`.
    pub gate_up: bool,
    /// The down projection, buffer `b2`.
    pub down: bool,
}

/// How frequencies of rotary embeddings are stretched for contexts longer than those trained on.
#[derive(Clone, Copy, PartialEq, Debug)]
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
    /// Which projections add a bias.
    pub biases: Biases,
    /// Whether q and k are normalised per head, in front of the rotation.
    pub qk_norm: bool,
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
        "`rope_factors` has {found} divisors, expected {pairs} positive numbers, one for each rotated pair"
    )]
    Factors {
        /// How many divisors there are.
        found: usize,
        /// How many pairs of a head rotate.
        pairs: usize,
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
            | ConfigError::Odd { key, .. } => Some(key),
            ConfigError::Groups { .. } => Some("num_attention_heads"),
            ConfigError::Factors { .. } => Some("rope_factors"),
            ConfigError::TooLarge { .. } => None,
        }
    }
}

/// The checked description of a model, read through [`Deref`] to its [`Parameters`].
///
/// Every extent is at least 1, and every product of extents that describes a buffer fits in an `i64` of bytes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config(Parameters);

impl Deref for Config {
    type Target = Parameters;

    fn deref(&self) -> &Parameters {
        &self.0
    }
}

impl Config {
    /// Checks `parameters`.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with them, at least one.
    pub fn new(parameters: Parameters) -> Result<Config, Vec<ConfigError>> {
        let mut errors = Vec::new();
        check_extents(&parameters, &mut errors);
        check_reals(&parameters, &mut errors);
        if errors.is_empty() {
            check_sizes(&parameters, &mut errors);
        }
        if errors.is_empty() {
            Ok(Config(parameters))
        } else {
            Err(errors)
        }
    }

    /// The width of all query heads together.
    pub fn q_width(&self) -> usize {
        self.num_attention_heads * self.head_dim
    }

    /// The width of all key heads together, which is that of the values too.
    pub fn kv_width(&self) -> usize {
        self.num_kv_heads * self.head_dim
    }

    /// How many query heads share a key-value head.
    pub fn group_size(&self) -> usize {
        self.num_attention_heads / self.num_kv_heads
    }
}

fn check_extents(p: &Parameters, errors: &mut Vec<ConfigError>) {
    let rows = [
        ("num_layers", p.num_layers, MAX_COUNT),
        ("hidden_size", p.hidden_size, MAX_EXTENT),
        ("intermediate_size", p.intermediate_size, MAX_EXTENT),
        ("num_attention_heads", p.num_attention_heads, MAX_COUNT),
        ("num_kv_heads", p.num_kv_heads, MAX_COUNT),
        ("head_dim", p.head_dim, MAX_EXTENT),
        ("vocab_size", p.vocab_size, MAX_EXTENT),
        ("context_window", p.context_window, MAX_EXTENT),
    ];
    let wrong = rows
        .into_iter()
        .filter(|&(_, value, max)| value == 0 || value > max);
    errors.extend(wrong.map(|(key, value, max)| ConfigError::Range {
        key,
        value,
        min: 1,
        max,
    }));
    let (heads, kv_heads) = (p.num_attention_heads, p.num_kv_heads);
    if kv_heads > 0 && !heads.is_multiple_of(kv_heads) {
        errors.push(ConfigError::Groups { heads, kv_heads });
    }
    let Some(rope) = &p.rope else { return };
    if !p.head_dim.is_multiple_of(2) {
        let value = p.head_dim;
        let key = "head_dim";
        errors.push(ConfigError::Odd { key, value });
        return;
    }
    let (key, value) = ("partial_rotary_factor", rope.rotary_dims);
    if value == 0 || value > p.head_dim {
        let (min, max) = (2, p.head_dim);
        errors.push(ConfigError::Range {
            key,
            value,
            min,
            max,
        });
    } else if !value.is_multiple_of(2) {
        errors.push(ConfigError::Odd { key, value });
    }
}

fn check_reals(p: &Parameters, errors: &mut Vec<ConfigError>) {
    let mut real = |key, value: f64, fine: bool, expected| {
        if !fine {
            errors.push(ConfigError::Real {
                key,
                value,
                expected,
            });
        }
    };
    let eps = p.rms_norm_eps;
    let fine = eps > 0.0 && eps < 1.0;
    real("rms_norm_eps", eps, fine, "a number between 0 and 1");
    let Some(rope) = &p.rope else { return };
    let positive = |value: f64| value > 0.0 && value < 1e30;
    let theta = rope.theta;
    real("rope_theta", theta, positive(theta), "a positive number");
    check_scaling(rope.scaling, &mut real);
    let pairs = rope.rotary_dims / 2;
    if let Some(factors) = rope
        .factors
        .filter(|own| own.as_slice().len() != pairs || !own.are_positive())
    {
        let found = factors.as_slice().len();
        errors.push(ConfigError::Factors { found, pairs });
    }
}

fn check_scaling(
    scaling: RopeScaling,
    real: &mut impl FnMut(&'static str, f64, bool, &'static str),
) {
    let positive = |value: f64| value > 0.0 && value < 1e30;
    let key = "rope_scaling";
    let stretch = |factor: f64| (1.0..1e30).contains(&factor);
    match scaling {
        RopeScaling::None => {}
        RopeScaling::Linear { factor } => {
            real(key, factor, stretch(factor), "a factor of at least 1");
        }
        RopeScaling::Llama3 {
            factor,
            low_freq_factor: low,
            high_freq_factor: high,
            original_context,
        } => {
            real(key, factor, stretch(factor), "a factor of at least 1");
            real(key, low, positive(low), "a positive low_freq_factor");
            let fine = positive(high) && high > low;
            real(key, high, fine, "a high_freq_factor above low_freq_factor");
            let context = original_context as f64;
            let fine = (1..=MAX_EXTENT).contains(&original_context);
            real(key, context, fine, "a positive original context");
        }
    }
}

/// Sizes with their padding. Each factor is at most 2^24 and each term has at most four, so nothing overflows.
fn check_sizes(p: &Parameters, errors: &mut Vec<ConfigError>) {
    let wide = |n: usize| n as u128;
    let embed = wide(align(p.hidden_size));
    let head = wide(align(p.head_dim));
    let inner = wide(align(p.intermediate_size));
    let heads = wide(p.num_attention_heads) + wide(p.num_kv_heads);
    let layer = 2 * heads * head * embed + 3 * inner * embed;
    let tables = 2 * wide(p.vocab_size) * embed;
    let weights = wide(p.num_layers) * layer + tables;
    let context = wide(align(p.context_window));
    let cache = 2 * wide(p.num_layers) * wide(p.num_kv_heads) * context * head;
    let widest = embed.max(2 * inner).max(wide(p.vocab_size));
    let widest = widest.max(wide(p.num_attention_heads) * head);
    let parts = [
        ("weights", weights),
        ("key-value cache", cache),
        ("widest activation", context * widest),
    ];
    let large = parts
        .into_iter()
        .filter(|&(_, elements)| elements > u128::from(MAX_ELEMENTS));
    errors.extend(large.map(|(what, elements)| ConfigError::TooLarge { what, elements }));
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Qwen2-0.5B.
    pub(crate) fn qwen2() -> Parameters {
        Parameters {
            family: Family::Qwen2,
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
            biases: Biases {
                q: true,
                k: true,
                v: true,
                ..Biases::default()
            },
            qk_norm: false,
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
        for family in Family::ALL {
            assert_eq!(Family::parse(family.name()), Some(family));
        }
        assert_eq!(Family::parse("gpt2"), None);
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
