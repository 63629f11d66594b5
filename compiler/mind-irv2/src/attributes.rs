//! Optional hyperparameters with neutral defaults.

/// A hyperparameter that kernels read from the `config` of a document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attribute {
    /// The factor of token embeddings.
    EmbeddingScale,
    /// The factor of each term that is added to the residual stream.
    ResidualScale,
    /// The factor of attention scores; 0 for `1 / sqrt(head_dim)`.
    AttentionScale,
    /// `c` of the softcap `c tanh(score / c)`; 0 for none.
    AttnLogitSoftcap,
    /// The factor of logits.
    LogitScale,
    /// `c` of the softcap `c tanh(logit / c)`; 0 for none.
    FinalLogitSoftcap,
    /// The offset that is added to the gains of normalisations.
    GammaOffset,
    /// The number of positions that a query of `sliding_layers` sees, including its own; 0 for all.
    SlidingWindow,
    /// The rotary base in `sliding_layers`; 0 for that of the other layers.
    LocalRopeTheta,
    /// 1 if the MLP reads the input of the layer in parallel with attention, 0 if it reads the output of attention.
    ParallelResidual,
    /// The position of the first token. If it is not 0, the token with the id one less is padding, as in RoBERTa.
    PositionOffset,
    /// Unused rows at the start of the position table, before that of the first position.
    PositionStart,
    /// Rows of the token type table.
    TypeVocabSize,
    /// Relative position buckets, each of which adds a bias to the scores of each head.
    RelativeBuckets,
    /// The distance from which on all distances are in the last bucket.
    RelativeDistance,
    /// 1 if the MLP has a gate.
    GatedAct,
    /// Height and width of an image in pixels.
    ImageSize,
    /// Height and width in pixels of a patch of an image. Each patch is a position.
    PatchSize,
    /// Channels of a pixel.
    NumChannels,
    /// Mel bins of an audio frame.
    MelBins,
}

/// The properties of an attribute.
struct AttributeInfo {
    attribute: Attribute,
    key: &'static str,
    /// The value without effect, which documents omit.
    neutral: f64,
    is_valid: fn(f64) -> bool,
    expected: &'static str,
}

fn is_scale(value: f64) -> bool {
    value != 0.0 && value.abs() < 1e30
}

fn is_at_least_zero(value: f64) -> bool {
    (0.0..1e30).contains(&value)
}

fn is_count(value: f64) -> bool {
    (0.0..=crate::config::MAX_EXTENT as f64).contains(&value) && value.fract() == 0.0
}

fn is_truth(value: f64) -> bool {
    value == 0.0 || value == 1.0
}

const fn row(
    attribute: Attribute,
    key: &'static str,
    neutral: f64,
    (is_valid, expected): (fn(f64) -> bool, &'static str),
) -> AttributeInfo {
    AttributeInfo {
        attribute,
        key,
        neutral,
        is_valid,
        expected,
    }
}

const SCALE: (fn(f64) -> bool, &str) = (is_scale, "a number other than 0");
const AT_LEAST_ZERO: (fn(f64) -> bool, &str) = (is_at_least_zero, "a number from 0");
const TRUTH: (fn(f64) -> bool, &str) = (is_truth, "0 or 1");
const COUNT: (fn(f64) -> bool, &str) = (is_count, "a whole number from 0");

/// Every attribute, in declaration order.
#[rustfmt::skip]
const ROWS: [AttributeInfo; 20] = [
    row(Attribute::EmbeddingScale, "embedding_scale", 1.0, SCALE),
    row(Attribute::ResidualScale, "residual_scale", 1.0, SCALE),
    row(Attribute::AttentionScale, "attention_scale", 0.0, AT_LEAST_ZERO),
    row(Attribute::AttnLogitSoftcap, "attn_logit_softcap", 0.0, AT_LEAST_ZERO),
    row(Attribute::LogitScale, "logit_scale", 1.0, SCALE),
    row(Attribute::FinalLogitSoftcap, "final_logit_softcap", 0.0, AT_LEAST_ZERO),
    row(Attribute::GammaOffset, "gamma_offset", 0.0, AT_LEAST_ZERO),
    row(Attribute::SlidingWindow, "sliding_window", 0.0, COUNT),
    row(Attribute::LocalRopeTheta, "local_rope_theta", 0.0, AT_LEAST_ZERO),
    row(Attribute::ParallelResidual, "parallel_residual", 0.0, TRUTH),
    row(Attribute::PositionOffset, "position_offset", 0.0, COUNT),
    row(Attribute::PositionStart, "position_start", 0.0, COUNT),
    row(Attribute::TypeVocabSize, "type_vocab_size", 0.0, COUNT),
    row(Attribute::RelativeBuckets, "relative_buckets", 0.0, COUNT),
    row(Attribute::RelativeDistance, "relative_distance", 0.0, COUNT),
    row(Attribute::GatedAct, "gated_act", 0.0, TRUTH),
    row(Attribute::ImageSize, "image_size", 0.0, COUNT),
    row(Attribute::PatchSize, "patch_size", 0.0, COUNT),
    row(Attribute::NumChannels, "num_channels", 0.0, COUNT),
    row(Attribute::MelBins, "num_mel_bins", 0.0, COUNT),
];

impl Attribute {
    /// Returns every attribute.
    pub fn all() -> impl Iterator<Item = Attribute> {
        ROWS.iter().map(|row| row.attribute)
    }

    /// Returns the attribute with the key `key` in documents.
    pub fn parse(key: &str) -> Option<Attribute> {
        Attribute::all().find(|own| own.key() == key)
    }

    /// Returns its key in documents.
    pub fn key(self) -> &'static str {
        ROWS[self as usize].key
    }

    /// Returns the value without effect.
    pub fn neutral(self) -> f64 {
        ROWS[self as usize].neutral
    }

    /// Returns whether it is a count, which documents write without a fraction.
    pub(crate) fn is_count(self) -> bool {
        matches!(
            self,
            Attribute::SlidingWindow
                | Attribute::PositionOffset
                | Attribute::PositionStart
                | Attribute::TypeVocabSize
                | Attribute::RelativeBuckets
                | Attribute::RelativeDistance
                | Attribute::ImageSize
                | Attribute::PatchSize
                | Attribute::NumChannels
                | Attribute::MelBins
        )
    }

    /// Returns a description of the expected values if `value` is invalid; `None` if it is valid.
    pub(crate) fn problem(self, value: f64) -> Option<&'static str> {
        let row = &ROWS[self as usize];
        (!(row.is_valid)(value)).then_some(row.expected)
    }
}

/// A value of every attribute.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Attributes([f64; ROWS.len()]);

impl Default for Attributes {
    fn default() -> Attributes {
        Attributes(ROWS.each_ref().map(|row| row.neutral))
    }
}

impl Attributes {
    /// Returns the value of `attribute`.
    pub fn get(&self, attribute: Attribute) -> f64 {
        self.0[attribute as usize]
    }

    /// Sets the value of `attribute`.
    pub fn set(&mut self, attribute: Attribute, value: f64) {
        self.0[attribute as usize] = value;
    }

    /// Returns the attributes that do not have their neutral value.
    pub fn set_ones(&self) -> impl Iterator<Item = (Attribute, f64)> + '_ {
        let all = Attribute::all().map(|own| (own, self.get(own)));
        all.filter(|(own, value)| *value != own.neutral())
    }
}

/// The activation function of the MLP.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Activation {
    /// `x sigmoid(x)`.
    #[default]
    Silu,
    /// `x / 2 (1 + erf(x / sqrt(2)))`.
    Gelu,
    /// `x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))`, an approximation of `gelu`.
    GeluTanh,
    /// `x` if it is positive, else 0.
    Relu,
    /// The square of `relu`.
    Relu2,
}

impl Activation {
    /// Every activation.
    pub const ALL: [Activation; 5] = [
        Activation::Silu,
        Activation::Gelu,
        Activation::GeluTanh,
        Activation::Relu,
        Activation::Relu2,
    ];

    /// Returns its name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Activation::Silu => "silu",
            Activation::Gelu => "gelu",
            Activation::GeluTanh => "gelu_tanh",
            Activation::Relu => "relu",
            Activation::Relu2 => "relu2",
        }
    }

    /// Returns the activation called `name`.
    pub fn parse(name: &str) -> Option<Activation> {
        Activation::ALL.into_iter().find(|own| own.name() == name)
    }
}

/// A set of layers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Layers([u64; crate::config::MAX_COUNT / 64]);

impl Layers {
    /// The empty set.
    pub const NONE: Layers = Layers([0; crate::config::MAX_COUNT / 64]);

    /// Returns the set of these layers. Layers past the most that a model may have are ignored.
    pub fn of(layers: impl IntoIterator<Item = usize>) -> Layers {
        let mut all = Layers::NONE;
        for layer in layers {
            if let Some(word) = all.0.get_mut(layer / 64) {
                *word |= 1 << (layer % 64);
            }
        }
        all
    }

    /// Returns whether `layer` is in the set.
    pub fn has(&self, layer: usize) -> bool {
        self.0
            .get(layer / 64)
            .is_some_and(|word| word >> (layer % 64) & 1 == 1)
    }

    /// Returns the layers in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..crate::config::MAX_COUNT).filter(|&layer| self.has(layer))
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        *self == Layers::NONE
    }
}

impl std::fmt::Debug for Layers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_the_order_of_their_attributes() {
        for (at, row) in ROWS.iter().enumerate() {
            assert_eq!(row.attribute as usize, at, "{}", row.key);
            assert!((row.is_valid)(row.neutral), "{}", row.key);
            assert_eq!(Attribute::parse(row.key), Some(row.attribute));
        }
    }

    #[test]
    fn sets_of_layers_hold_what_was_put_in() {
        let own = Layers::of([0, 63, 64, 4095, 9999]);
        assert_eq!(own.iter().collect::<Vec<_>>(), [0, 63, 64, 4095]);
        assert!(!own.has(9999) && !own.is_empty() && Layers::NONE.is_empty());
    }
}
