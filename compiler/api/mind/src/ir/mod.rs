//! Modules and their text formats.

pub mod compact;

pub use mind_ir::Graph as IRModule;
