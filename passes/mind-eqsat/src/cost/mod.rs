//! What ops cost: launch + max(bytes / bandwidth, flops / peak), in integer picoseconds.
//!
//! Only comparisons count. Extents that are not known are taken to be [`CostModel::unknown_extent`].

mod class;
mod model;
mod module;
mod resolved;
mod table;

pub use class::{CostClass, Inner};
pub(crate) use model::Work;
pub use model::{CostModel, Level};
pub(crate) use module::{module_cost, op_cost};
pub(crate) use resolved::CostTable;
pub use table::{CLASSES, HOST_CPU};
