//! The mil dialect: Core ML's Model Intermediate Language.
//!
//! A module is a program with one function: [`structure::Program`] comes first and says in which opset
//! and format version it is written, then come its inputs, its ops and the outputs. Further functions
//! are [`structure::Func`] ops.
//!
//! An op of MIL names its arguments, leaves some out and takes tuples; in this IR its operands stand in the order of
//! its row's arguments, and the attribute `segments` counts how many each has: `[1, 0, 2]` gives the first argument
//! one operand, leaves the second out and makes the third a tuple of two. What an op takes is a row of data, a
//! [`MilOp`]; adding an op is one row.

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
