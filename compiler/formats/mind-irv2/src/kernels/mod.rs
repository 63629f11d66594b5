//! The kernels that steps of a plan call, as one table.
//!
//! An entry has the name of the kernel in documents, its arguments, the attributes that it reads, and the function that
//! lowers it to ops of the core dialect. A family needs no code if all of its steps are in the table.

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
    /// Its name in plans and documents.
    pub op: &'static str,
    /// The symbol of its function.
    pub symbol: &'static str,
    /// Its arguments, in the order of documents.
    pub args: &'static [KernelArg],
    /// The attributes that it reads.
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
    /// How the kernel accesses it.
    pub access: Access,
    /// Whether it may be unbound.
    pub optional: bool,
    /// The attributes that determine how it is read.
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

/// Returns an optional input whose interpretation depends on attributes.
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
    // Their weights are optional in checkpoints. The steps have a condition on the weight.
    kernel("pooler", "pooler_forward", &[
        input("input"), optional(input("w")), optional(input("bias")), output("pooled"),
    ], pool::pooler),
    kernel("classifier", "classifier_forward", &[
        input("input"), optional(input("w")), optional(input("bias")), output("scores"),
    ], pool::classifier),
];

/// The op that looks up rows of tables.
pub const EMBEDDING: &str = "embedding";
/// The op that projects each patch of an image.
pub const PATCH_PROJECT: &str = "patch_project";
/// The op that prepends the row of the whole image to those of patches, and adds positions.
pub const IMAGE_EMBEDDING: &str = "image_embedding";
/// The op that gathers windows of audio features.
pub const FEATURE_WINDOWS: &str = "feature_windows";
/// The op that projects windows of frames.
pub const FRAME_PROJECT: &str = "frame_project";
/// The op that gathers windows of frames with stride 2.
pub const FRAME_WINDOWS: &str = "frame_windows";
/// The op that adds positions to frames.
pub const FRAME_EMBEDDING: &str = "frame_embedding";
/// Causal attention. With a KV cache, a layer is split at this op, because cached keys and values are added before it.
pub const ATTENTION: &str = "attention";
/// Bidirectional attention.
pub const BIDIRECTIONAL_ATTENTION: &str = "bidirectional_attention";
/// Cross-attention to encoder output. A decoder layer is also split at this op.
pub const CROSS_ATTENTION: &str = "cross_attention";
/// The op that looks up position biases in a table.
pub const POSITION_BIAS: &str = "position_bias";
/// The op that computes position biases from a slope for each head.
pub const ALIBI: &str = "alibi";

impl Kernel {
    /// Returns whether it computes position biases.
    pub fn is_of_distances(&self) -> bool {
        [POSITION_BIAS, ALIBI].contains(&self.op)
    }

    /// Returns whether it is self-attention.
    pub fn is_attention(&self) -> bool {
        [ATTENTION, BIDIRECTIONAL_ATTENTION].contains(&self.op)
    }
}

/// The op that runs the experts of a layer. With a KV cache, each expert only computes its own tokens.
pub const EXPERTS: &str = "experts";

/// Returns the kernel that plans call `op`.
pub fn kernel_of(op: &str) -> Option<&'static Kernel> {
    KERNELS.iter().find(|own| own.op == op)
}

/// The values in each buffer. A buffer has one value for each of its tensors or products.
pub(crate) type Values = BTreeMap<&'static str, Vec<ValueId>>;

/// The names of values that are not in buffers.
pub(crate) mod ambient {
    /// The attention mask, `[tokens, seen]`.
    pub(crate) const MASK: &str = "mask";
    /// Token ids.
    pub(crate) const TOKENS: &str = "tokens";
    /// Positions as row indices.
    pub(crate) const POSITIONS: &str = "position_ids";
    /// The mask of cross-attention, `[tokens, source_tokens]`.
    pub(crate) const SOURCE_MASK: &str = "source_mask";
    /// Relative position buckets, `[tokens, seen]`.
    pub(crate) const CLASSES: &str = "position_classes";
    /// Positions as floats, `[tokens]`.
    pub(crate) const PLACES: &str = "places";
    /// Token types.
    pub(crate) const TYPES: &str = "token_types";
    /// Patches of an image, `[patches, patch_elements]`.
    pub(crate) const PATCHES: &str = "patches";
    /// Frames of audio features, `[frames, mel_bins]`.
    pub(crate) const FEATURES: &str = "features";
}

/// A call of a kernel whose ops are appended.
pub(crate) struct Call<'c> {
    pub(crate) e: &'c mut Emitter,
    pub(crate) config: &'c Config,
    pub(crate) node: &'static Node,
    pub(crate) values: &'c mut Values,
}

impl Call<'_> {
    /// Returns the values of an argument; empty if it is unbound, or bound to a weight that the model does not have.
    fn all(&self, arg: &str) -> &[ValueId] {
        let own = self.node.arg(arg);
        let found = own.and_then(|own| self.values.get(own.buffer.as_str()));
        found.map_or(&[], Vec::as_slice)
    }

    /// Returns the value of an argument that may be absent.
    fn maybe(&self, arg: &str) -> Option<ValueId> {
        self.all(arg).first().copied()
    }

    /// Returns the value of an argument, of rank `rank`.
    ///
    /// # Errors
    ///
    /// Errors if it does not have exactly one value, or one of another rank.
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

    /// Returns a value that is not in a buffer.
    ///
    /// # Errors
    ///
    /// Errors if the module that contains the step does not have the value.
    fn ambient(&self, name: &str) -> Built<ValueId> {
        self.maybe_ambient(name)
            .ok_or_else(|| self.error(format!("`{name}` is not available at this step")))
    }

    /// Returns a value that is not in a buffer and may be absent.
    fn maybe_ambient(&self, name: &str) -> Option<ValueId> {
        let found = self.values.get(name)?;
        found.first().copied()
    }

    /// Returns the error that the step cannot be built.
    fn error(&self, reason: String) -> BuildError {
        let op = self.node.op();
        BuildError::Step { op, reason }
    }

    /// Sets the values of an output argument.
    fn set(&mut self, arg: &str, values: Vec<ValueId>) {
        if let Some(own) = self.node.arg(arg) {
            self.values.insert(&own.buffer, values);
        }
    }

    /// Returns the unpadded last extent of the buffer that is bound to `arg`.
    fn true_extent(&self, arg: &str) -> usize {
        let own = self.node.arg(arg);
        let buffer = own.and_then(|own| self.config.family.buffer(&own.buffer));
        let last = buffer.and_then(|buffer| buffer.shape.last());
        last.map_or(0, |extent| extent.unpadded(self.config))
    }

    /// Returns an attribute, which must be among those that the kernel's entry lists.
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
