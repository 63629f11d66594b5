//! Functions of two tensors, at every position, and the choice between them.

use crate::eval;
use crate::infer;
use crate::row::mil_ops;
use crate::signature::{A, B, N, arg};

mil_ops! {
    family: { shapes: "`x` and `y` broadcast", infer: infer::elementwise::binary, eval: eval::elementwise::binary }

    /// `x + y` at every position.
    ADD = "add" {
        since: [Ios15 => [arg("x", N).of(1), arg("y", N).of(1)]],
    }

    /// Whether `x = y`, at every position.
    EQUAL = "equal" {
        since: [Ios15 => [arg("x", N).of(1), arg("y", N).of(1)]],
        infer: infer::elementwise::compare,
    }

    /// `floor(x / y)` at every position.
    FLOOR_DIV = "floor_div" {
        since: [Ios15 => [arg("x", N).of(1), arg("y", N).of(1)]],
    }

    /// Whether `x > y`, at every position.
    GREATER = "greater" {
        since: [Ios15 => [arg("x", N).of(1), arg("y", N).of(1)]],
        infer: infer::elementwise::compare,
    }

    /// Whether `x >= y`, at every position.
    GREATER_EQUAL = "greater_equal" {
        since: [Ios15 => [arg("x", N).of(1), arg("y", N).of(1)]],
        infer: infer::elementwise::compare,
    }

    /// Whether `x < y`, at every position.
    LESS = "less" {
        since: [Ios15 => [arg("x", N).of(1), arg("y", N).of(1)]],
        infer: infer::elementwise::compare,
    }

    /// Whether `x <= y`, at every position.
    LESS_EQUAL = "less_equal" {
        since: [Ios15 => [arg("x", N).of(1), arg("y", N).of(1)]],
        infer: infer::elementwise::compare,
    }

    /// Whether `x` and `y`, at every position.
    LOGICAL_AND = "logical_and" {
        since: [Ios15 => [arg("x", B).of(1), arg("y", B).of(1)]],
        infer: infer::elementwise::compare,
    }

    /// Whether `x` or `y`, at every position.
    LOGICAL_OR = "logical_or" {
        since: [Ios15 => [arg("x", B).of(1), arg("y", B).of(1)]],
        infer: infer::elementwise::compare,
    }

    /// Whether either `x` or `y`, at every position.
    LOGICAL_XOR = "logical_xor" {
        since: [Ios15 => [arg("x", B).of(1), arg("y", B).of(1)]],
        infer: infer::elementwise::compare,
    }

    /// The larger of `x` and `y` at every position.
    MAXIMUM = "maximum" {
        since: [Ios15 => [arg("x", N).of(1), arg("y", N).of(1)]],
    }

    /// The smaller of `x` and `y` at every position.
    MINIMUM = "minimum" {
        since: [Ios15 => [arg("x", N).of(1), arg("y", N).of(1)]],
    }

    /// `x - floor(x / y) y` at every position.
    MOD = "mod" {
        since: [Ios15 => [arg("x", N).of(1), arg("y", N).of(1)]],
    }

    /// `x y` at every position.
    MUL = "mul" {
        since: [Ios15 => [arg("x", N).of(1), arg("y", N).of(1)]],
    }

    /// Whether `x != y`, at every position.
    NOT_EQUAL = "not_equal" {
        since: [Ios15 => [arg("x", N).of(1), arg("y", N).of(1)]],
        infer: infer::elementwise::compare,
    }

    /// `x^y` at every position.
    POW = "pow" {
        since: [Ios15 => [arg("x", N).of(1), arg("y", N).of(1)]],
    }

    /// `x / y` at every position.
    REAL_DIV = "real_div" {
        since: [Ios15 => [arg("x", N).of(1), arg("y", N).of(1)]],
    }

    /// `x - y` at every position.
    SUB = "sub" {
        since: [Ios15 => [arg("x", N).of(1), arg("y", N).of(1)]],
    }

    /// `a` where `cond` holds, else `b`.
    SELECT = "select" {
        shapes: "`cond`, `a` and `b` broadcast",
        since: [Ios15 => [arg("cond", B), arg("a", A).of(1), arg("b", A).of(1)]],
        infer: infer::elementwise::select,
        eval: eval::elementwise::select,
    }
}
