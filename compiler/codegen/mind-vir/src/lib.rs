//! Vector IR and the code generators that compile it.
//!
//! - [`ir`]: loops over vectors, with a builder, a printer, a verifier and an interpreter.
//! - [`target`]: instruction sets, one row each, and the properties that a lowering needs.
//! - [`kernel`]: callable machine code; `x86` generates it for AVX2 and AVX-512, `portable` for everything else; `mach`
//!   holds the analyses that both selections use.
//! - [`program`]: the steps that call functions on memory.
//! - [`c`]: functions and programs as C. `object`: programs as object files.
//! - [`code`]: executable memory. [`guarded`]: memory whose overrun stops the process.
//!
//! This crate does not depend on graphs, tensors or ops.

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
