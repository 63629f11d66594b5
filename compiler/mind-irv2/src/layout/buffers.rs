//! The buffers of a decoder model, as one table.

use mind_weights::{Role, WeightType};

use super::dims::{Dim, Extent};
use crate::config::Config;

/// How many instances a buffer has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// One.
    Global,
    /// One a layer.
    Layer,
}

impl Scope {
    /// The word in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Scope::Global => "global",
            Scope::Layer => "layer",
        }
    }
}

/// What a buffer is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// It is filled from tensors of a checkpoint: one, or two of which the second follows in the lower rows.
    Weight(&'static [Role]),
    /// It is a weight that inference does not read.
    UnusedWeight,
    /// It is computed in a run, in `f32`.
    Activation,
}

/// A row of the table.
#[derive(Debug)]
pub struct Buffer {
    /// The name.
    pub name: &'static str,
    /// How many there are.
    pub scope: Scope,
    /// What it is for.
    pub kind: Kind,
    /// Its extents, padded, outermost first.
    pub shape: &'static [Extent],
    /// When there is such a buffer, in the grammar of conditions; always without.
    pub condition: Option<&'static str>,
    /// The column of extensions: whether the model of a configuration has this buffer at all.
    pub extension: Option<fn(&Config) -> bool>,
}

const fn d(dim: Dim) -> Extent {
    Extent::of(dim)
}

const fn twice(dim: Dim) -> Extent {
    Extent {
        dim,
        mult: 2,
        div: 1,
    }
}

const fn half(dim: Dim) -> Extent {
    Extent {
        dim,
        mult: 1,
        div: 2,
    }
}

const T: Extent = d(Dim::Tokens);
const AD: Extent = d(Dim::AlignedEmbed);
const AH: Extent = d(Dim::AlignedHead);
const AI: Extent = d(Dim::AlignedIntermediate);
const AC: Extent = d(Dim::AlignedCtx);
const H: Extent = d(Dim::NumHeads);
const K: Extent = d(Dim::NumKvHeads);
const V: Extent = d(Dim::Vocab);

/// The condition of what stands for positions in models without rotary embeddings.
pub const WITHOUT_ROPE: &str = "!(rope_theta>0)";
/// The condition of what rotary embeddings need.
pub const WITH_ROPE: &str = "rope_theta>0";

const fn weight(
    name: &'static str,
    scope: Scope,
    roles: &'static [Role],
    shape: &'static [Extent],
) -> Buffer {
    let kind = Kind::Weight(roles);
    let (condition, extension) = (None, None);
    Buffer {
        name,
        scope,
        kind,
        shape,
        condition,
        extension,
    }
}

const fn activation(name: &'static str, scope: Scope, shape: &'static [Extent]) -> Buffer {
    let (kind, condition, extension) = (Kind::Activation, None, None);
    Buffer {
        name,
        scope,
        kind,
        shape,
        condition,
        extension,
    }
}

const fn when(condition: &'static str, buffer: Buffer) -> Buffer {
    Buffer {
        condition: Some(condition),
        ..buffer
    }
}

const fn normalised_heads(buffer: Buffer) -> Buffer {
    Buffer {
        extension: Some(|config| config.qk_norm),
        ..buffer
    }
}

/// Every buffer, in the order in which documents list them.
#[rustfmt::skip]
pub static BUFFERS: &[Buffer] = &[
    weight("token_emb", Scope::Global, &[Role::TokenEmbedding], &[V, AD]),
    when(WITHOUT_ROPE, weight("pos_emb", Scope::Global, &[Role::PositionEmbedding], &[T, AD])),
    weight("final_ln_weight", Scope::Global, &[Role::FinalNorm], &[AD]),
    Buffer { kind: Kind::UnusedWeight, ..weight("final_ln_bias", Scope::Global, &[], &[AD]) },
    weight("lm_head_weight", Scope::Global, &[Role::LmHead], &[V, AD]),
    activation("embedded_input", Scope::Global, &[T, AD]),
    activation("final_output", Scope::Global, &[T, AD]),
    when(WITH_ROPE, activation("rope_cos_cache", Scope::Global, &[T, half(Dim::HeadDim)])),
    when(WITH_ROPE, activation("rope_sin_cache", Scope::Global, &[T, half(Dim::HeadDim)])),
    activation("final_ln_mean", Scope::Global, &[T]),
    activation("final_ln_rstd", Scope::Global, &[T]),
    activation("logits", Scope::Global, &[T, V]),
    weight("ln1_gamma", Scope::Layer, &[Role::AttentionNorm], &[AD]),
    weight("ln2_gamma", Scope::Layer, &[Role::MlpNorm], &[AD]),
    weight("wq", Scope::Layer, &[Role::Query], &[H, AH, AD]),
    weight("bq", Scope::Layer, &[Role::QueryBias], &[H, AH]),
    weight("wk", Scope::Layer, &[Role::Key], &[K, AH, AD]),
    weight("bk", Scope::Layer, &[Role::KeyBias], &[K, AH]),
    weight("wv", Scope::Layer, &[Role::Value], &[K, AH, AD]),
    weight("bv", Scope::Layer, &[Role::ValueBias], &[K, AH]),
    normalised_heads(weight("q_norm", Scope::Layer, &[Role::QueryNorm], &[AH])),
    normalised_heads(weight("k_norm", Scope::Layer, &[Role::KeyNorm], &[AH])),
    weight("wo", Scope::Layer, &[Role::Output], &[H, AD, AH]),
    weight("bo", Scope::Layer, &[Role::OutputBias], &[AD]),
    weight("w1", Scope::Layer, &[Role::Gate, Role::Up], &[twice(Dim::AlignedIntermediate), AD]),
    weight("b1", Scope::Layer, &[Role::GateBias, Role::UpBias], &[twice(Dim::AlignedIntermediate)]),
    weight("w2", Scope::Layer, &[Role::Down], &[AD, AI]),
    weight("b2", Scope::Layer, &[Role::DownBias], &[AD]),
    activation("input", Scope::Layer, &[T, AD]),
    activation("ln1_out", Scope::Layer, &[T, AD]),
    activation("ln1_rstd", Scope::Layer, &[T]),
    activation("q", Scope::Layer, &[H, T, AH]),
    activation("k", Scope::Layer, &[K, T, AH]),
    activation("v", Scope::Layer, &[K, T, AH]),
    when("training_enabled", activation("scores", Scope::Layer, &[H, AC, AC])),
    activation("attn_out", Scope::Layer, &[H, T, AH]),
    activation("proj_tmp", Scope::Layer, &[T, AD]),
    activation("proj_scratch", Scope::Layer, &[T, AD]),
    activation("residual1", Scope::Layer, &[T, AD]),
    activation("ln2_out", Scope::Layer, &[T, AD]),
    activation("ln2_rstd", Scope::Layer, &[T]),
    activation("fc1_out", Scope::Layer, &[T, twice(Dim::AlignedIntermediate)]),
    activation("swiglu_out", Scope::Layer, &[T, AI]),
    activation("mlp_out", Scope::Layer, &[T, AD]),
    activation("output", Scope::Layer, &[T, AD]),
];

/// The buffer called `name`.
pub fn buffer(name: &str) -> Option<&'static Buffer> {
    BUFFERS.iter().find(|buffer| buffer.name == name)
}

impl Buffer {
    /// Whether it is filled from a checkpoint.
    pub fn is_weight(&self) -> bool {
        !matches!(self.kind, Kind::Activation)
    }

    /// The tensors that fill it.
    pub fn roles(&self) -> &'static [Role] {
        match self.kind {
            Kind::Weight(roles) => roles,
            Kind::UnusedWeight | Kind::Activation => &[],
        }
    }

    /// Whether documents of `config` list it.
    pub fn is_listed(&self, config: &Config) -> bool {
        self.extension.is_none_or(|listed| listed(config))
    }

    /// Its extents in a run of `tokens` positions; `None` if one does not fit.
    pub fn resolved(&self, config: &Config, tokens: usize) -> Option<Vec<usize>> {
        let extents = self.shape.iter();
        extents.map(|extent| extent.value(config, tokens)).collect()
    }
}

/// The bytes of an array of `dtype`, rows of blocks rounded up to whole blocks; `None` if they do not fit.
pub fn bytes_of(shape: &[usize], dtype: WeightType) -> Option<usize> {
    let (row, outer) = shape.split_last()?;
    let row = row.checked_next_multiple_of(dtype.block_elements())?;
    let rows = outer
        .iter()
        .try_fold(1usize, |rows, &extent| rows.checked_mul(extent))?;
    rows.checked_mul(dtype.row_bytes(row)?)
}
