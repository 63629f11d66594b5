//! Machine code for the loops of a module: a vector-level IR and what turns it into instructions.
//!
//! - [`vir`]: the vector IR, its verifier and its interpreter.
//! - [`lower`]: the scalar functions of ops, and loops over vectors, in that IR.
//! - [`kernel`]: the IR as machine code that can be called; `x86` makes that of AVX2 and AVX-512, `portable`
//!   that of everything else.
//! - [`c`]: the IR as C.
//! - [`code`]: executable memory.
//! - [`guarded`]: memory whose overrun stops the process.
//! - [`pool`]: threads that share the work of a kernel.
//! - [`program`]: modules of the loops dialect as kernels and the steps that call them.
//! - [`target`]: instruction sets, and what a lowering asks of one.

pub mod c;
pub mod code;
pub mod guarded;
pub mod kernel;
pub mod lower;
pub mod pool;
pub mod program;
pub mod target;
pub mod vir;

mod error;
mod portable;
mod x86;

pub use error::CompileError;
