//! Kernels behind the evaluation of the ops, as docs/numerics.md states their order and rounding.
//!
//! What is public is for dialects that core is lowered to, so that an order of rounding stands once.
//!
//! Extents are always those of the operand tensors: a static type may claim more than a run keeps,
//! where an extent was open and its declaration a guess. Ranks and dtypes are as verified.

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
