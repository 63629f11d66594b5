//! The meaning of the ops: evaluation, family by family, as docs/numerics.md states it.

pub(crate) mod constant;
pub(crate) mod contract;
pub(crate) mod conv;
pub(crate) mod fused;
pub(crate) mod index;
pub(crate) mod join;
pub(crate) mod normalize;
pub(crate) mod reduce;
pub(crate) mod shape;
