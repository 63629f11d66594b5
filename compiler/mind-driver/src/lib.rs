//! Default registry, pipelines and the tools as functions.

pub mod canonical;
pub mod draw;
pub mod emit;
pub mod engine;
pub mod equivalence;
pub mod executable;
pub mod expected_panic;
pub mod formats;
pub mod host;
pub mod load;
pub mod npz;
pub mod patch;
pub mod session;
pub mod structure;
pub mod tokens;
pub mod tools;
pub mod weights;
