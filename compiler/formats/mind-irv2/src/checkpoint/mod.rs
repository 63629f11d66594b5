//! The weights of a model: tensors from one or several files, checked against its configuration.

mod experts;
mod index;
mod rotation;
mod shape;
mod tensors;

pub(crate) use index::{Index, gguf_architecture};
pub use index::{Source, without_missing_biases};
pub(crate) use rotation::{factors, long_factors};
pub use shape::shape_of;
pub(crate) use shape::{LM_HEAD, TABLE};
pub use tensors::Checkpoint;
