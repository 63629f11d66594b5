//! The tables from which every document follows: dimensions, buffers, nodes, and buffer assignment of activations.

pub mod arena;
pub mod buffers;
pub mod dims;
pub mod nodes;
