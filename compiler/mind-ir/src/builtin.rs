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

    /// `x * y + z`, rounded once, at every position.
    ///
    /// Lowerings use it where the op that they lower fuses; no model format has it, so it is no op of core.
    ///
    /// Shapes: the shapes of all three broadcast.
    /// Order: one rounding; `f16` and `bf16` compute in `f32` and round that once.
    /// Errors: E2004 different dtypes, E2005 not a float, E3001 shapes do not broadcast.
    /// Source: IEEE 754, `fusedMultiplyAdd`.
    Fma = "builtin.fma" {
        operands: (x: Float, y: Float, z: Float),
        traits: [Pure, SameDType, Elementwise, Extended],
        names: {},
        scalar: Fma,
    }
}

/// The ops that every dialect's blocks need.
pub const DIALECT: Dialect = Dialect {
    name: "builtin",
    doc: "Ops that every dialect's blocks need.",
    ops: OPS,
};
