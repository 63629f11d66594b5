//! Errors of compilation and of runs.

use mind_diag::Span;
use mind_ir::eval::EvalError;
use mind_vir::CompileError;
use mind_vir::ir::Status;

/// Why a module cannot be compiled.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// An op has no kernel.
    #[error("`{op}` has no kernel: {reason}")]
    Op {
        /// The op.
        op: &'static str,
        /// The missing feature.
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
        /// Its source location.
        span: Span,
    },
    /// An op runs by its `eval`, which an object file cannot call.
    #[error(
        "`{op}` cannot be written to an object file: it has no kernel, and runs by the compiler's own evaluation"
    )]
    NoCode {
        /// The op.
        op: &'static str,
        /// Its source location.
        span: Span,
    },
    /// The program could not be written to an object file.
    #[error("cannot write an object file: {0}")]
    Object(String),
    /// The program could not be written as C.
    #[error("cannot emit C: {0}")]
    C(String),
    /// Out of memory for the constants.
    #[error(transparent)]
    OutOfMemory(RunError),
    /// The buffer assignment is missing or invalid, or a kernel accesses memory outside of its buffers.
    #[error("{0}")]
    Memory(String),
}

/// Why a run stopped. The contents of the outputs are then undefined.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum RunError {
    /// The number of arrays is wrong.
    #[error("found {found} {what}, expected {expected}")]
    Count {
        /// `inputs`, `weights` or `outputs`.
        what: &'static str,
        /// The expected number.
        expected: usize,
        /// The number that was passed.
        found: usize,
    },
    /// An array has the wrong size.
    #[error("`{name}` has {found} bytes, expected {expected} for {shape:?} of {dtype}")]
    Size {
        /// The name of the array.
        name: String,
        /// Its extents.
        shape: Vec<usize>,
        /// Its dtype.
        dtype: mind_ir::types::DType,
        /// The expected size in bytes.
        expected: usize,
        /// The size in bytes that was passed.
        found: usize,
    },
    /// An integer division by 0, or of the smallest integer by -1.
    #[error("{} in `{op}`", division(*.status))]
    Division {
        /// The op of the kernel.
        op: &'static str,
        /// The kernel's status.
        status: Status,
    },
    /// An index is outside its axis.
    #[error("index {index} is out of bounds for axis {axis} of extent {extent}")]
    IndexOutOfBounds {
        /// The index.
        index: i64,
        /// The indexed axis.
        axis: usize,
        /// The extent of that axis.
        extent: usize,
    },
    /// An op without a kernel rejected its operands.
    #[error("{error} in `{op}`")]
    Evaluation {
        /// The op.
        op: &'static str,
        /// The error of its evaluation.
        error: EvalError,
    },
    /// Out of memory.
    #[error("out of memory: the system does not provide {bytes} more bytes")]
    OutOfMemory {
        /// The requested size.
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
