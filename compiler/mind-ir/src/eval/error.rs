//! Failures of evaluation.

use mind_diag::Code;
use smallvec::SmallVec;
use thiserror::Error;

use crate::entity::OpId;
use crate::tensor::Tensor;

/// Results of an op with several.
pub type EvalManyResult = Result<SmallVec<[Tensor; 1]>, EvalError>;

/// Why an op has no result for these operands.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum EvalError {
    /// An index lies outside its axis.
    #[error("index {index} is out of bounds for axis {axis} of extent {extent}")]
    IndexOutOfBounds {
        /// The index.
        index: i64,
        /// The axis it indexes.
        axis: usize,
        /// The extent of that axis.
        extent: usize,
    },
    /// An integer was divided by zero, or the smallest one by -1.
    #[error("integer division {lhs} / {rhs} has no result")]
    Division {
        /// Dividend.
        lhs: i128,
        /// Divisor.
        rhs: i128,
    },
    /// An integer result does not fit, where wrapping was not allowed.
    #[error("integer overflow")]
    Overflow,
    /// The result would need more memory than is allowed.
    #[error("a tensor of shape {shape:?} needs more than the allowed {limit} bytes")]
    TooLarge {
        /// The result's shape.
        shape: Vec<usize>,
        /// The limit in bytes.
        limit: u64,
    },
    /// The system has no memory for the result.
    #[error("no memory for a tensor of shape {shape:?}: {bytes} bytes")]
    OutOfMemory {
        /// The result's shape.
        shape: Vec<usize>,
        /// How many bytes it takes.
        bytes: u64,
    },
    /// Extents that only running could tell turned out not to fit.
    #[error("{0}")]
    Shape(String),
    /// A loop has not ended.
    #[error("the loop has not ended after {0} steps")]
    Steps(u64),
    /// A symbolic dimension has no extent.
    #[error("dimension {0} has no extent")]
    UnboundDim(String),
    /// The op cannot be evaluated.
    #[error("{0} has no evaluation")]
    NotEvaluable(&'static str),
    /// An op in a region of the op failed.
    #[error("{error}")]
    Inside {
        /// The innermost op that failed.
        op: OpId,
        /// Why; never an error inside that op.
        error: Box<EvalError>,
    },
}

impl EvalError {
    /// The error of an op, one of whose regions holds `op`, which failed with `error`.
    pub fn inside((op, error): (OpId, EvalError)) -> EvalError {
        match error {
            EvalError::Inside { .. } => error,
            error => EvalError::Inside {
                op,
                error: Box::new(error),
            },
        }
    }

    /// The innermost op that failed, given that `op` did, and its error.
    pub fn innermost(&self, op: OpId) -> (OpId, &EvalError) {
        match self {
            EvalError::Inside { op, error } => (*op, error),
            error => (op, error),
        }
    }

    /// The catalogue code.
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
