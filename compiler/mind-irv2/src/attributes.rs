//! Numbers of a model that most models leave at a value that changes nothing.

/// A number that kernels read from a document's `config`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attribute {
    /// What embeddings of tokens are multiplied by.
    EmbeddingScale,
    /// What is added to a sum of residuals is multiplied by it first.
    ResidualScale,
    /// What products of queries and keys are multiplied by; 0 for `1 / sqrt(head_dim)`.
    AttentionScale,
    /// `c` of `c tanh(score / c)`; 0 for scores that are not capped.
    AttnLogitSoftcap,
    /// What logits are multiplied by.
    LogitScale,
    /// `c` of `c tanh(logit / c)`; 0 for logits that are not capped.
    FinalLogitSoftcap,
    /// What is added to the gains of normalisations.
    GammaOffset,
    /// How many positions a query of the layers in `sliding_layers` sees, itself included; 0 for all.
    SlidingWindow,
    /// The base of the frequencies in the layers of `sliding_layers`; 0 for that of all layers.
    LocalRopeTheta,
    /// 1 where the MLP reads the input of the layer, 0 where it reads what attention made of it.
    ParallelResidual,
    /// The position that the first token has; the token in front of that number is padding.
    PositionOffset,
    /// Rows of the table of positions in front of that of the first position, which no token has.
    PositionStart,
    /// Rows of the table of kinds of tokens.
    TypeVocabSize,
    /// Classes of distances, each of which adds its number to the scores of each head.
    RelativeBuckets,
    /// The distance from which on all are of the last class.
    RelativeDistance,
    /// 1 where the MLP has a gate.
    GatedAct,
    /// Rows and columns of pixels of an image.
    ImageSize,
    /// Rows and columns of pixels of a patch of an image, which is a position.
    PatchSize,
    /// Numbers of a pixel.
    NumChannels,
    /// Numbers of a frame of sound.
    MelBins,
}

/// A row of the table.
struct Row {
    attribute: Attribute,
    key: &'static str,
    /// The value that changes nothing, which documents leave out.
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
) -> Row {
    Row {
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

/// Every attribute, in the order of their declaration.
#[rustfmt::skip]
const ROWS: [Row; 20] = [
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
    /// Every attribute.
    pub fn all() -> impl Iterator<Item = Attribute> {
        ROWS.iter().map(|row| row.attribute)
    }

    /// The attribute that documents call `key`.
    pub fn parse(key: &str) -> Option<Attribute> {
        Attribute::all().find(|own| own.key() == key)
    }

    /// What documents call it.
    pub fn key(self) -> &'static str {
        ROWS[self as usize].key
    }

    /// The value that changes nothing.
    pub fn neutral(self) -> f64 {
        ROWS[self as usize].neutral
    }

    /// Whether it counts something, which documents write without a fraction.
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

    /// What `value` should be instead; `None` if it is a value of this attribute.
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
    /// The value of `attribute`.
    pub fn get(&self, attribute: Attribute) -> f64 {
        self.0[attribute as usize]
    }

    /// Sets the value of `attribute`.
    pub fn set(&mut self, attribute: Attribute, value: f64) {
        self.0[attribute as usize] = value;
    }

    /// The attributes that have another value than the one that changes nothing.
    pub fn set_ones(&self) -> impl Iterator<Item = (Attribute, f64)> + '_ {
        let all = Attribute::all().map(|own| (own, self.get(own)));
        all.filter(|(own, value)| *value != own.neutral())
    }
}

/// What the MLP does to each element in between.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Activation {
    /// `x sigmoid(x)`.
    #[default]
    Silu,
    /// `x / 2 (1 + erf(x / sqrt(2)))`.
    Gelu,
    /// The same with `tanh` instead of `erf`.
    GeluTanh,
    /// `x` where it is positive, else 0.
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

    /// The word in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Activation::Silu => "silu",
            Activation::Gelu => "gelu",
            Activation::GeluTanh => "gelu_tanh",
            Activation::Relu => "relu",
            Activation::Relu2 => "relu2",
        }
    }

    /// The activation called `name`.
    pub fn parse(name: &str) -> Option<Activation> {
        Activation::ALL.into_iter().find(|own| own.name() == name)
    }
}

/// A set of layers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Layers([u64; crate::config::MAX_COUNT / 64]);

impl Layers {
    /// No layer.
    pub const NONE: Layers = Layers([0; crate::config::MAX_COUNT / 64]);

    /// These layers; those that no model has are left out.
    pub fn of(layers: impl IntoIterator<Item = usize>) -> Layers {
        let mut all = Layers::NONE;
        for layer in layers {
            if let Some(word) = all.0.get_mut(layer / 64) {
                *word |= 1 << (layer % 64);
            }
        }
        all
    }

    /// Whether `layer` is one of them.
    pub fn has(&self, layer: usize) -> bool {
        self.0
            .get(layer / 64)
            .is_some_and(|word| word >> (layer % 64) & 1 == 1)
    }

    /// The layers, in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..crate::config::MAX_COUNT).filter(|&layer| self.has(layer))
    }

    /// Whether there is none.
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
