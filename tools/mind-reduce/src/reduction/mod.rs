//! Making a module smaller while it keeps a property: the fault that is looked for.
//!
//! [`reduce`] tries families of edits, the boldest first, and keeps each module that verifies, is
//! [smaller](Size) and still has the property. Every step shrinks a size that is well-founded, so it ends;
//! candidates come in a fixed order, so the same input gives the same result.

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
