//! What the lines of kinds hold in the form in which they are printed.

use mind_ir::opdef::{OpDef, Results};

/// What the plain line of a kind holds.
#[derive(Clone, Copy)]
pub(super) enum Plain {
    /// Operands only, at most two.
    Operands(usize),
    /// The name of an input.
    Name {
        /// Whether it is a weight.
        param: bool,
    },
    /// More than that.
    No,
}

impl Plain {
    /// The plain form of an op that is read as its table entry says.
    pub(super) fn of(def: &OpDef) -> Plain {
        let single = def.results == Results::One;
        let fixed = single && def.variadic.is_none() && def.optional.is_none();
        match (def.attrs.len(), def.operands.len()) {
            (0, arity @ 0..=2) if fixed => Plain::Operands(arity),
            _ => Plain::No,
        }
    }
}
