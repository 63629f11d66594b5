//! Functions of one tensor, at every position.

use crate::eval;
use crate::infer;
use crate::row::mil_ops;
use crate::signature::{A, B, F, N, S, WA, arg, fixed};

mil_ops! {
    family: { shapes: "as `x`", infer: infer::elementwise::same, eval: eval::elementwise::unary }

    /// The magnitude at every position.
    ABS = "abs" {
        since: [Ios15 => [arg("x", N).of(1)]],
    }

    /// The inverse cosine at every position.
    ACOS = "acos" {
        since: [Ios15 => [arg("x", F).of(1)]],
    }

    /// The inverse sine at every position.
    ASIN = "asin" {
        since: [Ios15 => [arg("x", F).of(1)]],
    }

    /// The inverse tangent at every position.
    ATAN = "atan" {
        since: [Ios15 => [arg("x", F).of(1)]],
    }

    /// The inverse hyperbolic tangent at every position.
    ATANH = "atanh" {
        since: [Ios15 => [arg("x", F).of(1)]],
    }

    /// The elements in the element type that `dtype` names.
    CAST = "cast" {
        since: [
            Ios15 => [arg("x", A).of(1), fixed("dtype", S)],
            Ios17 => [arg("x", WA).of(1), fixed("dtype", S)],
        ],
        infer: infer::elementwise::cast,
        eval: eval::elementwise::cast,
    }

    /// The next integer above at every position.
    CEIL = "ceil" {
        since: [Ios15 => [arg("x", F).of(1)]],
    }

    /// `x` cut off at `alpha` and `beta`.
    CLIP = "clip" {
        since: [
            Ios15 => [arg("x", F).of(1), fixed("alpha", F).of(1), fixed("beta", F).of(1)],
            Ios17 => [arg("x", F).of(1), fixed("alpha", F).of(1), fixed("beta", F).of(1)],
        ],
        infer: infer::elementwise::clip,
    }

    /// The cosine at every position.
    COS = "cos" {
        since: [Ios15 => [arg("x", F).of(1)]],
    }

    /// The hyperbolic cosine at every position.
    COSH = "cosh" {
        since: [Ios15 => [arg("x", F).of(1)]],
    }

    /// The error function at every position.
    ERF = "erf" {
        since: [Ios15 => [arg("x", F).of(1)]],
    }

    /// `e^x` at every position.
    EXP = "exp" {
        since: [Ios15 => [arg("x", F).of(1)]],
    }

    /// `2^x` at every position.
    EXP2 = "exp2" {
        since: [Ios15 => [arg("x", N).of(1)]],
    }

    /// The next integer below at every position.
    FLOOR = "floor" {
        since: [Ios15 => [arg("x", F).of(1)]],
    }

    /// `1 / (x + epsilon)` at every position.
    INVERSE = "inverse" {
        since: [
            Ios15 => [arg("x", F).of(1), fixed("epsilon", F).of(1).float(0.0001)],
            Ios17 => [arg("x", F).of(1), fixed("epsilon", F).of(2).float(0.0001)],
        ],
        infer: infer::elementwise::epsilon,
    }

    /// `ln(x + epsilon)` at every position.
    LOG = "log" {
        since: [
            Ios15 => [arg("x", F).of(1), fixed("epsilon", F).of(1).float(1e-45)],
            Ios17 => [arg("x", F).of(1), fixed("epsilon", F).of(2).float(1e-45)],
        ],
        infer: infer::elementwise::epsilon,
    }

    /// Whether `x` is false, at every position.
    LOGICAL_NOT = "logical_not" {
        since: [Ios15 => [arg("x", B)]],
    }

    /// The nearest integer, ties to even at every position.
    ROUND = "round" {
        since: [Ios15 => [arg("x", F).of(1)]],
    }

    /// `1 / sqrt(x + epsilon)` at every position.
    RSQRT = "rsqrt" {
        since: [
            Ios15 => [arg("x", F).of(1), fixed("epsilon", F).of(1).float(1e-12)],
            Ios17 => [arg("x", F).of(1), fixed("epsilon", F).of(2).float(1e-12)],
        ],
        infer: infer::elementwise::epsilon,
    }

    /// -1, 0 or 1 by the sign at every position.
    SIGN = "sign" {
        since: [Ios15 => [arg("x", N).of(1)]],
    }

    /// The sine at every position.
    SIN = "sin" {
        since: [Ios15 => [arg("x", F).of(1)]],
    }

    /// The hyperbolic sine at every position.
    SINH = "sinh" {
        since: [Ios15 => [arg("x", F).of(1)]],
    }

    /// The square root at every position.
    SQRT = "sqrt" {
        since: [Ios15 => [arg("x", F).of(1)]],
    }

    /// `x x` at every position.
    SQUARE = "square" {
        since: [Ios15 => [arg("x", N).of(1)]],
    }

    /// The tangent at every position.
    TAN = "tan" {
        since: [Ios15 => [arg("x", F).of(1)]],
    }

    /// The hyperbolic tangent at every position.
    TANH = "tanh" {
        since: [Ios15 => [arg("x", F).of(1)]],
    }

    /// `max(x, alpha)` at every position.
    THRESHOLD = "threshold" {
        since: [Ios15 => [arg("x", N).of(1), fixed("alpha", N).of(1)]],
    }
}
