//! Machine code for the loops of a module: a vector-level IR and what turns it into instructions.
//!
//! - [`vir`]: the vector IR, its verifier and its interpreter.
//! - [`lower`]: the scalar functions of ops, and loops over vectors, in that IR.
//! - [`x86`] and [`portable`]: the IR as machine code.
//! - [`kernel`]: machine code that can be called.
//! - [`code`]: executable memory.
//! - [`target`]: instruction sets, and what a lowering asks of one.

pub mod code;
pub mod kernel;
pub mod lower;
pub mod portable;
pub mod target;
pub mod vir;
pub mod x86;

mod error;

pub use error::CompileError;
