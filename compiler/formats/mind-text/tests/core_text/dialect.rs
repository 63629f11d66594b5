//! A dialect with features that the core dialect lacks: ops without Core names, without results and with several
//! bodies, and attributes of every kind.

use mind_ir::opdef::Dialect;

mind_ir::ops! {
    /// Attributes of every kind that is not a constant.
    Everything = "test.everything" {
        variadic: (inputs: Any),
        attrs: {
            int: Int, flag: Bool = true, real: Float, name: Str, list: Ints, dims: Dims, pad: Pad,
        },
        traits: [],
        names: {},
    }

    /// A constant with an attribute of its own.
    Weights = "test.weights" {
        attrs: { scale: Float = 1.0, data: LiteralData },
        traits: [DeclaresType],
        names: {},
    }

    /// No result.
    Store = "test.store" {
        operands: (value: Any),
        attrs: { at: Int },
        results: None,
        traits: [],
        names: {},
    }

    /// Two bodies.
    Choose = "test.choose" {
        operands: (condition: Any),
        results: Many,
        regions: 2,
        traits: [],
        names: {},
    }

    /// A name that the core dialect already uses.
    Sum = "test.sum" {
        operands: (value: Any),
        traits: [],
        names: { core: "Sum" },
    }
}

/// The ops above.
pub const DIALECT: Dialect = Dialect {
    name: "test",
    doc: "Ops for tests.",
    ops: OPS,
};
