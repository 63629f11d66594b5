//! Vector IR, and what turns it into code.
//!
//! - [`ir`]: loops over vectors, with a builder, a printer, a verifier and an interpreter.
//! - [`target`]: instruction sets, one row each, and what a lowering asks of one.
//! - [`kernel`]: functions as machine code that can be called; `x86` makes that of AVX2 and AVX-512, `portable`
//!   that of everything else; `mach` is what every selection needs.
//! - [`program`]: the steps that call functions on memory.
//! - [`c`]: functions and programs as C. `object`: programs as object files.
//! - [`code`]: executable memory. [`guarded`]: memory whose overrun stops the process.
//!
//! Nothing here knows of graphs, tensors or ops.

pub mod c;
pub mod code;
pub mod guarded;
pub mod ir;
pub mod kernel;
#[cfg(feature = "object")]
pub mod object;
pub mod program;
pub mod target;

mod error;
mod mach;
#[cfg(feature = "portable")]
mod portable;
mod x86;

pub use error::CompileError;
pub use x86::disassemble;
