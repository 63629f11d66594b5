//! Elementwise powers, exponentials and logarithms.

use mind_ir::ops;

ops! {
    /// 2 to the power `input` at every position; exact for integers.
    ///
    /// Shapes: as the operand.
    /// Errors: E2005 not a float.
    /// Source: MIL `exp2`.
    Exp2 = "core.exp2" {
        operands: (input: Float),
        traits: [Pure, Elementwise, Extended],
        names: { core: "Exp2", mic1: "exp2" },
        scalar: Exp2,
    }

    /// `e^input - 1` at every position, accurate near 0; keeps -0.
    ///
    /// Shapes: as the operand.
    /// Errors: E2005 not a float.
    /// Source: StableHLO `exponential_minus_one`.
    Expm1 = "core.expm1" {
        operands: (input: Float),
        traits: [Pure, Elementwise, Extended],
        names: { core: "Expm1", mic1: "expm1" },
        scalar: Expm1,
    }

    /// The logarithm to base 2 at every position: exact for powers of two, -inf at 0, NaN below.
    ///
    /// Shapes: as the operand.
    /// Errors: E2005 not a float.
    /// Source: this compiler, the inverse of `Exp2`.
    Log2 = "core.log2" {
        operands: (input: Float),
        traits: [Pure, Elementwise, Extended],
        names: { core: "Log2", mic1: "log2" },
        scalar: Log2,
    }

    /// `ln(1 + input)` at every position, accurate near 0: keeps -0, -inf at -1, NaN below.
    ///
    /// Shapes: as the operand.
    /// Errors: E2005 not a float.
    /// Source: StableHLO `log_plus_one`.
    Log1p = "core.log1p" {
        operands: (input: Float),
        traits: [Pure, Elementwise, Extended],
        names: { core: "Log1p", mic1: "log1p" },
        scalar: Log1p,
    }

    /// `1 / sqrt(input)` at every position, the root and the quotient each rounded: +0 gives inf, -0 gives -inf,
    /// numbers below zero give NaN.
    ///
    /// Shapes: as the operand.
    /// Errors: E2005 not a float.
    /// Source: MIL `rsqrt`, StableHLO `rsqrt`.
    Rsqrt = "core.rsqrt" {
        operands: (input: Float),
        traits: [Pure, Elementwise, Extended],
        names: { core: "Rsqrt", mic1: "rsqrt" },
        scalar: Rsqrt,
    }

    /// `base` to the power `exponent` at every position, as in IEEE 754: an exponent of 0 or a base of 1 gives 1, even
    /// with NaN. Exponents 1, 2, -1 and 1/2 give exactly `base`, its square, its inverse and its root. Integers wrap,
    /// and truncate toward zero for negative exponents.
    ///
    /// Shapes: the operands' shapes broadcast.
    /// Errors: E2004 different dtypes, E2005 `bool`, E3001 shapes do not broadcast; E6005 when run, on
    /// an integer 0 to a negative exponent.
    /// Source: ONNX `Pow`, MIL `pow`, StableHLO `power`.
    Pow = "core.pow" {
        operands: (base: Num, exponent: Num),
        traits: [Pure, SameDType, Elementwise, Extended],
        names: { core: "Pow", mic1: "pow" },
        scalar: Pow,
    }
}
