//! Machine parameters of the cost model.

use mind_ir::types::{Dim, TypeView};
use mind_rules::Channels;

use super::class::{CostClass, Inner};

/// The parameters of a machine.
#[derive(Clone, Copy, Debug)]
pub struct CostModel {
    /// The cost of starting a kernel, in picoseconds.
    pub launch: u64,
    /// The memory levels, fastest first. The capacity of the last one is ignored.
    pub levels: &'static [Level],
    /// Scalar multiplications and additions per nanosecond in matrix products.
    pub product_peak: u64,
    /// Scalar multiplications and additions per nanosecond in convolutions.
    pub convolution_peak: u64,
    /// Simple scalar functions per nanosecond elsewhere.
    pub scalar_peak: u64,
    /// The rows per block if one kernel runs several contractions one after the other.
    pub row_block: u64,
    /// The value assumed for unknown extents.
    pub unknown_extent: u64,
    /// The cost of an op itself, in picoseconds. It breaks ties in favour of programs with fewer ops, which are easier
    /// to read.
    pub op: u64,
    /// The layout that convolutions run in. A convolution of another layout is lowered with transposes around it.
    pub channels: Channels,
    /// Classes by op name, for ops whose traits do not determine the class.
    pub classes: &'static [(&'static str, CostClass)],
}

/// A level of memory.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    /// The number of bytes that it holds.
    pub capacity: u64,
    /// The bytes per nanosecond that move to and from it.
    pub bandwidth: u64,
}

impl CostModel {
    /// Returns `class` as it is on this machine: only a convolution with its channels last can be fused with other ops.
    pub(super) fn adapted(&self, class: CostClass) -> CostClass {
        match (class, self.channels) {
            (CostClass::Contraction(Inner::AllButLastOfRhs), Channels::First) => {
                CostClass::Convolution
            }
            (class, _) => class,
        }
    }

    /// Returns the number of elements of `ty`.
    pub(super) fn count(&self, ty: TypeView<'_>) -> u64 {
        ty.shape
            .iter()
            .fold(1u64, |count, &dim| count.saturating_mul(self.extent(dim)))
    }

    /// Returns the extent of `dim`, or the assumed value if it is unknown.
    pub(super) fn extent(&self, dim: Dim) -> u64 {
        dim.fixed()
            .map_or(self.unknown_extent, |extent| extent.max(0) as u64)
    }

    /// Returns the bytes of a tensor of type `ty`.
    pub(crate) fn bytes(&self, ty: TypeView<'_>) -> u64 {
        self.count(ty).saturating_mul(ty.dtype.size() as u64)
    }
}
