//! What the façade and the tools share: the default registry, reading, pipelines, writing, running.

pub mod admission;
pub mod canonical;
#[cfg(feature = "jit")]
pub mod compiled;
pub mod disk;
pub mod draw;
pub mod emit;
#[cfg(feature = "jit")]
pub mod engine;
pub mod equivalence;
#[cfg(feature = "jit")]
pub mod executable;
pub mod expected_panic;
pub mod failure;
pub mod formats;
pub mod history;
pub mod host;
pub mod input;
pub mod load;
pub mod patch;
pub mod session;
pub mod structure;
pub mod weights;
