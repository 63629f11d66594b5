//! The IR: the SSA graph, types, attributes, op tables and the verifier.
//!
//! - [`graph`] holds one module: ops in nested blocks, with dense ids.
//! - [`types`], [`attr`] and [`tensor`] are the types and constants of values and attributes.
//! - [`interface`] is the public interface of a module: names of outputs, metadata, images, class labels.
//! - [`opdef`] declares ops, [`mod@builder`] creates them, [`mod@verify`] infers types and checks rules, [`mod@eval`]
//!   evaluates ops.
//! - [`scalar`] is the table of the functions that elementwise ops apply, each defined bit for bit.
//! - [`kernel`] decides which ops can share one kernel.
//! - [`listener`] observes rewrites and may veto them.
//!
//! Ops are rows of a dialect's table, written with [`ops!`] and found through a [`opdef::Registry`]. This crate
//! declares only the ops of [`builtin`].

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
