//! Vector IR as C.
//!
//! - [`function`]: one function as the text of one C function.
//! - [`prelude`]: the helpers that must precede it.
//! - [`Module`]: a program as one file with one public function.
//! - [`SharedFunctions`]: functions shared by the programs of a file.
//! - [`Subprogram`]: a subprogram of control flow, as static functions.
//!
//! The text is C11 and includes only `float.h`, `stdint.h` and `string.h`. It has no undefined behaviour, compiles
//! without warnings, and computes the bits of the vector IR interpreter. Vectors become loops over lanes, which
//! compilers vectorise; docs/formats/c.md explains how.

mod check;
mod control;
mod facts;
mod file;
mod function;
mod lane;
mod loops;
mod module;
mod plan;
mod prelude;
mod routine;
mod shared;
mod subprogram;
mod symbol;
mod template;
mod writer;

pub use control::carried_bytes;
#[cfg(feature = "object")]
pub(crate) use file::plain;
pub use file::written;
pub use function::function;
pub use module::{Array, Callee, EmitError, Module, StaticMemory};
pub use prelude::prelude;
pub use shared::SharedFunctions;
pub use subprogram::Subprogram;
pub use symbol::{Symbol, SymbolError};
