//! Imports nodes into the branches of a conditional.
//!
//! The branches of an ONNX `If` may yield tensors of different rank, for example one that squeezes a dimension and one
//! that keeps it, but an `If` of core yields one type. Nodes that depend on such a conditional are imported once in
//! each branch, where the rank is known.

use mind_convert::Refusal;
use mind_diag::Code;
use rustc_hash::FxHashSet;

use super::emit::Emit;
use super::scope::{Scope, read_names};
use super::{Importer, Opsets};
use crate::operators;
use crate::proto::{AttributeProto, GraphProto, NodeProto, ValueInfoProto};

/// Maximum nesting depth of conditionals whose branches are extended, because each doubles the work.
const MOST_CONTINUED: usize = 6;

/// A conditional whose branches yield different types, and the nodes that depend on it.
pub(super) struct Later<'n> {
    pub choice: &'n NodeProto,
    /// Why the conditional cannot be imported unchanged.
    pub refusal: Refusal,
    names: FxHashSet<&'n str>,
    nodes: Vec<&'n NodeProto>,
}

impl<'n> Later<'n> {
    pub fn new(choice: &'n NodeProto, refusal: Refusal) -> Later<'n> {
        Later {
            choice,
            refusal,
            names: choice.output.iter().map(|name| &name[..]).collect(),
            nodes: Vec::new(),
        }
    }

    /// Returns whether a node depends on the conditional.
    pub fn is_read_by(&self, node: &NodeProto) -> bool {
        read_names(node)
            .iter()
            .any(|name| self.names.contains(name))
    }

    /// Adds a node that depends on the conditional, or another conditional of this kind.
    pub fn push(&mut self, node: &'n NodeProto) {
        self.names.extend(node.output.iter().map(|name| &name[..]));
        self.nodes.push(node);
    }

    /// Returns the conditional with all dependent nodes moved into both branches, which yield `wanted`.
    fn continued(&self, wanted: &[&str]) -> NodeProto {
        let attributes = self.choice.attribute.iter();
        let attributes = attributes.map(|own| AttributeProto {
            g: own.g.as_ref().map(|branch| self.longer(branch, wanted)),
            ..own.clone()
        });
        NodeProto {
            attribute: attributes.collect(),
            output: wanted.iter().map(|&name| name.to_owned()).collect(),
            ..self.choice.clone()
        }
    }

    /// Returns a branch extended by the nodes that depend on the conditional.
    fn longer(&self, branch: &GraphProto, wanted: &[&str]) -> GraphProto {
        let results = branch.output.iter().zip(&self.choice.output);
        let copies = results.map(|(inner, outer)| NodeProto {
            op_type: "Identity".to_owned(),
            input: vec![inner.name.clone()],
            output: vec![outer.clone()],
            ..NodeProto::default()
        });
        let rest = self.nodes.iter().map(|&node| node.clone());
        let nodes = branch.node.iter().cloned().chain(copies).chain(rest);
        let output = wanted.iter().map(|&name| ValueInfoProto {
            name: name.to_owned(),
            ..ValueInfoProto::default()
        });
        GraphProto {
            node: nodes.collect(),
            output: output.collect(),
            ..branch.clone()
        }
    }
}

/// Returns whether a node was refused because the branches of a conditional yield different types.
pub(super) fn differs_in_branches(node: &NodeProto, refusal: &Refusal) -> bool {
    let is_choice = node.op_type == "If" && operators::domain(&node.domain).is_empty();
    is_choice && refusal.code() == Code(2001)
}

impl Importer<'_> {
    /// Imports a conditional together with the nodes that depend on it, and defines those of `outputs` that they
    /// compute.
    ///
    /// # Errors
    ///
    /// The refusal of the conditional, if only its own results are outputs or the nesting is too deep, and the refusal
    /// of the extended one if its branches still yield different types.
    pub(super) fn in_branches<'n>(
        &mut self,
        later: &Later<'_>,
        outputs: &[&'n str],
        opsets: &Opsets<'_>,
        scope: &mut Scope<'n>,
        e: &mut Emit<'_>,
    ) -> Result<(), Refusal> {
        let mut wanted: Vec<&'n str> = Vec::new();
        for &name in outputs {
            if later.names.contains(name) && !wanted.contains(&name) {
                wanted.push(name);
            }
        }
        let is_own = |name: &&str| later.choice.output.iter().any(|own| own == name);
        if self.continued == MOST_CONTINUED || wanted.iter().all(is_own) {
            let help = "the branches must yield tensors of one rank where the result is an output of the graph";
            return Err(later.refusal.clone().or_help(help));
        }
        let node = later.continued(&wanted);
        self.continued += 1;
        let made = self.node(&node, opsets, scope, e);
        self.continued -= 1;
        for (&name, value) in wanted.iter().zip(made?) {
            scope.define(name, value);
        }
        Ok(())
    }
}
