//! The mil dialect: Core ML's Model Intermediate Language.
//!
//! A module is a program with one function: [`structure::Program`] comes first and gives the opset and format version,
//! followed by the inputs, the ops and the outputs. Further functions are [`structure::Func`] ops.
//!
//! The arguments of a MIL op are named; some may be omitted and some are tuples. In this IR the operands are in the
//! order of the row's arguments, and the attribute `segments` counts the operands of each. For example, `[1, 0, 2]`
//! gives the first argument one operand, omits the second and makes the third a tuple of two. The arguments of an op
//! are a row of data, a [`MilOp`]; a new op is one row.

pub mod blocks;
pub mod call;
pub mod check;
pub mod coefficients;
pub mod composition;
pub mod constant;
pub mod element;
mod eval;
pub mod flexible;
pub mod fold;
pub mod functions;
pub mod infer;
pub mod names;
pub mod ops;
pub mod opset;
pub mod primer;
pub mod recurrence;
mod row;
pub mod scalar;
pub mod signature;
pub mod specialize;
pub mod state;
pub mod structure;

pub use element::Element;
pub use opset::Opset;
pub use row::{Attributes, MilOp};

use mind_ir::opdef::Dialect;

/// The mil dialect.
pub const DIALECT: Dialect = Dialect {
    name: "mil",
    doc: "Core ML's Model Intermediate Language, for Apple's neural engine.",
    ops: ops::OPS,
};
