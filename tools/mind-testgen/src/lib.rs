//! Random well-typed modules.
//!
//! [`module`] draws a module of core ops: every op of the table, every dtype, broadcasting, extents of 0 and 1, views
//! of views, attention, shared values, neutral constants that rewrites match, several outputs, some of which are
//! inputs. The same seed gives the same module on every machine. `mind_reduce::reduction` reduces a module with a
//! fault.

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

/// Parameters of random modules.
#[derive(Clone, Debug)]
pub struct Config {
    /// The number of ops without inputs and constants.
    pub ops: usize,
    /// The dtypes of inputs and constants; at least one.
    pub dtypes: Vec<DType>,
    /// Whether inputs may have symbolic dimensions, and ops may have data-dependent shapes.
    pub symbols: bool,
    /// Excluded ops.
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
