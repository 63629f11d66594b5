//! Default registry, pipelines and the tools as functions.

pub mod emit;
pub mod engine;
pub mod equivalence;
pub mod executable;
pub mod host;
pub mod load;
pub mod npz;
pub mod session;
pub mod tools;
pub mod weights;
