//! Programs of modules at loops level: kernels, and the steps that call them.
//!
//! - [`Program::compile`] compiles a module for a target and a thread pool.
//! - [`BoundProgram::new`] binds weights, which are packed once.
//! - [`BoundProgram::run`] runs a program directly on the caller's arrays.
//! - [`emit_c`] emits C, `emit_object` object files, and [`listings`] shows the kernels.
//! - [`check_accesses`] checks that kernels stay in the memory that they declare.

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
