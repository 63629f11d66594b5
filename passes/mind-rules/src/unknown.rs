//! The placeholder op for values of which only the type is known.

use mind_ir::ops;

ops! {
    /// A value of which only the type is known.
    ///
    /// Shapes: any.
    /// Errors: none.
    /// Source: this compiler.
    Unknown = "eqsat.unknown" {
        traits: [Interface],
        names: {},
    }
}
