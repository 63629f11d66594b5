//! Modules at loops level as programs: kernels, and the steps that call them.
//!
//! - [`Program::compile`] makes one, for a target and a number of threads.
//! - [`BoundProgram::new`] gives it its weights, which are packed then.
//! - [`BoundProgram::run`] runs it on the caller's arrays, where they are.
//! - [`emit_c`] writes one as C, `emit_object` as an object file, and [`listings`] shows its kernels.
//! - [`check_accesses`] proves that its kernels stay in the memory that they declare.

mod assembly;
mod binding;
mod bound;
mod build;
mod check;
mod compiled;
mod control;
mod emit_c;
#[cfg(feature = "object")]
mod emit_object;
mod error;
mod fixed;
mod in_place;
mod layout;
mod listing;
mod memory;
mod panels;
mod partition;
mod port;
mod routine;
mod run;
mod scaling;
mod weights;

pub use assembly::{KernelCode, KernelSignature, ProgramCode};
pub use binding::Binding;
pub use bound::BoundProgram;
pub use check::{check_accesses, check_c_accesses};
pub use compiled::{Options, Program};
pub use emit_c::{CPart, c_part, emit_c};
#[cfg(feature = "object")]
pub use emit_object::{ObjectConfig, ObjectFile, emit_object};
pub use error::{ProgramError, RunError};
pub use listing::{KernelListing, listings};
pub use panels::PanelChoice;
pub use port::Port;
pub use scaling::Simulated;
