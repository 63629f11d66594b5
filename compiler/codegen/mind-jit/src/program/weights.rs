//! Lifetimes of weights and large constants.

use mind_ir::attr::{Attr, Literal};
use mind_ir::{Graph, OpId};

/// How long the weights of a program stay valid, and where its large constants are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Weights {
    /// Weights are valid in every run. Constants are one block.
    Stay,
    /// Weights are valid only while they are bound; those that runs read directly are copied. Constants are one block.
    Copied,
    /// As `Copied`, but large constants are bound as weights and stay in the memory of the module.
    Shared,
    /// As `Shared`, but those constants are valid in every run, with the alignment of vectors.
    Embedded,
}

/// The minimal size in bytes of a constant with an array of its own.
const LARGE: usize = 1 << 12;

impl Weights {
    /// Returns the elements of the constant `op`, if it is bound as a weight.
    pub(super) fn shared(self, g: &Graph, op: OpId) -> Option<&Literal<'_>> {
        match (self, g.attrs(op)) {
            (Weights::Shared | Weights::Embedded, [Attr::Literal(literal)]) => {
                (!literal.is_splat() && literal.bytes.len() >= LARGE).then_some(literal)
            }
            _ => None,
        }
    }
}
