//! The tables that every document follows from: dimensions, buffers, nodes, and where activations lie.

pub mod arena;
pub mod buffers;
pub mod dims;
pub mod nodes;
