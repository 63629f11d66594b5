//! The reference interpreter, which defines the semantics of modules.
//!
//! [`bind`] checks arrays against a module's [`inputs`], [`run`] evaluates the module on them, and [`compare`] compares
//! results bit for bit. [`complete`] generates missing arrays, reproducibly. The interpreter does not depend on
//! dialects, because each op has its own `eval`.

mod bind;
mod compare;
mod error;
mod extents;
mod fingerprint;
mod inputs;
mod random;
mod range;
mod raw;
mod run;
mod sample;

pub use bind::{Bound, bind, check, check_types};
pub use compare::{Mismatch, compare};
pub use error::{BindError, Origin, RunError, Unbound};
pub use extents::{DYNAMIC_EXTENT, Extents, SYMBOL_EXTENTS};
pub use fingerprint::fingerprint;
pub use inputs::{ArrayType, ArrayTypes, Arrays, InputSpec, inputs};
pub use random::{Random, complete, random_inputs, special_inputs};
pub use raw::Scalar;
pub use run::{RunConfig, run};
pub use sample::Values;
