//! The kernels that steps of a plan call, as one table.
//!
//! A row says what a document calls the kernel, what its arguments are, which numbers of the configuration it reads,
//! and which ops of the core dialect it becomes. A family whose steps are all here needs no code.

mod activation;
mod attention;
mod audio;
mod bias;
pub(crate) mod experts;
mod image;
mod linear;
mod norm;
mod pool;
mod rope;

use std::collections::BTreeMap;

use mind_ir::ValueId;

use crate::attributes::Attribute;
use crate::config::Config;
use crate::graph::emit::{BuildError, Built, Emitter};
use crate::layout::nodes::{Access, Node};

/// A kernel.
#[derive(Debug)]
pub struct Kernel {
    /// What it computes, as plans and documents call it.
    pub op: &'static str,
    /// The symbol of its function.
    pub symbol: &'static str,
    /// Its arguments, in the order in which documents list them.
    pub args: &'static [KernelArg],
    /// The numbers of the configuration that it reads besides extents.
    pub reads: &'static [Attribute],
    /// Whether it reads `hidden_act`.
    pub reads_activation: bool,
    /// Appends its ops.
    pub(crate) build: fn(&mut Call<'_>) -> Built<()>,
}

/// An argument of a kernel.
#[derive(Debug)]
pub struct KernelArg {
    /// The name.
    pub name: &'static str,
    /// What the kernel does with it.
    pub access: Access,
    /// Whether it may be left out.
    pub optional: bool,
    /// The numbers of the configuration that say how it is read.
    pub reads: &'static [Attribute],
}

const fn input(name: &'static str) -> KernelArg {
    arg(name, Access::In)
}

const fn output(name: &'static str) -> KernelArg {
    arg(name, Access::Out)
}

const fn arg(name: &'static str, access: Access) -> KernelArg {
    KernelArg {
        name,
        access,
        optional: false,
        reads: &[],
    }
}

const fn optional(own: KernelArg) -> KernelArg {
    KernelArg {
        optional: true,
        ..own
    }
}

/// An input that may be left out, and is read as the numbers say.
const fn optional_by(name: &'static str, reads: &'static [Attribute]) -> KernelArg {
    KernelArg {
        reads,
        ..optional(input(name))
    }
}

const fn kernel(
    op: &'static str,
    symbol: &'static str,
    args: &'static [KernelArg],
    build: fn(&mut Call<'_>) -> Built<()>,
) -> Kernel {
    Kernel {
        op,
        symbol,
        args,
        reads: &[],
        reads_activation: false,
        build,
    }
}

/// Every kernel.
#[rustfmt::skip]
pub static KERNELS: &[Kernel] = &[
    Kernel { reads: &[Attribute::EmbeddingScale], ..kernel(EMBEDDING, "embedding_forward", &[
        input("table"), optional_by("pos", &[Attribute::PositionOffset, Attribute::PositionStart]),
        optional_by("types", &[Attribute::TypeVocabSize]), output("out"),
    ], linear::embedding) },
    Kernel { reads: &[Attribute::ImageSize, Attribute::PatchSize, Attribute::NumChannels],
        ..kernel(PATCH_PROJECT, "patch_project_forward", &[
            input("w"), optional(input("bias")), output("out"),
        ], image::patch_project)
    },
    kernel(IMAGE_EMBEDDING, "image_embedding_forward", &[
        input("input"), input("cls"), input("pos"), output("out"),
    ], image::image_embedding),
    Kernel { reads: &[Attribute::MelBins],
        ..kernel(FEATURE_WINDOWS, "feature_windows_forward", &[output("out")], audio::feature_windows)
    },
    kernel(FRAME_PROJECT, "frame_project_forward", &[
        input("input"), input("w"), optional(input("bias")), output("out"),
    ], audio::frame_project),
    kernel(FRAME_WINDOWS, "frame_windows_forward", &[input("input"), output("out")], audio::frame_windows),
    kernel(FRAME_EMBEDDING, "frame_embedding_forward", &[
        input("input"), input("pos"), output("out"),
    ], audio::frame_embedding),
    Kernel { reads: &[Attribute::GammaOffset], ..kernel("rmsnorm", "rmsnorm_forward", &[
        input("input"), input("gamma"), output("out"), optional(output("rstd")),
    ], norm::rmsnorm) },
    Kernel {
        reads: &[Attribute::RelativeBuckets, Attribute::RelativeDistance],
        ..kernel(POSITION_BIAS, "relative_position_bias_forward", &[input("table"), output("bias")], bias::position_bias)
    },
    kernel(ALIBI, "alibi_forward", &[output("bias")], bias::alibi),
    kernel("layernorm", "layernorm_forward", &[
        input("input"), input("gamma"), optional(input("beta")),
        output("out"), optional(output("mean")), optional(output("rstd")),
    ], norm::layernorm),
    kernel("qkv_project", "ck_qkv_project_head_major", &[
        input("input"),
        input("wq"), optional(input("bq")),
        input("wk"), optional(input("bk")),
        input("wv"), optional(input("bv")),
        output("q"), output("k"), output("v"),
    ], linear::qkv_project),
    kernel("q_project", "ck_q_project_head_major", &[
        input("input"), input("wq"), optional(input("bq")), output("q"),
    ], linear::q_project),
    kernel("kv_project", "ck_kv_project_head_major", &[
        input("input"), input("wk"), optional(input("bk")), input("wv"), optional(input("bv")), output("k"), output("v"),
    ], linear::kv_project),
    Kernel { reads: &[Attribute::GammaOffset], ..kernel("qk_norm", "rmsnorm_forward_qk", &[
        arg("q", Access::InPlace), arg("k", Access::InPlace), input("q_gamma"), input("k_gamma"),
    ], norm::qk_norm) },
    Kernel { reads: &[Attribute::GammaOffset], ..kernel("qk_norm_full", "rmsnorm_forward_qk_full", &[
        arg("q", Access::InPlace), arg("k", Access::InPlace), input("q_gamma"), input("k_gamma"),
    ], norm::qk_norm_full) },
    Kernel { reads: &[Attribute::LocalRopeTheta], ..kernel("rope", "rope_forward_qk", &[
        arg("q", Access::InPlace), arg("k", Access::InPlace), input("cos_cache"), input("sin_cache"),
    ], rope::rope) },
    Kernel {
        reads: &[Attribute::AttentionScale, Attribute::AttnLogitSoftcap, Attribute::SlidingWindow],
        ..kernel(ATTENTION, "attention_forward_causal_head_major_gqa", &[
            input("q"), input("k"), input("v"), optional(input("bias")),
            optional(arg("scores", Access::Scratch)), output("attn_out"),
        ], attention::attention)
    },
    Kernel {
        reads: &[Attribute::AttentionScale, Attribute::AttnLogitSoftcap, Attribute::SlidingWindow],
        ..kernel(BIDIRECTIONAL_ATTENTION, "attention_forward_bidirectional_head_major_gqa", &[
            input("q"), input("k"), input("v"), optional(input("bias")),
            optional(arg("scores", Access::Scratch)), output("attn_out"),
        ], attention::bidirectional)
    },
    Kernel {
        reads: &[Attribute::AttentionScale, Attribute::AttnLogitSoftcap],
        ..kernel(CROSS_ATTENTION, "attention_forward_cross_head_major_gqa", &[
            input("q"), input("k"), input("v"), optional(arg("scores", Access::Scratch)), output("attn_out"),
        ], attention::across)
    },
    kernel("attn_proj", "ck_attention_project_head_major", &[
        input("attn_out"), input("wo"), optional(input("bo")),
        output("proj_tmp"), optional(arg("proj_scratch", Access::Scratch)),
    ], linear::attn_proj),
    Kernel { reads: &[Attribute::ResidualScale], ..kernel("residual_add", "ck_residual_add_token_major", &[
        input("a"), input("b"), output("out"),
    ], linear::residual_add) },
    kernel("mlp_up", "gemm_blocked_serial", &[
        input("input"), input("w1"), optional(input("b1")), output("fc1_out"),
    ], linear::mlp_up),
    kernel("swiglu", "swiglu_forward", &[input("fc1_out"), output("swiglu_out")], activation::swiglu),
    Kernel { reads_activation: true, ..kernel("gated_activation", "gated_activation_forward", &[
        input("fc1_out"), output("act_out"),
    ], activation::gated_activation) },
    Kernel { reads_activation: true, ..kernel("activation", "activation_forward", &[
        input("fc1_out"), output("act_out"),
    ], activation::activation) },
    kernel("mlp_down", "gemm_blocked_serial", &[
        input("swiglu_out"), input("w2"), optional(input("b2")), output("mlp_out"),
    ], linear::mlp_down),
    kernel("router", "router_top_k_forward", &[input("input"), input("w"), output("routing")], experts::router),
    Kernel { reads_activation: true, ..kernel(EXPERTS, "experts_forward", &[
        input("input"), input("routing"), input("w1"), input("w2"), output("out"),
    ], experts::experts) },
    kernel("sigmoid_gate", "sigmoid_gate_forward", &[
        input("input"), input("gate"), input("x"), output("out"),
    ], experts::sigmoid_gate),
    Kernel { reads: &[Attribute::LogitScale, Attribute::FinalLogitSoftcap], ..kernel("lm_head", "gemm_blocked_serial", &[
        input("input"), input("w"), optional(input("bias")), output("logits"),
    ], linear::lm_head) },
    // Its weight is one that a checkpoint may lack; a step without it has a condition.
    kernel("pooler", "pooler_forward", &[
        input("input"), optional(input("w")), optional(input("bias")), output("pooled"),
    ], pool::pooler),
    kernel("classifier", "classifier_forward", &[
        input("input"), optional(input("w")), optional(input("bias")), output("scores"),
    ], pool::classifier),
];

/// The op that reads rows of tables.
pub const EMBEDDING: &str = "embedding";
/// The op that makes a row of each patch of an image.
pub const PATCH_PROJECT: &str = "patch_project";
/// The op that puts a row in front of those of patches, and adds those of positions.
pub const IMAGE_EMBEDDING: &str = "image_embedding";
/// The op that puts frames of sound beside their neighbours.
pub const FEATURE_WINDOWS: &str = "feature_windows";
/// The op that makes a row of each frame and its neighbours.
pub const FRAME_PROJECT: &str = "frame_project";
/// The op that puts every other row of frames beside its neighbours.
pub const FRAME_WINDOWS: &str = "frame_windows";
/// The op that adds the rows of positions to those of frames.
pub const FRAME_EMBEDDING: &str = "frame_embedding";
/// The op at which a layer is cut where it runs with a cache: keys and values of earlier positions come in between.
pub const ATTENTION: &str = "attention";
/// The same where a query sees the keys of later positions too.
pub const BIDIRECTIONAL_ATTENTION: &str = "bidirectional_attention";
/// The op that looks at what the encoder of an encoder-decoder says; a layer of its decoder is cut there too.
pub const CROSS_ATTENTION: &str = "cross_attention";
/// The op that makes what distances add to scores, of a table.
pub const POSITION_BIAS: &str = "position_bias";
/// The same, of a slope for each head.
pub const ALIBI: &str = "alibi";

impl Kernel {
    /// Whether it makes what distances add to scores.
    pub fn is_of_distances(&self) -> bool {
        [POSITION_BIAS, ALIBI].contains(&self.op)
    }

    /// Whether it is attention of positions to others of their own text.
    pub fn is_attention(&self) -> bool {
        [ATTENTION, BIDIRECTIONAL_ATTENTION].contains(&self.op)
    }
}

/// The op that runs the experts of a layer: where it runs with a cache, each expert computes its own tokens alone.
pub const EXPERTS: &str = "experts";

/// The kernel that plans call `op`.
pub fn kernel_of(op: &str) -> Option<&'static Kernel> {
    KERNELS.iter().find(|own| own.op == op)
}

/// Values by the buffer that holds them. A buffer that several tensors fill, or several products, has one for each.
pub(crate) type Values = BTreeMap<&'static str, Vec<ValueId>>;

/// What ops read that is in no buffer.
pub(crate) mod ambient {
    /// What is added to the scores of a query, `[tokens, seen]`.
    pub(crate) const MASK: &str = "mask";
    /// Token ids.
    pub(crate) const TOKENS: &str = "tokens";
    /// Positions as indices.
    pub(crate) const POSITIONS: &str = "position_ids";
    /// What is added to scores over what an encoder says, `[tokens, source_tokens]`.
    pub(crate) const SOURCE_MASK: &str = "source_mask";
    /// The classes of distances, `[tokens, seen]`.
    pub(crate) const CLASSES: &str = "position_classes";
    /// Positions as numbers, `[tokens]`.
    pub(crate) const PLACES: &str = "places";
    /// Kinds of tokens.
    pub(crate) const TYPES: &str = "token_types";
    /// Patches of an image, `[patches, patch_elements]`.
    pub(crate) const PATCHES: &str = "patches";
    /// Frames of sound, `[frames, mel_bins]`.
    pub(crate) const FEATURES: &str = "features";
}

/// A call of a kernel while its ops are appended.
pub(crate) struct Call<'c> {
    pub(crate) e: &'c mut Emitter,
    pub(crate) config: &'c Config,
    pub(crate) node: &'static Node,
    pub(crate) values: &'c mut Values,
}

impl Call<'_> {
    /// The values of an argument; none if it is not bound, or bound to a weight that the model lacks.
    fn all(&self, arg: &str) -> &[ValueId] {
        let own = self.node.arg(arg);
        let found = own.and_then(|own| self.values.get(own.buffer.as_str()));
        found.map_or(&[], Vec::as_slice)
    }

    /// The value of an argument that may be absent.
    fn maybe(&self, arg: &str) -> Option<ValueId> {
        self.all(arg).first().copied()
    }

    /// The value of an argument, of rank `rank`.
    ///
    /// # Errors
    ///
    /// It has none, several, or one of another rank.
    fn get(&self, arg: &str, rank: usize) -> Built<ValueId> {
        let &[found] = self.all(arg) else {
            let count = self.all(arg).len();
            return Err(self.error(format!("`{arg}` has {count} values, expected one")));
        };
        let own = self.e.shape(found).len();
        if own != rank {
            return Err(self.error(format!("`{arg}` has rank {own}, expected {rank}")));
        }
        Ok(found)
    }

    /// A value that is in no buffer.
    ///
    /// # Errors
    ///
    /// The part of the model with the step has no such value.
    fn ambient(&self, name: &str) -> Built<ValueId> {
        self.maybe_ambient(name)
            .ok_or_else(|| self.error(format!("there is no `{name}` where it stands")))
    }

    /// A value that is in no buffer and may be absent.
    fn maybe_ambient(&self, name: &str) -> Option<ValueId> {
        let found = self.values.get(name)?;
        found.first().copied()
    }

    /// Why the step cannot be built.
    fn error(&self, reason: String) -> BuildError {
        let op = self.node.op();
        BuildError::Step { op, reason }
    }

    /// Sets the values of an argument that is written.
    fn set(&mut self, arg: &str, values: Vec<ValueId>) {
        if let Some(own) = self.node.arg(arg) {
            self.values.insert(&own.buffer, values);
        }
    }

    /// The elements that a row of what is bound to `arg` has without padding.
    fn true_extent(&self, arg: &str) -> usize {
        let own = self.node.arg(arg);
        let buffer = own.and_then(|own| self.config.family.buffer(&own.buffer));
        let last = buffer.and_then(|buffer| buffer.shape.last());
        last.map_or(0, |extent| extent.unpadded(self.config))
    }

    /// A number that the row of the kernel says it reads.
    fn attribute(&self, attribute: Attribute) -> f64 {
        debug_assert!(self.node.reads(attribute));
        self.config.attributes.get(attribute)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_stands_once_and_writes_something() {
        for (at, own) in KERNELS.iter().enumerate() {
            assert!(
                KERNELS[at + 1..].iter().all(|other| other.op != own.op),
                "{}",
                own.op
            );
            assert!(own.args.iter().any(|arg| arg.access.writes()), "{}", own.op);
        }
    }
}
