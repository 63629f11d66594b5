//! The nodes of a decoder model, as one table.

use super::buffers::WITH_ROPE;
use crate::config::Config;

/// Where a node stands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Part {
    /// In front of the layers.
    First,
    /// In each layer.
    Layer,
    /// After the layers.
    Last,
}

/// What a kernel does with an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// It reads it.
    In,
    /// It writes it.
    Out,
    /// It reads and overwrites it.
    InPlace,
    /// It may use it to compute; nothing reads it afterwards.
    Scratch,
}

/// An argument of a kernel.
#[derive(Debug)]
pub struct Arg {
    /// The name.
    pub name: &'static str,
    /// The buffer that is bound to it.
    pub buffer: &'static str,
    /// What happens to it.
    pub access: Access,
    /// Whether a document may leave it out.
    pub optional: bool,
}

/// A row of the table.
#[derive(Debug)]
pub struct Node {
    /// Where it stands.
    pub part: Part,
    /// What it computes.
    pub op: &'static str,
    /// The symbol of its kernel.
    pub kernel: &'static str,
    /// When there is such a node, in the grammar of conditions; always without.
    pub condition: Option<&'static str>,
    /// Its arguments, in the order in which documents list them.
    pub args: &'static [Arg],
    /// Whether the model of a configuration has this node.
    pub exists: fn(&Config) -> bool,
}

const fn arg(name: &'static str, buffer: &'static str, access: Access) -> Arg {
    Arg {
        name,
        buffer,
        access,
        optional: false,
    }
}

const fn input(name: &'static str, buffer: &'static str) -> Arg {
    arg(name, buffer, Access::In)
}

const fn output(name: &'static str, buffer: &'static str) -> Arg {
    arg(name, buffer, Access::Out)
}

const fn optional(own: Arg) -> Arg {
    Arg {
        optional: true,
        ..own
    }
}

const fn always(_: &Config) -> bool {
    true
}

const fn node(part: Part, op: &'static str, kernel: &'static str, args: &'static [Arg]) -> Node {
    Node {
        part,
        op,
        kernel,
        condition: None,
        args,
        exists: always,
    }
}

/// Every node, in an order in which they can run.
#[rustfmt::skip]
pub static NODES: &[Node] = &[
    node(Part::First, "embedding", "embedding_forward", &[
        input("table", "token_emb"), optional(input("pos", "pos_emb")), output("out", "embedded_input"),
    ]),
    node(Part::Layer, "rmsnorm", "rmsnorm_forward", &[
        input("input", "input"), input("gamma", "ln1_gamma"),
        output("out", "ln1_out"), optional(output("rstd", "ln1_rstd")),
    ]),
    node(Part::Layer, "qkv_project", "ck_qkv_project_head_major", &[
        input("input", "ln1_out"),
        input("wq", "wq"), optional(input("bq", "bq")),
        input("wk", "wk"), optional(input("bk", "bk")),
        input("wv", "wv"), optional(input("bv", "bv")),
        output("q", "q"), output("k", "k"), output("v", "v"),
    ]),
    Node { exists: |config| config.qk_norm, ..node(Part::Layer, "qk_norm", "rmsnorm_forward_qk", &[
        arg("q", "q", Access::InPlace), arg("k", "k", Access::InPlace),
        input("q_gamma", "q_norm"), input("k_gamma", "k_norm"),
    ]) },
    Node {
        condition: Some(WITH_ROPE), exists: |config| config.rope.is_some(),
        ..node(Part::Layer, "rope", "rope_forward_qk", &[
            arg("q", "q", Access::InPlace), arg("k", "k", Access::InPlace),
            input("cos_cache", "rope_cos_cache"), input("sin_cache", "rope_sin_cache"),
        ])
    },
    node(Part::Layer, "attention", "attention_forward_causal_head_major_gqa", &[
        input("q", "q"), input("k", "k"), input("v", "v"),
        optional(arg("scores", "scores", Access::Scratch)), output("attn_out", "attn_out"),
    ]),
    node(Part::Layer, "attn_proj", "ck_attention_project_head_major", &[
        input("attn_out", "attn_out"), input("wo", "wo"), optional(input("bo", "bo")),
        output("proj_tmp", "proj_tmp"), optional(arg("proj_scratch", "proj_scratch", Access::Scratch)),
    ]),
    node(Part::Layer, "residual_add", "ck_residual_add_token_major", &[
        input("a", "input"), input("b", "proj_tmp"), output("out", "residual1"),
    ]),
    node(Part::Layer, "rmsnorm", "rmsnorm_forward", &[
        input("input", "residual1"), input("gamma", "ln2_gamma"),
        output("out", "ln2_out"), optional(output("rstd", "ln2_rstd")),
    ]),
    node(Part::Layer, "mlp_up", "gemm_blocked_serial", &[
        input("input", "ln2_out"), input("w1", "w1"), optional(input("b1", "b1")), output("fc1_out", "fc1_out"),
    ]),
    node(Part::Layer, "swiglu", "swiglu_forward", &[
        input("fc1_out", "fc1_out"), output("swiglu_out", "swiglu_out"),
    ]),
    node(Part::Layer, "mlp_down", "gemm_blocked_serial", &[
        input("swiglu_out", "swiglu_out"), input("w2", "w2"), optional(input("b2", "b2")), output("mlp_out", "mlp_out"),
    ]),
    node(Part::Layer, "residual_add", "ck_residual_add_token_major", &[
        input("a", "residual1"), input("b", "mlp_out"), output("out", "output"),
    ]),
    node(Part::Last, "rmsnorm", "rmsnorm_forward", &[
        input("input", "output"), input("gamma", "final_ln_weight"),
        output("out", "final_output"), optional(output("rstd", "final_ln_rstd")),
    ]),
    node(Part::Last, "lm_head", "gemm_blocked_serial", &[
        input("input", "final_output"), input("w", "lm_head_weight"), output("logits", "logits"),
    ]),
];

impl Arg {
    /// Whether documents of `config` list it.
    pub fn is_listed(&self, config: &Config) -> bool {
        // Scores exist in training alone.
        self.buffer != "scores" && (self.buffer != "pos_emb" || config.rope.is_none())
    }
}

/// The nodes of `part` that the model of `config` has, in an order in which they can run.
pub fn nodes(config: &Config, part: Part) -> impl Iterator<Item = &'static Node> {
    NODES
        .iter()
        .filter(move |node| node.part == part && (node.exists)(config))
}

/// Whether `earlier` must run in front of `later` when it does in the table.
pub fn ordered(earlier: &Node, later: &Node) -> bool {
    let writes = |access: Access| matches!(access, Access::Out | Access::InPlace);
    earlier.args.iter().any(|first| {
        later.args.iter().any(|second| {
            first.buffer == second.buffer && (writes(first.access) || writes(second.access))
        })
    })
}
