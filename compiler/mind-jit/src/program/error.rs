//! Why a module has no program, and why a run of one stopped.

use mind_diag::Span;
use mind_ir::eval::EvalError;
use mind_vir::CompileError;
use mind_vir::ir::Status;

/// Why a module could not be compiled.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// An op has no kernel.
    #[error("`{op}` has no kernel: {reason}")]
    Op {
        /// The op.
        op: &'static str,
        /// What is missing.
        reason: String,
    },
    /// A kernel could not be compiled.
    #[error("the kernel of `{op}` could not be compiled: {source}")]
    Kernel {
        /// The op.
        op: &'static str,
        /// The reason.
        source: CompileError,
    },
    /// An op runs by its `eval`, which C cannot call.
    #[error(
        "`{op}` cannot be written as C: it has no kernel, and runs by the compiler's own evaluation"
    )]
    Evaluated {
        /// The op.
        op: &'static str,
        /// Where it stands in the source.
        span: Span,
    },
    /// An op runs by its `eval`, which an object file cannot call.
    #[error(
        "`{op}` cannot be written to an object file: it has no kernel, and runs by the compiler's own evaluation"
    )]
    NoCode {
        /// The op.
        op: &'static str,
        /// Where it stands in the source.
        span: Span,
    },
    /// The program could not be written to an object file.
    #[error("no object file could be written: {0}")]
    Object(String),
    /// The program could not be written as C.
    #[error("no C could be written: {0}")]
    C(String),
    /// The system gives no memory for the constants.
    #[error(transparent)]
    OutOfMemory(RunError),
    /// Results have no place, or places clash.
    #[error("{0}")]
    Memory(String),
}

/// Why a run stopped. Outputs then hold anything.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum RunError {
    /// Another number of arrays than the program takes.
    #[error("{found} {what} are given, the program takes {expected}")]
    Count {
        /// Inputs, weights or outputs.
        what: &'static str,
        /// How many it takes.
        expected: usize,
        /// How many are given.
        found: usize,
    },
    /// An array of another size.
    #[error("`{name}` has {found} bytes, {expected} are expected for {shape:?} of {dtype}")]
    Size {
        /// The array.
        name: String,
        /// Its extents.
        shape: Vec<usize>,
        /// Its dtype.
        dtype: mind_ir::types::DType,
        /// The bytes of these.
        expected: usize,
        /// The bytes given.
        found: usize,
    },
    /// An integer division without result.
    #[error("{} in `{op}`", division(*.status))]
    Division {
        /// The kernel's op.
        op: &'static str,
        /// What went wrong.
        status: Status,
    },
    /// An index is outside its axis.
    #[error("index {index} is out of bounds for axis {axis} of extent {extent}")]
    IndexOutOfBounds {
        /// The index.
        index: i64,
        /// The axis it indexes.
        axis: usize,
        /// The extent of that axis.
        extent: usize,
    },
    /// An op that has no kernel found something wrong with its operands.
    #[error("{error} in `{op}`")]
    Evaluation {
        /// The op.
        op: &'static str,
        /// What went wrong.
        error: EvalError,
    },
    /// The system gives no memory.
    #[error("out of memory: the system does not provide {bytes} more bytes")]
    OutOfMemory {
        /// How many were asked for.
        bytes: usize,
    },
    /// The caller of [`interruptible`](crate::interrupt::interruptible) stopped it.
    #[error("the run was interrupted")]
    Interrupted,
}

fn division(status: Status) -> &'static str {
    if status.contains(Status::ZERO_DIVISOR) {
        "an integer was divided by zero"
    } else {
        "the smallest integer was divided by -1"
    }
}
