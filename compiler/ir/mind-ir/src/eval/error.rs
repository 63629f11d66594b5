//! Errors of evaluation.

use mind_diag::Code;
use smallvec::SmallVec;
use thiserror::Error;

use crate::entity::OpId;
use crate::tensor::Tensor;

/// The results of an op with several results.
pub type EvalManyResult = Result<SmallVec<[Tensor; 1]>, EvalError>;

/// The reason why the evaluation of an op failed.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum EvalError {
    /// An index is out of range.
    #[error("index {index} is out of bounds for axis {axis} of extent {extent}")]
    IndexOutOfBounds {
        /// The index.
        index: i64,
        /// The axis.
        axis: usize,
        /// The extent of that axis.
        extent: usize,
    },
    /// An integer was divided by zero, or the smallest integer by -1.
    #[error("integer division {lhs} / {rhs} has no result")]
    Division {
        /// The dividend.
        lhs: i128,
        /// The divisor.
        rhs: i128,
    },
    /// An integer result overflowed, and overflow is an error in this context.
    #[error("integer overflow")]
    Overflow,
    /// The result exceeds the size limit.
    #[error("a tensor of shape {shape:?} needs more than the allowed {limit} bytes")]
    TooLarge {
        /// The result's shape.
        shape: Vec<usize>,
        /// The limit in bytes.
        limit: u64,
    },
    /// The system cannot allocate the result.
    #[error("no memory for a tensor of shape {shape:?}: {bytes} bytes")]
    OutOfMemory {
        /// The result's shape.
        shape: Vec<usize>,
        /// The size in bytes.
        bytes: u64,
    },
    /// Extents that were unknown at compile time do not fit.
    #[error("{0}")]
    Shape(String),
    /// A loop exceeded the maximum number of iterations.
    #[error("the loop has not ended after {0} steps")]
    Steps(u64),
    /// A symbolic dimension is not bound to an extent.
    #[error("dimension {0} has no extent")]
    UnboundDim(String),
    /// The op has no evaluation.
    #[error("{0} has no evaluation")]
    NotEvaluable(&'static str),
    /// An op in a region of the op failed.
    #[error("{error}")]
    Inside {
        /// The innermost op that failed.
        op: OpId,
        /// The reason, which is not `Inside`.
        error: Box<EvalError>,
    },
}

impl EvalError {
    /// Returns the error of an op that has a region in which `op` failed with `error`.
    pub fn inside((op, error): (OpId, EvalError)) -> EvalError {
        match error {
            EvalError::Inside { .. } => error,
            error => EvalError::Inside {
                op,
                error: Box::new(error),
            },
        }
    }

    /// Returns the innermost op that failed and its error, if `op` failed with this error.
    pub fn innermost(&self, op: OpId) -> (OpId, &EvalError) {
        match self {
            EvalError::Inside { op, error } => (*op, error),
            error => (op, error),
        }
    }

    /// Returns the diagnostic code; `None` if the error has no code.
    pub fn code(&self) -> Option<Code> {
        match self {
            EvalError::IndexOutOfBounds { .. } => Some(Code(6001)),
            EvalError::Division { .. } | EvalError::Overflow => Some(Code(6005)),
            EvalError::TooLarge { .. } | EvalError::OutOfMemory { .. } => Some(Code(6004)),
            EvalError::Steps(_) => Some(Code(6007)),
            EvalError::Inside { error, .. } => error.code(),
            EvalError::Shape(_) | EvalError::UnboundDim(_) | EvalError::NotEvaluable(_) => None,
        }
    }
}
