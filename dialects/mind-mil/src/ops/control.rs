//! Nested blocks and states.

use crate::eval;
use crate::infer;
use crate::row::mil_ops;
use crate::signature::{B, Kind, WA, arg, other};

mil_ops! {
    /// One of two blocks.
    COND = "cond" {
        shapes: "what the blocks yield",
        since: [
            Ios15 => [arg("pred", B)],
        ],
        results: Many,
        regions: 2,
        infer: infer::control::cond,
        eval: eval::control::cond,
    }

    /// The tensor in a state.
    READ_STATE = "read_state" {
        shapes: "as `input`",
        since: [
            Ios18 => [other("input", Kind::State)],
        ],
        infer: infer::movement::read_state,
        not_run: "states are threaded through a program as values before it runs",
    }

    /// A block, run while another yields true.
    WHILE_LOOP = "while_loop" {
        shapes: "as `loop_vars`",
        since: [
            Ios15 => [other("loop_vars", Kind::Tuple)],
        ],
        results: Many,
        regions: 2,
        infer: infer::control::while_loop,
        eval: eval::control::while_loop,
    }

    /// Puts a tensor into a state.
    WRITE_STATE = "write_state" {
        shapes: "none",
        since: [
            Ios18 => [arg("data", WA), other("input", Kind::State)],
        ],
        results: None,
        infer: infer::movement::write_state,
        not_run: "states are threaded through a program as values before it runs",
    }
}
