//! Elementwise trigonometric and hyperbolic functions and their inverses.

use mind_ir::ops;

ops! {
    /// The sine of an angle in radians at every position, accurate for angles of any size; NaN for infinities.
    ///
    /// Shapes: as the operand.
    /// Errors: E2005 not a float.
    /// Source: ONNX `Sin`, MIL `sin`, StableHLO `sine`.
    Sin = "core.sin" {
        operands: (input: Float),
        traits: [Pure, Elementwise, Extended],
        names: { core: "Sin", mic1: "sin" },
        scalar: Sin,
    }

    /// The cosine of an angle in radians at every position, accurate for angles of any size; NaN for infinities.
    ///
    /// Shapes: as the operand.
    /// Errors: E2005 not a float.
    /// Source: ONNX `Cos`, MIL `cos`, StableHLO `cosine`.
    Cos = "core.cos" {
        operands: (input: Float),
        traits: [Pure, Elementwise, Extended],
        names: { core: "Cos", mic1: "cos" },
        scalar: Cos,
    }

    /// The tangent of an angle in radians at every position, accurate for angles of any size; NaN for infinities.
    ///
    /// Shapes: as the operand.
    /// Errors: E2005 not a float.
    /// Source: ONNX `Tan`, MIL `tan`, StableHLO `tan`.
    Tan = "core.tan" {
        operands: (input: Float),
        traits: [Pure, Elementwise, Extended],
        names: { core: "Tan", mic1: "tan" },
        scalar: Tan,
    }

    /// The hyperbolic sine at every position.
    ///
    /// Shapes: as the operand.
    /// Errors: E2005 not a float.
    /// Source: ONNX `Sinh`, MIL `sinh`.
    Sinh = "core.sinh" {
        operands: (input: Float),
        traits: [Pure, Elementwise, Extended],
        names: { core: "Sinh", mic1: "sinh" },
        scalar: Sinh,
    }

    /// The hyperbolic cosine at every position.
    ///
    /// Shapes: as the operand.
    /// Errors: E2005 not a float.
    /// Source: ONNX `Cosh`, MIL `cosh`.
    Cosh = "core.cosh" {
        operands: (input: Float),
        traits: [Pure, Elementwise, Extended],
        names: { core: "Cosh", mic1: "cosh" },
        scalar: Cosh,
    }

    /// The arc sine at every position, in radians; NaN outside of [-1, 1].
    ///
    /// Shapes: as the operand.
    /// Errors: E2005 not a float.
    /// Source: ONNX `Asin`, MIL `asin`.
    Asin = "core.asin" {
        operands: (input: Float),
        traits: [Pure, Elementwise, Extended],
        names: { core: "Asin", mic1: "asin" },
        scalar: Asin,
    }

    /// The arc cosine at every position, in radians; NaN outside of [-1, 1].
    ///
    /// Shapes: as the operand.
    /// Errors: E2005 not a float.
    /// Source: ONNX `Acos`, MIL `acos`.
    Acos = "core.acos" {
        operands: (input: Float),
        traits: [Pure, Elementwise, Extended],
        names: { core: "Acos", mic1: "acos" },
        scalar: Acos,
    }

    /// The arc tangent at every position, in radians.
    ///
    /// Shapes: as the operand.
    /// Errors: E2005 not a float.
    /// Source: ONNX `Atan`, MIL `atan`.
    Atan = "core.atan" {
        operands: (input: Float),
        traits: [Pure, Elementwise, Extended],
        names: { core: "Atan", mic1: "atan" },
        scalar: Atan,
    }

    /// The inverse of the hyperbolic sine at every position.
    ///
    /// Shapes: as the operand.
    /// Errors: E2005 not a float.
    /// Source: ONNX `Asinh`.
    Asinh = "core.asinh" {
        operands: (input: Float),
        traits: [Pure, Elementwise, Extended],
        names: { core: "Asinh", mic1: "asinh" },
        scalar: Asinh,
    }

    /// The inverse of the hyperbolic cosine at every position; NaN below 1.
    ///
    /// Shapes: as the operand.
    /// Errors: E2005 not a float.
    /// Source: ONNX `Acosh`.
    Acosh = "core.acosh" {
        operands: (input: Float),
        traits: [Pure, Elementwise, Extended],
        names: { core: "Acosh", mic1: "acosh" },
        scalar: Acosh,
    }

    /// The inverse of the hyperbolic tangent at every position: infinite at -1 and 1, NaN outside of [-1, 1].
    ///
    /// Shapes: as the operand.
    /// Errors: E2005 not a float.
    /// Source: ONNX `Atanh`, MIL `atanh`.
    Atanh = "core.atanh" {
        operands: (input: Float),
        traits: [Pure, Elementwise, Extended],
        names: { core: "Atanh", mic1: "atanh" },
        scalar: Atanh,
    }

    /// The angle of the point (`x`, `y`) at every position, from -pi to pi; the signs of zeros and the quadrants of
    /// infinities count.
    ///
    /// Shapes: the operands' shapes broadcast.
    /// Errors: E2004 different dtypes, E2005 not a float, E3001 shapes do not broadcast.
    /// Source: StableHLO `atan2`.
    Atan2 = "core.atan2" {
        operands: (y: Float, x: Float),
        traits: [Pure, SameDType, Elementwise, Extended],
        names: { core: "Atan2", mic1: "atan2" },
        scalar: Atan2,
    }
}
