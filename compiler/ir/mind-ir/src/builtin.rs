//! Ops that all dialects share.

use crate::opdef::Dialect;

crate::ops! {
    /// Ends a block and yields its results: the outputs of the module, or the results of a region.
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
    /// Lowerings create it for ops that are defined with a fused multiply-add, for example interpolation. It is not in
    /// `core` because no supported model format has it.
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

/// The ops that all dialects share.
pub const DIALECT: Dialect = Dialect {
    name: "builtin",
    doc: "Ops that all dialects share.",
    ops: OPS,
};
