//! A machine, as the cost model sees it.

use mind_ir::types::{Dim, TypeView};
use mind_rules::Channels;

use super::class::{CostClass, Inner};

/// A machine, as far as choosing between equal programs needs to know it.
#[derive(Clone, Copy, Debug)]
pub struct CostModel {
    /// What starting a kernel costs, in picoseconds.
    pub launch: u64,
    /// The memory levels, nearest first; the last one's capacity is not looked at.
    pub levels: &'static [Level],
    /// Scalar multiplications and additions per nanosecond in products of matrices.
    pub product_peak: u64,
    /// Scalar multiplications and additions per nanosecond in convolutions.
    pub convolution_peak: u64,
    /// Simple scalar functions per nanosecond elsewhere.
    pub scalar_peak: u64,
    /// How many rows run together where contractions stand behind each other in one kernel.
    pub row_block: u64,
    /// Where an extent is not known, it is taken to be this.
    pub unknown_extent: u64,
    /// What a reader must be able to tell apart though the machine does not: one op more.
    pub op: u64,
    /// The layout that convolutions run in; another one takes transposes around them.
    pub channels: Channels,
    /// The classes of ops that the op table does not tell.
    pub classes: &'static [(&'static str, CostClass)],
}

/// A level of memory.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    /// How many bytes it holds.
    pub capacity: u64,
    /// How many bytes per nanosecond move to and from it.
    pub bandwidth: u64,
}

impl CostModel {
    /// `class` on this machine: no kernel holds a convolution beside other ops unless its channels are last.
    pub(super) fn adapted(&self, class: CostClass) -> CostClass {
        match (class, self.channels) {
            (CostClass::Contraction(Inner::AllButLastOfRhs), Channels::First) => {
                CostClass::Convolution
            }
            (class, _) => class,
        }
    }

    /// The number of elements of `ty`.
    pub(super) fn count(&self, ty: TypeView<'_>) -> u64 {
        ty.shape
            .iter()
            .fold(1u64, |count, &dim| count.saturating_mul(self.extent(dim)))
    }

    /// The extent that `dim` is taken to be.
    pub(super) fn extent(&self, dim: Dim) -> u64 {
        dim.fixed()
            .map_or(self.unknown_extent, |extent| extent.max(0) as u64)
    }

    /// The bytes of a tensor of type `ty`.
    pub(crate) fn bytes(&self, ty: TypeView<'_>) -> u64 {
        self.count(ty).saturating_mul(ty.dtype.size() as u64)
    }
}
