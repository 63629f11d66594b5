//! Machine code for the loops of a module: a vector-level IR and what turns it into instructions.
//!
//! - [`target`]: instruction sets, and what a lowering asks of one.
//! - [`vir`]: the vector IR, its verifier and its interpreter.
//! - [`code`]: executable memory.

pub mod code;
pub mod target;
pub mod vir;
pub mod x86;

mod error;

pub use error::CompileError;
