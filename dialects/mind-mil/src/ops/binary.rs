//! Functions of two tensors, at every position, and the choice between them.

use crate::eval;
use crate::infer;
use crate::row::mil_ops;
use crate::signature::{A, B, N, arg};

mil_ops! {
    /// `x + y` at every position.
    ADD = "add" {
        shapes: "`x` and `y` broadcast",
        since: [
            Ios15 => [arg("x", N).of(1), arg("y", N).of(1)],
        ],
        infer: infer::elementwise::binary,
        eval: eval::elementwise::binary,
    }

    /// Whether `x = y`, at every position.
    EQUAL = "equal" {
        shapes: "`x` and `y` broadcast",
        since: [
            Ios15 => [arg("x", N).of(1), arg("y", N).of(1)],
        ],
        infer: infer::elementwise::compare,
        eval: eval::elementwise::binary,
    }

    /// `floor(x / y)` at every position.
    FLOOR_DIV = "floor_div" {
        shapes: "`x` and `y` broadcast",
        since: [
            Ios15 => [arg("x", N).of(1), arg("y", N).of(1)],
        ],
        infer: infer::elementwise::binary,
        eval: eval::elementwise::binary,
    }

    /// Whether `x > y`, at every position.
    GREATER = "greater" {
        shapes: "`x` and `y` broadcast",
        since: [
            Ios15 => [arg("x", N).of(1), arg("y", N).of(1)],
        ],
        infer: infer::elementwise::compare,
        eval: eval::elementwise::binary,
    }

    /// Whether `x >= y`, at every position.
    GREATER_EQUAL = "greater_equal" {
        shapes: "`x` and `y` broadcast",
        since: [
            Ios15 => [arg("x", N).of(1), arg("y", N).of(1)],
        ],
        infer: infer::elementwise::compare,
        eval: eval::elementwise::binary,
    }

    /// Whether `x < y`, at every position.
    LESS = "less" {
        shapes: "`x` and `y` broadcast",
        since: [
            Ios15 => [arg("x", N).of(1), arg("y", N).of(1)],
        ],
        infer: infer::elementwise::compare,
        eval: eval::elementwise::binary,
    }

    /// Whether `x <= y`, at every position.
    LESS_EQUAL = "less_equal" {
        shapes: "`x` and `y` broadcast",
        since: [
            Ios15 => [arg("x", N).of(1), arg("y", N).of(1)],
        ],
        infer: infer::elementwise::compare,
        eval: eval::elementwise::binary,
    }

    /// Whether `x` and `y`, at every position.
    LOGICAL_AND = "logical_and" {
        shapes: "`x` and `y` broadcast",
        since: [
            Ios15 => [arg("x", B).of(1), arg("y", B).of(1)],
        ],
        infer: infer::elementwise::compare,
        eval: eval::elementwise::binary,
    }

    /// Whether `x` or `y`, at every position.
    LOGICAL_OR = "logical_or" {
        shapes: "`x` and `y` broadcast",
        since: [
            Ios15 => [arg("x", B).of(1), arg("y", B).of(1)],
        ],
        infer: infer::elementwise::compare,
        eval: eval::elementwise::binary,
    }

    /// Whether either `x` or `y`, at every position.
    LOGICAL_XOR = "logical_xor" {
        shapes: "`x` and `y` broadcast",
        since: [
            Ios15 => [arg("x", B).of(1), arg("y", B).of(1)],
        ],
        infer: infer::elementwise::compare,
        eval: eval::elementwise::binary,
    }

    /// The larger of `x` and `y` at every position.
    MAXIMUM = "maximum" {
        shapes: "`x` and `y` broadcast",
        since: [
            Ios15 => [arg("x", N).of(1), arg("y", N).of(1)],
        ],
        infer: infer::elementwise::binary,
        eval: eval::elementwise::binary,
    }

    /// The smaller of `x` and `y` at every position.
    MINIMUM = "minimum" {
        shapes: "`x` and `y` broadcast",
        since: [
            Ios15 => [arg("x", N).of(1), arg("y", N).of(1)],
        ],
        infer: infer::elementwise::binary,
        eval: eval::elementwise::binary,
    }

    /// `x - floor(x / y) y` at every position.
    MOD = "mod" {
        shapes: "`x` and `y` broadcast",
        since: [
            Ios15 => [arg("x", N).of(1), arg("y", N).of(1)],
        ],
        infer: infer::elementwise::binary,
        eval: eval::elementwise::binary,
    }

    /// `x y` at every position.
    MUL = "mul" {
        shapes: "`x` and `y` broadcast",
        since: [
            Ios15 => [arg("x", N).of(1), arg("y", N).of(1)],
        ],
        infer: infer::elementwise::binary,
        eval: eval::elementwise::binary,
    }

    /// Whether `x != y`, at every position.
    NOT_EQUAL = "not_equal" {
        shapes: "`x` and `y` broadcast",
        since: [
            Ios15 => [arg("x", N).of(1), arg("y", N).of(1)],
        ],
        infer: infer::elementwise::compare,
        eval: eval::elementwise::binary,
    }

    /// `x^y` at every position.
    POW = "pow" {
        shapes: "`x` and `y` broadcast",
        since: [
            Ios15 => [arg("x", N).of(1), arg("y", N).of(1)],
        ],
        infer: infer::elementwise::binary,
        eval: eval::elementwise::binary,
    }

    /// `x / y` at every position.
    REAL_DIV = "real_div" {
        shapes: "`x` and `y` broadcast",
        since: [
            Ios15 => [arg("x", N).of(1), arg("y", N).of(1)],
        ],
        infer: infer::elementwise::binary,
        eval: eval::elementwise::binary,
    }

    /// `x - y` at every position.
    SUB = "sub" {
        shapes: "`x` and `y` broadcast",
        since: [
            Ios15 => [arg("x", N).of(1), arg("y", N).of(1)],
        ],
        infer: infer::elementwise::binary,
        eval: eval::elementwise::binary,
    }

    /// `a` where `cond` holds, else `b`.
    SELECT = "select" {
        shapes: "`cond`, `a` and `b` broadcast",
        since: [
            Ios15 => [arg("cond", B), arg("a", A).of(1), arg("b", A).of(1)],
        ],
        infer: infer::elementwise::select,
        eval: eval::elementwise::select,
    }
}
