//! The nodes of a model, from the plan of its family.

use super::buffers::When;
use crate::attributes::Attribute;
use crate::condition::Mode;
use crate::config::Config;
use crate::experts::Among;
use crate::family::Stack;
use crate::kernels::Kernel;

/// The position of a node relative to the layers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum PlanSection {
    /// Before the layers.
    First,
    /// In each layer.
    Layer,
    /// After the layers.
    Last,
}

/// How a kernel accesses an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Read.
    In,
    /// Written.
    Out,
    /// Read and overwritten.
    InPlace,
    /// Workspace, which other nodes do not read.
    Scratch,
}

impl Access {
    /// Returns whether the kernel writes the argument for other nodes.
    pub const fn writes(self) -> bool {
        matches!(self, Access::Out | Access::InPlace)
    }
}

/// A bound argument.
#[derive(Debug)]
pub struct Arg {
    /// The name.
    pub name: &'static str,
    /// The buffer that is bound to it.
    pub buffer: String,
    /// How the kernel accesses it.
    pub access: Access,
    /// Whether a document may omit it.
    pub optional: bool,
}

/// A call of a kernel.
#[derive(Debug)]
pub struct Node {
    /// The stack of layers that it belongs to.
    pub stack: Stack,
    /// Its position relative to the layers.
    pub section: PlanSection,
    /// The kernel that it calls.
    pub kernel: &'static Kernel,
    /// The condition under which the node exists; `None` for always.
    pub when: Option<When>,
    /// Its arguments, in the order of documents.
    pub args: Vec<Arg>,
    /// The layers that have it, for a node of layers.
    pub layers: Among,
}

impl Node {
    /// Returns the op that it computes.
    pub fn op(&self) -> &'static str {
        self.kernel.op
    }

    /// Returns whether it reads an attribute: by its kernel, by its condition, or by an argument that is bound.
    pub fn reads(&self, attribute: Attribute) -> bool {
        let mut args = self.kernel.args.iter();
        let by_arg = args.any(|own| own.reads.contains(&attribute) && self.arg(own.name).is_some());
        let when = self.when.as_ref();
        by_arg
            || self.kernel.reads.contains(&attribute)
            || when.is_some_and(|own| own.condition.names(attribute.key()))
    }

    /// Returns whether the model of `config` has it in inference.
    pub fn exists(&self, config: &Config) -> bool {
        let when = self.when.as_ref();
        self.layers.occurs(config)
            && when.is_none_or(|own| own.condition.holds(config, Mode::Prefill))
    }

    /// Returns the argument called `name`.
    pub fn arg(&self, name: &str) -> Option<&Arg> {
        self.args.iter().find(|own| own.name == name)
    }
}

impl Arg {
    /// Returns whether documents of `config` list it, which they do if its buffer exists.
    pub fn is_listed(&self, config: &Config) -> bool {
        let buffer = config.family.buffer(&self.buffer);
        buffer.is_some_and(|own| own.exists(config))
    }
}

/// Returns the nodes of `section` that the model of `config` has, in execution order.
pub fn nodes(
    config: &Config,
    section: PlanSection,
) -> impl Iterator<Item = &'static Node> + use<'_> {
    let all = config.family.nodes();
    all.filter(move |node| node.section == section && node.exists(config))
}

/// Returns the nodes of a layer with experts, or without if `has_experts` is false, in execution order.
pub fn layer_nodes(
    config: &Config,
    has_experts: bool,
) -> impl Iterator<Item = &'static Node> + use<'_> {
    nodes(config, PlanSection::Layer).filter(move |node| node.layers.has(has_experts))
}

/// Returns whether `earlier`, which precedes `later` in the plan, must also run before it.
pub fn ordered(earlier: &Node, later: &Node) -> bool {
    earlier.args.iter().any(|first| {
        later.args.iter().any(|second| {
            first.buffer == second.buffer && (first.access.writes() || second.access.writes())
        })
    })
}
