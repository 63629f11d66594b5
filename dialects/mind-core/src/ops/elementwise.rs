//! Ops that apply one scalar function at every position.

use mind_ir::ops;

ops! {
    /// `lhs + rhs` at every position.
    ///
    /// Shapes: the operands' shapes broadcast.
    /// Errors: E2004 different dtypes, E2005 `bool`, E3001 shapes do not broadcast.
    /// Source: mind-spec v1.0 ir.md, "Binary operations".
    Add = "core.add" {
        operands: (lhs: Num, rhs: Num),
        traits: [Pure, Commutative, SameDType, Elementwise],
        names: { core: "Add", mic1: "add", mic2: "+" },
        scalar: Add,
    }

    /// `lhs - rhs` at every position.
    ///
    /// Shapes: the operands' shapes broadcast.
    /// Errors: E2004 different dtypes, E2005 `bool`, E3001 shapes do not broadcast.
    /// Source: mind-spec v1.0 ir.md, "Binary operations".
    Sub = "core.sub" {
        operands: (lhs: Num, rhs: Num),
        traits: [Pure, SameDType, Elementwise],
        names: { core: "Sub", mic1: "sub", mic2: "-" },
        scalar: Sub,
    }

    /// `lhs * rhs` at every position.
    ///
    /// Shapes: the operands' shapes broadcast.
    /// Errors: E2004 different dtypes, E2005 `bool`, E3001 shapes do not broadcast.
    /// Source: mind-spec v1.0 ir.md, "Binary operations".
    Mul = "core.mul" {
        operands: (lhs: Num, rhs: Num),
        traits: [Pure, Commutative, SameDType, Elementwise],
        names: { core: "Mul", mic1: "mul", mic2: "*" },
        scalar: Mul,
    }

    /// `lhs / rhs` at every position; integers truncate toward zero.
    ///
    /// Shapes: the operands' shapes broadcast.
    /// Errors: E2004 different dtypes, E2005 `bool`, E3001 shapes do not broadcast; E6005 when run, on
    /// an integer divided by zero, and on the least one divided by -1.
    /// Source: mic@1 `div`; mic@2 `/`.
    Div = "core.div" {
        operands: (lhs: Num, rhs: Num),
        traits: [Pure, SameDType, Elementwise, Extended],
        names: { core: "Div", mic1: "div", mic2: "/" },
        scalar: Div,
    }

    /// The modulus of `lhs` by `rhs` at every position, with the sign of `rhs`.
    ///
    /// It is `Remainder`, plus `rhs` if their signs differ; the addition rounds a float once. A zero has the sign of
    /// `rhs`. An infinite `rhs` gives `lhs`, or `rhs` if the signs differ. For example the modulus of -7 by 3 is 2.
    ///
    /// Shapes: the operands' shapes broadcast.
    /// Errors: E2004 different dtypes, E2005 `bool`, E3001 shapes do not broadcast; E6005 when run, on
    /// an integer divided by zero.
    /// Source: this compiler; ONNX `Mod`, MIL `mod`.
    Mod = "core.mod" {
        operands: (lhs: Num, rhs: Num),
        traits: [Pure, SameDType, Elementwise, Extended],
        names: { core: "Mod", mic1: "mod" },
        scalar: Mod,
    }

    /// The exact remainder of `lhs / rhs` with a truncated quotient, at every position; it has the sign of `lhs`.
    ///
    /// A zero has the sign of `lhs` too. An infinite `rhs` gives `lhs`; an infinite `lhs` and a float `rhs` of zero
    /// give NaN. For example the remainder of -7 by 3 is -1.
    ///
    /// Shapes: the operands' shapes broadcast.
    /// Errors: E2004 different dtypes, E2005 `bool`, E3001 shapes do not broadcast; E6005 when run, on
    /// an integer divided by zero.
    /// Source: this compiler; ONNX `Mod` with `fmod`, StableHLO `remainder`, C `fmod`.
    Remainder = "core.remainder" {
        operands: (lhs: Num, rhs: Num),
        traits: [Pure, SameDType, Elementwise, Extended],
        names: { core: "Remainder", mic1: "remainder" },
        scalar: Remainder,
    }

    /// The larger operand at every position; NaN if either is NaN, +0 above -0.
    ///
    /// Shapes: the operands' shapes broadcast.
    /// Errors: E2004 different dtypes, E2005 `bool`, E3001 shapes do not broadcast.
    /// Source: this compiler, for written-out attention and clamps.
    Maximum = "core.maximum" {
        operands: (lhs: Num, rhs: Num),
        traits: [Pure, Commutative, SameDType, Elementwise, Extended],
        names: { core: "Maximum", mic1: "maximum" },
        scalar: Maximum,
    }

    /// The smaller operand at every position; NaN if either is NaN, -0 below +0.
    ///
    /// Shapes: the operands' shapes broadcast.
    /// Errors: E2004 different dtypes, E2005 `bool`, E3001 shapes do not broadcast.
    /// Source: this compiler, for written-out clamps.
    Minimum = "core.minimum" {
        operands: (lhs: Num, rhs: Num),
        traits: [Pure, Commutative, SameDType, Elementwise, Extended],
        names: { core: "Minimum", mic1: "minimum" },
        scalar: Minimum,
    }

    /// `input > 0 ? input : 0` at every position, so that NaN gives 0.
    ///
    /// Shapes: as the operand.
    /// Errors: E2005 `bool`; E4012 integers in profile `core-v1`.
    /// Source: mind-spec v1.0 ir.md, "Activation and elementwise unary operations".
    Relu = "core.relu" {
        operands: (input: Num),
        traits: [Pure, Elementwise],
        names: { core: "Relu", mic1: "relu", mic2: "r" },
        scalar: Relu,
        core_v1: |op, g| g.ty(op.input(g)).dtype.is_float(),
    }

    /// `-input` at every position.
    ///
    /// Shapes: as the operand.
    /// Errors: E2005 `bool` and unsigned integers.
    /// Source: mind-spec v1.0 ir.md, "Activation and elementwise unary operations".
    Neg = "core.neg" {
        operands: (input: Signed),
        traits: [Pure, Elementwise],
        names: { core: "Neg", mic1: "neg" },
        scalar: Neg,
    }

    /// `e^input` at every position.
    ///
    /// Shapes: as the operand.
    /// Errors: E2005 not a float.
    /// Source: mind-spec v1.0 ir.md, "Activation and elementwise unary operations".
    Exp = "core.exp" {
        operands: (input: Float),
        traits: [Pure, Elementwise],
        names: { core: "Exp", mic1: "exp" },
        scalar: Exp,
    }

    /// The natural logarithm at every position: -inf at 0, NaN below.
    ///
    /// Shapes: as the operand.
    /// Errors: E2005 not a float.
    /// Source: mind-spec v1.0 ir.md, "Activation and elementwise unary operations".
    Log = "core.log" {
        operands: (input: Float),
        traits: [Pure, Elementwise],
        names: { core: "Log", mic1: "log" },
        scalar: Log,
    }

    /// The magnitude at every position.
    ///
    /// Shapes: as the operand.
    /// Errors: E2005 `bool`.
    /// Source: this compiler.
    Abs = "core.abs" {
        operands: (input: Num),
        traits: [Pure, Elementwise, Extended],
        names: { core: "Abs", mic1: "abs" },
        scalar: Abs,
    }

    /// The square root at every position, correctly rounded; NaN below zero.
    ///
    /// Shapes: as the operand.
    /// Errors: E2005 not a float.
    /// Source: this compiler, for written-out normalisation.
    Sqrt = "core.sqrt" {
        operands: (input: Float),
        traits: [Pure, Elementwise, Extended],
        names: { core: "Sqrt", mic1: "sqrt" },
        scalar: Sqrt,
    }

    /// The error function at every position.
    ///
    /// Shapes: as the operand.
    /// Errors: E2005 not a float.
    /// Source: this compiler, for written-out gelu.
    Erf = "core.erf" {
        operands: (input: Float),
        traits: [Pure, Elementwise, Extended],
        names: { core: "Erf", mic1: "erf" },
        scalar: Erf,
    }

    /// `1 / (1 + e^-input)` at every position.
    ///
    /// Shapes: as the operand.
    /// Errors: E2005 not a float.
    /// Source: mic@2 `sig`.
    Sigmoid = "core.sigmoid" {
        operands: (input: Float),
        traits: [Pure, Elementwise, Extended],
        names: { core: "Sigmoid", mic1: "sigmoid", mic2: "sig" },
        scalar: Sigmoid,
    }

    /// The hyperbolic tangent at every position.
    ///
    /// Shapes: as the operand.
    /// Errors: E2005 not a float.
    /// Source: mic@2 `th`.
    Tanh = "core.tanh" {
        operands: (input: Float),
        traits: [Pure, Elementwise, Extended],
        names: { core: "Tanh", mic1: "tanh", mic2: "th" },
        scalar: Tanh,
    }

    /// `input (1 + erf(input / sqrt 2)) / 2` at every position.
    ///
    /// Shapes: as the operand.
    /// Errors: E2005 not a float.
    /// Source: mic@2 `gelu`.
    Gelu = "core.gelu" {
        operands: (input: Float),
        traits: [Pure, Elementwise, Extended],
        names: { core: "Gelu", mic1: "gelu", mic2: "gelu" },
        scalar: Gelu,
    }
}
