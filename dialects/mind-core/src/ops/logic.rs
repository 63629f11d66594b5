//! Logical and bitwise ops.

use mind_ir::ops;

ops! {
    /// The bits that are set in both operands; of `bool`, whether both are true.
    ///
    /// Shapes: the operands' shapes broadcast.
    /// Errors: E2004 different dtypes, E2005 floats, E3001 shapes do not broadcast.
    /// Source: this compiler; ONNX `And` and `BitwiseAnd`.
    And = "core.and" {
        operands: (lhs: Bits, rhs: Bits),
        traits: [Pure, Commutative, SameDType, Elementwise, Extended],
        names: { core: "And", mic1: "and" },
        scalar: And,
    }

    /// The bits that are set in either operand; of `bool`, whether either is true.
    ///
    /// Shapes: the operands' shapes broadcast.
    /// Errors: E2004 different dtypes, E2005 floats, E3001 shapes do not broadcast.
    /// Source: this compiler; ONNX `Or` and `BitwiseOr`.
    Or = "core.or" {
        operands: (lhs: Bits, rhs: Bits),
        traits: [Pure, Commutative, SameDType, Elementwise, Extended],
        names: { core: "Or", mic1: "or" },
        scalar: Or,
    }

    /// The bits in which the operands differ; of `bool`, whether exactly one is true.
    ///
    /// Shapes: the operands' shapes broadcast.
    /// Errors: E2004 different dtypes, E2005 floats, E3001 shapes do not broadcast.
    /// Source: this compiler; ONNX `Xor` and `BitwiseXor`.
    Xor = "core.xor" {
        operands: (lhs: Bits, rhs: Bits),
        traits: [Pure, Commutative, SameDType, Elementwise, Extended],
        names: { core: "Xor", mic1: "xor" },
        scalar: Xor,
    }

    /// Every bit flipped; of `bool`, whether the operand is false.
    ///
    /// Shapes: as the operand.
    /// Errors: E2005 a float.
    /// Source: this compiler; ONNX `Not` and `BitwiseNot`.
    Not = "core.not" {
        operands: (input: Bits),
        traits: [Pure, Elementwise, Extended],
        names: { core: "Not", mic1: "not" },
        scalar: Not,
    }

    /// `lhs` shifted left by `rhs` bits; 0 if `rhs` is negative or not less than the width.
    ///
    /// Shapes: the operands' shapes broadcast.
    /// Errors: E2004 different dtypes, E2005 not integers, E3001 shapes do not broadcast.
    /// Source: this compiler; ONNX `BitShift`, StableHLO `shift_left`.
    ShiftLeft = "core.shift_left" {
        operands: (lhs: Integer, rhs: Integer),
        traits: [Pure, SameDType, Elementwise, Extended],
        names: { core: "ShiftLeft", mic1: "shl" },
        scalar: ShiftLeft,
    }

    /// `lhs` shifted right by `rhs` bits: arithmetic for signed integers, logical for unsigned ones. If `rhs` is
    /// negative or not less than the width, every bit is a copy of the sign, or 0 if unsigned.
    ///
    /// Shapes: the operands' shapes broadcast.
    /// Errors: E2004 different dtypes, E2005 not integers, E3001 shapes do not broadcast.
    /// Source: this compiler; ONNX `BitShift`, StableHLO `shift_right_arithmetic` and `shift_right_logical`.
    ShiftRight = "core.shift_right" {
        operands: (lhs: Integer, rhs: Integer),
        traits: [Pure, SameDType, Elementwise, Extended],
        names: { core: "ShiftRight", mic1: "shr" },
        scalar: ShiftRight,
    }
}
