//! The nodes of a model, as the plan of its family has them.

use super::buffers::When;
use crate::attributes::Attribute;
use crate::condition::Mode;
use crate::config::Config;
use crate::experts::Among;
use crate::family::Stack;
use crate::kernels::Kernel;

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

impl Access {
    /// Whether the kernel writes the argument for others.
    pub const fn writes(self) -> bool {
        matches!(self, Access::Out | Access::InPlace)
    }
}

/// An argument that is bound.
#[derive(Debug)]
pub struct Arg {
    /// The name.
    pub name: &'static str,
    /// The buffer that is bound to it.
    pub buffer: String,
    /// What happens to it.
    pub access: Access,
    /// Whether a document may leave it out.
    pub optional: bool,
}

/// A call of a kernel.
#[derive(Debug)]
pub struct Node {
    /// The stack of layers that it belongs to.
    pub stack: Stack,
    /// Where it stands.
    pub part: Part,
    /// What it calls.
    pub kernel: &'static Kernel,
    /// When there is such a node; always without.
    pub when: Option<When>,
    /// Its arguments, in the order in which documents list them.
    pub args: Vec<Arg>,
    /// The layers that have it, of a node of layers.
    pub layers: Among,
}

impl Node {
    /// What it computes.
    pub fn op(&self) -> &'static str {
        self.kernel.op
    }

    /// Whether it reads a number of the configuration: its kernel does, its condition, or an argument that is bound is read by
    /// it.
    pub fn reads(&self, attribute: Attribute) -> bool {
        let mut args = self.kernel.args.iter();
        let by_arg = args.any(|own| own.reads.contains(&attribute) && self.arg(own.name).is_some());
        let when = self.when.as_ref();
        by_arg
            || self.kernel.reads.contains(&attribute)
            || when.is_some_and(|own| own.condition.names(attribute.key()))
    }

    /// Whether inference of the model of `config` has this node.
    pub fn exists(&self, config: &Config) -> bool {
        let when = self.when.as_ref();
        self.layers.occurs(config)
            && when.is_none_or(|own| own.condition.holds(config, Mode::Prefill))
    }

    /// The argument called `name`.
    pub fn arg(&self, name: &str) -> Option<&Arg> {
        self.args.iter().find(|own| own.name == name)
    }
}

impl Arg {
    /// Whether documents of `config` list it: what it is bound to must be there.
    pub fn is_listed(&self, config: &Config) -> bool {
        let buffer = config.family.buffer(&self.buffer);
        buffer.is_some_and(|own| own.exists(config))
    }
}

/// The nodes of `part` that the model of `config` has, in an order in which they can run.
pub fn nodes(config: &Config, part: Part) -> impl Iterator<Item = &'static Node> + use<'_> {
    let all = config.family.nodes();
    all.filter(move |node| node.part == part && node.exists(config))
}

/// The nodes of layers that have experts, or have none, in an order in which they can run.
pub fn layer_nodes(
    config: &Config,
    has_experts: bool,
) -> impl Iterator<Item = &'static Node> + use<'_> {
    nodes(config, Part::Layer).filter(move |node| node.layers.has(has_experts))
}

/// Whether `earlier` must run in front of `later` when it does in the plan.
pub fn ordered(earlier: &Node, later: &Node) -> bool {
    earlier.args.iter().any(|first| {
        later.args.iter().any(|second| {
            first.buffer == second.buffer && (first.access.writes() || second.access.writes())
        })
    })
}
