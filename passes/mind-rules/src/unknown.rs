//! Stand-ins for values of modules that are not there.

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
