//! The meaning of the ops: evaluation, family by family, as docs/numerics.md states it.
//!
//! Extents are always those of the operand tensors: a static type may claim more than a run keeps,
//! where an extent was open and its declaration a guess. Ranks and dtypes are as verified.

mod chain;
mod checked;
pub(crate) mod constant;
pub(crate) mod contract;
mod contraction;
pub(crate) mod conv;
pub(crate) mod fused;
pub(crate) mod index;
pub(crate) mod join;
mod lanes;
pub(crate) mod normalize;
pub(crate) mod reduce;
pub(crate) mod shape;
mod strided;
