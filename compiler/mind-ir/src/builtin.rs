//! Ops that every dialect's blocks need.

use crate::opdef::Dialect;

crate::ops! {
    /// Ends a block and gives its results: the module's outputs, or what a region computes.
    ///
    /// Shapes: any.
    /// Errors: E4003 when the module's body yields nothing.
    /// Source: mind-spec v1.0 ir.md, "Module contents".
    Yield = "builtin.yield" {
        variadic: (values: Any),
        results: None,
        traits: [Terminator],
        names: { core: "yield" },
    }
}

/// The ops that every dialect's blocks need.
pub const DIALECT: Dialect = Dialect {
    name: "builtin",
    doc: "Ops that every dialect's blocks need.",
    ops: OPS,
};
