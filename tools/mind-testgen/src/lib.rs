//! Random well-typed modules.
//!
//! [`module`] draws a module of core ops: every op of the table, every dtype, broadcasting, extents of 0 and 1, views
//! of views, attention, shared values, constants that rewrites look for, several outputs, inputs among them. The same
//! seed gives the same module on every machine. What a fault does not need is removed by `mind_reduce::reduction`.

pub mod cases;
mod control;
mod element;
pub mod exact;
pub mod forms;
mod generator;
pub mod mil;
mod module;
mod products;
mod recipe;
mod rng;
mod shape;
mod shaped;
pub mod special;
mod windows;

use mind_ir::graph::Graph;
use mind_ir::opdef::OpDef;
use mind_ir::types::DType;

pub use module::module;
pub use recipe::covered;

/// What modules are drawn.
#[derive(Clone, Debug)]
pub struct Config {
    /// How many ops are drawn besides inputs and constants.
    pub ops: usize,
    /// The dtypes of inputs and constants; at least one.
    pub dtypes: Vec<DType>,
    /// Whether inputs may have symbolic dimensions, and ops may decide the extents of what they compute.
    pub symbols: bool,
    /// Ops that are not drawn.
    pub without: Vec<&'static OpDef>,
    /// Whether a module is one of those to draw, for example one that a target takes. Each op is drawn only if a module
    /// that gives its results is, so that drawn modules are as well. These give truth values as numbers.
    pub accepts: Option<fn(&Graph) -> bool>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            ops: 12,
            dtypes: DType::ALL.to_vec(),
            symbols: true,
            without: Vec::new(),
            accepts: None,
        }
    }
}
