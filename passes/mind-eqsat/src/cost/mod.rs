//! The cost model: launch + max(bytes / bandwidth, flops / peak), in integer picoseconds.
//!
//! Costs are only meant for comparisons. Unknown extents are assumed to be [`CostModel::unknown_extent`].

mod class;
mod model;
mod module;
mod resolved;
mod table;
mod work;

pub use class::{CostClass, Inner};
pub use model::{CostModel, Level};
pub(crate) use module::{module_price, op_price, op_work};
pub(crate) use resolved::CostTable;
pub use table::{CHANNELS_FIRST, CLASSES, HOST_CPU};
pub(crate) use work::{Price, Work};
