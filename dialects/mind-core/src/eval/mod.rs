//! Kernels that evaluate the ops, in the order and with the rounding that docs/numerics.md states.
//!
//! The public ones are shared with the dialects that core is lowered to, so that each order of rounding is implemented
//! once.
//!
//! Kernels take extents from the operand tensors and not from static types, because a run may have other extents than
//! an open type declares. Ranks and dtypes are as verified.

pub mod bits;
pub mod blocks;
pub mod bounds;
pub(crate) mod chain;
pub(crate) mod checked;
pub(crate) mod contract;
pub(crate) mod contraction;
pub(crate) mod control;
pub(crate) mod conv;
pub mod convert;
pub mod cumulative;
pub(crate) mod grid;
pub(crate) mod indexed;
pub(crate) mod keys;
mod lanes;
pub mod reduce;
pub mod resize;
pub(crate) mod select;
pub mod sliding;
pub mod solve;
pub mod strided;
