//! The core dialect: the ops of MIND Core IR, with their shape rules and evaluation.
//!
//! Each file under [`ops`] has one family of ops. The op tables hold everything else about an op: attributes, traits,
//! names in the text formats and documentation.

mod apply;
pub mod axes;
mod constant;
mod convolve;
pub mod eval;
pub mod extent;
pub mod group;
mod indexing;
pub mod ops;
pub mod pairs;
pub mod parts;
pub mod region;
pub mod scale;
pub mod slide;
pub mod solve;
pub mod specialize;
mod sums;
pub mod windows;

pub use apply::apply;
pub use constant::{constant, elements_of, literal_constant, scalar_of, splat};

use mind_ir::opdef::Dialect;

/// The core dialect.
pub const DIALECT: Dialect = Dialect {
    name: "core",
    doc: "MIND Core IR: tensors in, tensors out.",
    ops: ops::OPS,
};
