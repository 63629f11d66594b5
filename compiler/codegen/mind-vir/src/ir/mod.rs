//! Vector IR: loops over vectors of a fixed number of lanes.
//!
//! The parameters of a function are pointers and indices. All its vectors have the same number of lanes, W, which is as
//! many as fit a register of the target at the widest lane; vectors of narrower lanes fill a part of a register.
//! Control flow is structured: loops, and code that is skipped if no lane needs it. The rest is straight-line SSA.
//!
//! Every operation has one result, the same bits on every target ([`interp`] defines it). Accesses are not
//! bounds-checked, because the lowering has proven them in bounds.

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
pub use byte_product::{ByteProduct, WordRows};
pub use function::{
    Block, Carried, Constant, Function, IfAny, Loop, LoopKind, Merged, Scratch, Statement,
};
pub use op::{Addr, BinaryOp, ConvertOp, IndexOp, MaskOp, Op, Predicate, ShiftOp, UnaryOp, Value};
pub use signature::Signature;
pub use status::Status;
pub use types::{Lane, Type};
pub use verify::{VerifyError, verify};
