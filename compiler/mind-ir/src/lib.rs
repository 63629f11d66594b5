//! The arena SSA graph, types, attributes, op tables and the verifier.
//!
//! [`graph::Graph`] is one module. Ops are rows of a dialect's table, written with [`ops!`] and found
//! through a [`opdef::Registry`]; this crate names none of them but [`builtin::Yield`].

mod arena;
pub mod attr;
pub mod builder;
pub mod builtin;
mod entity;
pub mod eval;
pub mod graph;
pub mod kernel;
pub mod listener;
pub mod opdef;
pub mod scalar;
mod symbol;
mod table;
pub mod tensor;
pub mod types;
pub mod verify;

pub use entity::{BlockId, OpId, RegionId, Sym, Ty, UseId, ValueId};
pub use graph::Graph;
pub use symbol::Symbols;

#[doc(hidden)]
pub use smallvec;
