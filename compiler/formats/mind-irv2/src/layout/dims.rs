//! The table of dimensions, and extents that refer to them.

use crate::attributes::Attribute;
use crate::config::{Config, align};
use crate::experts::Experts;
use crate::family::Family;
use crate::stacks::EncoderSizes;

/// A named extent of a model.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Dim {
    /// Positions of a run.
    Tokens,
    /// The width of the residual stream.
    Embed,
    /// The same, padded.
    AlignedEmbed,
    /// The elements of a head.
    HeadDim,
    /// The same, padded.
    AlignedHead,
    /// The number of query heads.
    NumHeads,
    /// The number of key and value heads.
    NumKvHeads,
    /// The context window, padded.
    AlignedCtx,
    /// The width of the MLP.
    Intermediate,
    /// The same, padded.
    AlignedIntermediate,
    /// The number of token ids.
    Vocab,
    /// The number of experts in a layer.
    NumExperts,
    /// The width of an expert.
    ExpertIntermediate,
    /// The same, padded.
    AlignedExpertIntermediate,
    /// The width of the shared expert.
    SharedIntermediate,
    /// The same, padded.
    AlignedSharedIntermediate,
    /// The number of token types.
    TypeVocab,
    /// Positions of the encoder of an encoder-decoder.
    SourceTokens,
    /// The number of heads of that encoder.
    EncoderHeads,
    /// The elements of a head of that encoder.
    EncoderHeadDim,
    /// The same, padded.
    AlignedEncoderHead,
    /// The width of the MLP of that encoder.
    EncoderIntermediate,
    /// The same, padded.
    AlignedEncoderIntermediate,
    /// The number of relative position buckets.
    RelativeBuckets,
    /// Rows of the position table, including unused ones.
    PositionRows,
    /// Rows of the position table of the encoder of an encoder-decoder.
    SourcePositionRows,
    /// The number of patches of an image.
    Patches,
    /// The elements of a patch.
    PatchElements,
    /// The mel bins of an audio frame.
    MelBins,
}

impl Dim {
    /// Every dimension, in the order of ids.
    pub const ALL: [Dim; 29] = [
        Dim::Tokens,
        Dim::Embed,
        Dim::AlignedEmbed,
        Dim::HeadDim,
        Dim::AlignedHead,
        Dim::NumHeads,
        Dim::NumKvHeads,
        Dim::AlignedCtx,
        Dim::Intermediate,
        Dim::AlignedIntermediate,
        Dim::Vocab,
        Dim::NumExperts,
        Dim::ExpertIntermediate,
        Dim::AlignedExpertIntermediate,
        Dim::SharedIntermediate,
        Dim::AlignedSharedIntermediate,
        Dim::TypeVocab,
        Dim::SourceTokens,
        Dim::EncoderHeads,
        Dim::EncoderHeadDim,
        Dim::AlignedEncoderHead,
        Dim::EncoderIntermediate,
        Dim::AlignedEncoderIntermediate,
        Dim::RelativeBuckets,
        Dim::PositionRows,
        Dim::SourcePositionRows,
        Dim::Patches,
        Dim::PatchElements,
        Dim::MelBins,
    ];

    /// Returns its number in documents.
    pub const fn id(self) -> usize {
        self as usize
    }

    /// Returns its name in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Dim::Tokens => "tokens",
            Dim::Embed => "embed",
            Dim::AlignedEmbed => "aligned_embed",
            Dim::HeadDim => "head_dim",
            Dim::AlignedHead => "aligned_head",
            Dim::NumHeads => "num_heads",
            Dim::NumKvHeads => "num_kv_heads",
            Dim::AlignedCtx => "aligned_ctx",
            Dim::Intermediate => "intermediate",
            Dim::AlignedIntermediate => "aligned_intermediate",
            Dim::Vocab => "vocab",
            Dim::NumExperts => "num_experts",
            Dim::ExpertIntermediate => "expert_intermediate",
            Dim::AlignedExpertIntermediate => "aligned_expert_intermediate",
            Dim::SharedIntermediate => "shared_intermediate",
            Dim::AlignedSharedIntermediate => "aligned_shared_intermediate",
            Dim::TypeVocab => "type_vocab",
            Dim::SourceTokens => "source_tokens",
            Dim::EncoderHeads => "encoder_heads",
            Dim::EncoderHeadDim => "encoder_head_dim",
            Dim::AlignedEncoderHead => "aligned_encoder_head",
            Dim::EncoderIntermediate => "encoder_intermediate",
            Dim::AlignedEncoderIntermediate => "aligned_encoder_intermediate",
            Dim::RelativeBuckets => "relative_buckets",
            Dim::PositionRows => "position_rows",
            Dim::SourcePositionRows => "source_position_rows",
            Dim::Patches => "patches",
            Dim::PatchElements => "patch_elements",
            Dim::MelBins => "mel_bins",
        }
    }

    /// Returns whether models of `family` have it. All have the first eleven.
    pub fn is_of(self, family: Family) -> bool {
        let uses = |dim: Dim| {
            let mut extents = family.buffers().iter().flat_map(|own| &own.shape);
            extents.any(|extent| extent.dim == dim)
        };
        match self {
            Dim::TypeVocab
            | Dim::RelativeBuckets
            | Dim::PositionRows
            | Dim::SourcePositionRows
            | Dim::Patches
            | Dim::PatchElements
            | Dim::MelBins => uses(self),
            Dim::SourceTokens
            | Dim::EncoderHeads
            | Dim::EncoderHeadDim
            | Dim::AlignedEncoderHead
            | Dim::EncoderIntermediate
            | Dim::AlignedEncoderIntermediate => uses(Dim::SourceTokens),
            Dim::NumExperts
            | Dim::ExpertIntermediate
            | Dim::AlignedExpertIntermediate
            | Dim::SharedIntermediate
            | Dim::AlignedSharedIntermediate => uses(Dim::NumExperts),
            Dim::Tokens
            | Dim::Embed
            | Dim::AlignedEmbed
            | Dim::HeadDim
            | Dim::AlignedHead
            | Dim::NumHeads
            | Dim::NumKvHeads
            | Dim::AlignedCtx
            | Dim::Intermediate
            | Dim::AlignedIntermediate
            | Dim::Vocab => true,
        }
    }

    /// Returns the dimension with the number `id`.
    pub fn of_id(id: usize) -> Option<Dim> {
        Dim::ALL.get(id).copied()
    }

    /// Returns the dimension called `name`.
    pub fn parse(name: &str) -> Option<Dim> {
        Dim::ALL.into_iter().find(|dim| dim.name() == name)
    }

    /// Returns its value in a run of `tokens` positions.
    pub fn value(self, config: &Config, tokens: usize) -> usize {
        let experts = |of: fn(&Experts) -> usize| config.experts.as_ref().map_or(0, of);
        let encoder = |of: fn(&EncoderSizes) -> usize| config.encoder.as_ref().map_or(0, of);
        match self {
            Dim::Tokens => tokens,
            Dim::Embed => config.hidden_size,
            Dim::AlignedEmbed => align(config.hidden_size),
            Dim::HeadDim => config.head_dim,
            Dim::AlignedHead => align(config.head_dim),
            Dim::NumHeads => config.num_attention_heads,
            Dim::NumKvHeads => config.num_kv_heads,
            Dim::AlignedCtx => align(config.context_window),
            Dim::Intermediate => config.intermediate_size,
            Dim::AlignedIntermediate => align(config.intermediate_size),
            Dim::Vocab => config.vocab_size,
            Dim::NumExperts => experts(|own| own.count),
            Dim::ExpertIntermediate => experts(|own| own.width),
            Dim::AlignedExpertIntermediate => align(experts(|own| own.width)),
            Dim::SharedIntermediate => experts(|own| own.shared_width),
            Dim::AlignedSharedIntermediate => align(experts(|own| own.shared_width)),
            Dim::TypeVocab => config.attributes.get(Attribute::TypeVocabSize) as usize,
            Dim::SourceTokens => encoder(|own| own.context_window),
            Dim::EncoderHeads => encoder(|own| own.num_attention_heads),
            Dim::EncoderHeadDim => encoder(|own| own.head_dim),
            Dim::AlignedEncoderHead => align(encoder(|own| own.head_dim)),
            Dim::EncoderIntermediate => encoder(|own| own.intermediate_size),
            Dim::AlignedEncoderIntermediate => align(encoder(|own| own.intermediate_size)),
            Dim::RelativeBuckets => config.attributes.get(Attribute::RelativeBuckets) as usize,
            Dim::PositionRows => config.context_window + config.position_start(),
            Dim::SourcePositionRows => encoder(|own| own.context_window) + config.position_start(),
            Dim::Patches => config.image().map_or(0, |own| own.patches()),
            Dim::PatchElements => config.image().map_or(0, |own| own.patch_elements()),
            Dim::MelBins => config.attributes.get(Attribute::MelBins) as usize,
        }
    }
}

/// An extent of a shape: a dimension times `mult`, divided by `div`, rounded down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// The dimension.
    pub dim: Dim,
    /// At least 1.
    pub mult: usize,
    /// At least 1.
    pub div: usize,
}

impl Extent {
    /// Returns the extent of the dimension itself.
    pub const fn of(dim: Dim) -> Extent {
        Extent {
            dim,
            mult: 1,
            div: 1,
        }
    }

    /// Returns its value in a run of `tokens` positions; `None` if it overflows.
    pub fn value(self, config: &Config, tokens: usize) -> Option<usize> {
        let product = self.dim.value(config, tokens).checked_mul(self.mult)?;
        product.checked_div(self.div)
    }

    /// Returns its value without padding, with the context window as the number of positions.
    pub fn unpadded(self, config: &Config) -> usize {
        let dim = match self.dim {
            Dim::AlignedEmbed => Dim::Embed,
            Dim::AlignedHead => Dim::HeadDim,
            Dim::AlignedIntermediate => Dim::Intermediate,
            Dim::AlignedCtx => Dim::Tokens,
            Dim::AlignedExpertIntermediate => Dim::ExpertIntermediate,
            Dim::AlignedSharedIntermediate => Dim::SharedIntermediate,
            Dim::AlignedEncoderHead => Dim::EncoderHeadDim,
            Dim::AlignedEncoderIntermediate => Dim::EncoderIntermediate,
            plain @ (Dim::Tokens
            | Dim::Embed
            | Dim::HeadDim
            | Dim::NumHeads
            | Dim::NumKvHeads
            | Dim::Intermediate
            | Dim::Vocab
            | Dim::NumExperts
            | Dim::ExpertIntermediate
            | Dim::SharedIntermediate
            | Dim::TypeVocab
            | Dim::SourceTokens
            | Dim::EncoderHeads
            | Dim::EncoderHeadDim
            | Dim::EncoderIntermediate
            | Dim::RelativeBuckets
            | Dim::PositionRows
            | Dim::SourcePositionRows
            | Dim::Patches
            | Dim::PatchElements
            | Dim::MelBins) => plain,
        };
        let value = dim.value(config, config.context_window);
        value.saturating_mul(self.mult) / self.div
    }

    /// Returns whether `other` has the same value for every number of positions.
    pub fn is_same(self, other: Extent, config: &Config) -> bool {
        let depends = |extent: Extent| extent.dim == Dim::Tokens;
        match (depends(self), depends(other)) {
            (true, true) => {
                let cross = |a: Extent, b: Extent| a.mult.checked_mul(b.div);
                cross(self, other).is_some_and(|left| cross(other, self) == Some(left))
            }
            (false, false) => self
                .value(config, 1)
                .is_some_and(|value| other.value(config, 1) == Some(value)),
            _ => false,
        }
    }
}
