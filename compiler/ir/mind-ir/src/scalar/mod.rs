//! Scalar functions, which elementwise ops apply at every position.

mod bits;
mod broadcast;
mod eval;
mod facts;
mod infer;
pub mod math;
mod reduction;
mod table;

pub use bits::{Bits, Int};
pub use broadcast::{Broadcast, broadcast_extents};
pub use facts::Facts;
pub use infer::{EVAL, infer_hook};
pub use reduction::Reduction;
pub use table::ScalarFn;
