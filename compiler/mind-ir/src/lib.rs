//! The arena SSA graph, types, attributes, op tables and the verifier.
//!
//! - [`graph`] is one module: ops in nested blocks, with dense ids.
//! - [`types`], [`attr`] and [`tensor`] are what values and attributes are made of.
//! - [`interface`] is what users of a module see of it: names of outputs, metadata, images, class labels.
//! - [`opdef`] declares ops, [`mod@builder`] creates them, [`mod@verify`] types and checks them, [`mod@eval`] computes them.
//! - [`scalar`] is the table of the functions that elementwise ops apply, each defined to the bit.
//! - [`listener`] is asked before rewrites and told of them.
//!
//! Ops are rows of a dialect's table, written with [`ops!`] and found through a [`opdef::Registry`]; this crate names
//! none of them but [`builtin::Yield`].

mod arena;
pub mod attr;
pub mod builder;
pub mod builtin;
mod entity;
pub mod eval;
pub mod graph;
pub mod interface;
pub mod kernel;
pub mod listener;
pub mod opdef;
pub mod random;
pub mod scalar;
mod symbol;
mod table;
pub mod tensor;
pub mod types;
pub mod verify;

pub use bytes::Bytes;
pub use entity::{BlockId, OpId, RegionId, Sym, Ty, UseId, ValueId};
pub use graph::Graph;
pub use symbol::Symbols;

#[doc(hidden)]
pub use smallvec;
