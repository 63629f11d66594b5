//! Elementwise rounding to integers, and the sign.

use mind_ir::ops;

ops! {
    /// -1 below zero and 1 above at every position; zeros keep their sign, and NaN gives NaN.
    ///
    /// Shapes: as the operand.
    /// Errors: E2005 `bool`.
    /// Source: ONNX `Sign`, MIL `sign`, StableHLO `sign`.
    Sign = "core.sign" {
        operands: (input: Num),
        traits: [Pure, Elementwise, Extended],
        names: { core: "Sign", mic1: "sign" },
        scalar: Sign,
    }

    /// The largest integer that is not above the operand, at every position; zeros keep their sign.
    ///
    /// Shapes: as the operand.
    /// Errors: E2005 not a float.
    /// Source: ONNX `Floor`, MIL `floor`, StableHLO `floor`.
    Floor = "core.floor" {
        operands: (input: Float),
        traits: [Pure, Elementwise, Extended],
        names: { core: "Floor", mic1: "floor" },
        scalar: Floor,
    }

    /// The smallest integer that is not below the operand, at every position; zeros keep their sign, and -0.3 gives -0.
    ///
    /// Shapes: as the operand.
    /// Errors: E2005 not a float.
    /// Source: ONNX `Ceil`, MIL `ceil`, StableHLO `ceil`.
    Ceil = "core.ceil" {
        operands: (input: Float),
        traits: [Pure, Elementwise, Extended],
        names: { core: "Ceil", mic1: "ceil" },
        scalar: Ceil,
    }

    /// The integer part at every position; zeros keep their sign, and -0.3 gives -0.
    ///
    /// Shapes: as the operand.
    /// Errors: E2005 not a float.
    /// Source: this compiler, the rounding of casts to integers.
    Trunc = "core.trunc" {
        operands: (input: Float),
        traits: [Pure, Elementwise, Extended],
        names: { core: "Trunc", mic1: "trunc" },
        scalar: Trunc,
    }

    /// The nearest integer, ties to even, at every position; zeros keep their sign, and -0.3 gives -0.
    ///
    /// Shapes: as the operand.
    /// Errors: E2005 not a float.
    /// Source: ONNX `Round`, MIL `round`, StableHLO `round_nearest_even`.
    Round = "core.round" {
        operands: (input: Float),
        traits: [Pure, Elementwise, Extended],
        names: { core: "Round", mic1: "round" },
        scalar: Round,
    }
}
