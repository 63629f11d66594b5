//! Vector IR: loops over vectors of a fixed number of lanes.
//!
//! A function has pointers and indices for parameters and one number of lanes, W, for all its vectors: as
//! many as fit a register of the target at the widest lane. A vector of narrower lanes fills a part of a
//! register. Loops are structured, and so is code that is skipped where no lane needs it; all else is straight code in SSA
//! form.
//!
//! Every operation has exactly one result, bit for bit ([`interp`] defines it), on every target. There are
//! no range checks: whoever lowers to vector IR has made them.

pub mod interp;

mod access;
mod builder;
mod byte_product;
mod function;
mod interleave;
mod op;
mod print;
mod signature;
mod status;
mod types;
mod verify;

pub use access::{Access, Misuse, accesses};
pub use builder::{Builder, OpenBlock, Round};
pub use byte_product::{ByteProduct, Rows};
pub use function::{
    Block, Carried, Constant, Function, IfAny, Loop, LoopKind, Merged, Scratch, Statement,
};
pub use op::{Addr, BinaryOp, ConvertOp, IndexOp, MaskOp, Op, Predicate, ShiftOp, UnaryOp, Value};
pub use signature::Signature;
pub use status::Status;
pub use types::{Lane, Type};
pub use verify::{VerifyError, verify};
