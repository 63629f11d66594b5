//! Reduction of a module while it keeps a property, for example a crash.
//!
//! [`reduce`] tries families of edits, the most aggressive first, and keeps each module that verifies, is
//! [smaller](Size) and still has the property. It terminates because every step decreases a well-founded size.
//! Candidates come in a fixed order, so the same input gives the same result.

mod attributes;
mod bodies;
mod constants;
mod dtypes;
mod edit;
mod operands;
mod ops;
mod outputs;
mod reduce;
mod shapes;
mod size;

pub use reduce::{Config, Reduced, reduce};
pub use size::Size;
