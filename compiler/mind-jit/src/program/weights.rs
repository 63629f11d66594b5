//! How long weights and large constants stay where they are.

use mind_ir::attr::{Attr, Literal};
use mind_ir::{Graph, OpId};

/// How long weights stay where a program is given them, and where its large constants are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Weights {
    /// Weights stay for every run. Constants are one block.
    Stay,
    /// Weights stay while they are bound: those that runs read as they are, are copied then. Constants are one block.
    Copied,
    /// As `Copied`, and large constants are weights that the program brings, where the module has them.
    Shared,
    /// As `Shared`, and those constants stay for every run, aligned as widely as vectors.
    Embedded,
}

/// The least size in bytes of a constant with a separate array.
const LARGE: usize = 1 << 12;

impl Weights {
    /// The elements of the constant that `op` makes, if they stay where the module has them.
    pub(super) fn shared(self, g: &Graph, op: OpId) -> Option<&Literal<'_>> {
        match (self, g.attrs(op)) {
            (Weights::Shared | Weights::Embedded, [Attr::Literal(literal)]) => {
                (!literal.is_splat() && literal.bytes.len() >= LARGE).then_some(literal)
            }
            _ => None,
        }
    }
}
