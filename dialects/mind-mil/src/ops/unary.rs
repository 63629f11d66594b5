//! Functions of one tensor, at every position.

use crate::eval;
use crate::infer;
use crate::row::mil_ops;
use crate::signature::{A, B, F, N, S, WA, arg, fixed};

mil_ops! {
    /// The magnitude at every position.
    ABS = "abs" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", N).of(1)],
        ],
        infer: infer::elementwise::same,
        eval: eval::elementwise::unary,
    }

    /// The inverse cosine at every position.
    ACOS = "acos" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1)],
        ],
        infer: infer::elementwise::same,
        eval: eval::elementwise::unary,
    }

    /// The inverse sine at every position.
    ASIN = "asin" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1)],
        ],
        infer: infer::elementwise::same,
        eval: eval::elementwise::unary,
    }

    /// The inverse tangent at every position.
    ATAN = "atan" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1)],
        ],
        infer: infer::elementwise::same,
        eval: eval::elementwise::unary,
    }

    /// The inverse hyperbolic tangent at every position.
    ATANH = "atanh" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1)],
        ],
        infer: infer::elementwise::same,
        eval: eval::elementwise::unary,
    }

    /// The elements in the element type that `dtype` names.
    CAST = "cast" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", A).of(1), fixed("dtype", S)],
            Ios17 => [arg("x", WA).of(1), fixed("dtype", S)],
        ],
        infer: infer::elementwise::cast,
        eval: eval::elementwise::cast,
    }

    /// The next integer above at every position.
    CEIL = "ceil" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1)],
        ],
        infer: infer::elementwise::same,
        eval: eval::elementwise::unary,
    }

    /// `x` cut off at `alpha` and `beta`.
    CLIP = "clip" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1), fixed("alpha", F).of(1), fixed("beta", F).of(1)],
            Ios17 => [arg("x", F).of(1), fixed("alpha", F).of(1), fixed("beta", F).of(1)],
        ],
        infer: infer::elementwise::clip,
        eval: eval::elementwise::unary,
    }

    /// The cosine at every position.
    COS = "cos" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1)],
        ],
        infer: infer::elementwise::same,
        eval: eval::elementwise::unary,
    }

    /// The hyperbolic cosine at every position.
    COSH = "cosh" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1)],
        ],
        infer: infer::elementwise::same,
        eval: eval::elementwise::unary,
    }

    /// The error function at every position.
    ERF = "erf" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1)],
        ],
        infer: infer::elementwise::same,
        eval: eval::elementwise::unary,
    }

    /// `e^x` at every position.
    EXP = "exp" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1)],
        ],
        infer: infer::elementwise::same,
        eval: eval::elementwise::unary,
    }

    /// `2^x` at every position.
    EXP2 = "exp2" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", N).of(1)],
        ],
        infer: infer::elementwise::same,
        eval: eval::elementwise::unary,
    }

    /// The next integer below at every position.
    FLOOR = "floor" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1)],
        ],
        infer: infer::elementwise::same,
        eval: eval::elementwise::unary,
    }

    /// `1 / (x + epsilon)` at every position.
    INVERSE = "inverse" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1), fixed("epsilon", F).of(1).float(0.0001)],
            Ios17 => [arg("x", F).of(1), fixed("epsilon", F).of(2).float(0.0001)],
        ],
        infer: infer::elementwise::epsilon,
        eval: eval::elementwise::unary,
    }

    /// `ln(x + epsilon)` at every position.
    LOG = "log" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1), fixed("epsilon", F).of(1).float(1e-45)],
            Ios17 => [arg("x", F).of(1), fixed("epsilon", F).of(2).float(1e-45)],
        ],
        infer: infer::elementwise::epsilon,
        eval: eval::elementwise::unary,
    }

    /// Whether `x` is false, at every position.
    LOGICAL_NOT = "logical_not" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", B)],
        ],
        infer: infer::elementwise::same,
        eval: eval::elementwise::unary,
    }

    /// The nearest integer, ties to even at every position.
    ROUND = "round" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1)],
        ],
        infer: infer::elementwise::same,
        eval: eval::elementwise::unary,
    }

    /// `1 / sqrt(x + epsilon)` at every position.
    RSQRT = "rsqrt" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1), fixed("epsilon", F).of(1).float(1e-12)],
            Ios17 => [arg("x", F).of(1), fixed("epsilon", F).of(2).float(1e-12)],
        ],
        infer: infer::elementwise::epsilon,
        eval: eval::elementwise::unary,
    }

    /// -1, 0 or 1 by the sign at every position.
    SIGN = "sign" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", N).of(1)],
        ],
        infer: infer::elementwise::same,
        eval: eval::elementwise::unary,
    }

    /// The sine at every position.
    SIN = "sin" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1)],
        ],
        infer: infer::elementwise::same,
        eval: eval::elementwise::unary,
    }

    /// The hyperbolic sine at every position.
    SINH = "sinh" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1)],
        ],
        infer: infer::elementwise::same,
        eval: eval::elementwise::unary,
    }

    /// The square root at every position.
    SQRT = "sqrt" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1)],
        ],
        infer: infer::elementwise::same,
        eval: eval::elementwise::unary,
    }

    /// `x x` at every position.
    SQUARE = "square" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", N).of(1)],
        ],
        infer: infer::elementwise::same,
        eval: eval::elementwise::unary,
    }

    /// The tangent at every position.
    TAN = "tan" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1)],
        ],
        infer: infer::elementwise::same,
        eval: eval::elementwise::unary,
    }

    /// The hyperbolic tangent at every position.
    TANH = "tanh" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", F).of(1)],
        ],
        infer: infer::elementwise::same,
        eval: eval::elementwise::unary,
    }

    /// `max(x, alpha)` at every position.
    THRESHOLD = "threshold" {
        shapes: "as `x`",
        since: [
            Ios15 => [arg("x", N).of(1), fixed("alpha", N).of(1)],
        ],
        infer: infer::elementwise::same,
        eval: eval::elementwise::unary,
    }
}
