//! Canonical forms of node lines that the fast path reads.

use mind_ir::opdef::{OpDef, Results};

/// Contents of the canonical node line of a kind.
#[derive(Clone, Copy)]
pub(super) enum Plain {
    /// At most two operands and nothing else.
    Operands(usize),
    /// The name of an input.
    Name {
        /// Whether it is a weight.
        param: bool,
    },
    /// Anything else; left to the general reader.
    No,
}

impl Plain {
    /// Returns the form of an op whose line has the regular layout of its table entry.
    pub(super) fn of(def: &OpDef) -> Plain {
        let single = def.results == Results::One;
        let fixed = single && def.variadic.is_none() && def.optional.is_none();
        match (def.attrs.len(), def.operands.len()) {
            (0, arity @ 0..=2) if fixed => Plain::Operands(arity),
            _ => Plain::No,
        }
    }
}
