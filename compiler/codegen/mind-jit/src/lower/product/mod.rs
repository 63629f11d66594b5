//! Matrix products in vector IR.
//!
//! A product is divided into register tiles: each element of the result is one chain of multiply-adds, in the order of
//! docs/numerics.md, whatever the tile size. The caller supplies the epilogue, which runs while a complete vector is in
//! its register.

mod block_product;
mod blocks;
mod conv;
mod finish;
mod layout;
mod matrix;
mod operands;
mod pack;
mod quantised;
mod ranges;
mod right;
mod schedule;
mod scratch;
mod stage;
mod tile;

pub use block_product::{BlockOperands, BlockProduct, Method, block_product};
pub use blocks::product;
pub use conv::{Conv, conv};
pub use finish::Finish;
pub use mind_core::parts::Parts;

pub use layout::{Lhs, Panels, Rhs};
pub use matrix::{Sums, product_in_place};
pub use operands::{Operands, Product, Region, TileCoord};
pub use pack::{Packing, pack};
pub use quantised::{QuantPacking, QuantPanels, pack_quantised};
pub use schedule::{Schedule, ScheduleError, ScheduleRequest};
pub(super) use tile::multiply_add;
