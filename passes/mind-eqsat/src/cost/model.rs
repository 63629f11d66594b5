//! Costs of kernels.

use mind_ir::scalar::ScalarFn;
use mind_ir::types::{Dim, TypeView};

use super::class::{CostClass, Inner};

/// A machine, as far as choosing between equal programs needs to know it.
#[derive(Clone, Copy, Debug)]
pub struct CostModel {
    /// What starting a kernel costs, in picoseconds.
    pub launch: u64,
    /// The memory levels, nearest first; the last one's capacity is not looked at.
    pub levels: &'static [Level],
    /// Scalar multiplications and additions per nanosecond in contractions.
    pub contraction_peak: u64,
    /// Simple scalar functions per nanosecond elsewhere.
    pub scalar_peak: u64,
    /// Where an extent is not known, it is taken to be this.
    pub unknown_extent: u64,
    /// What a reader must be able to tell apart though the machine does not: one op more.
    pub op: u64,
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

/// The work of one op or of a group that runs as one.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Work {
    /// Scalar operations outside contractions, weighted.
    pub(crate) scalar: u64,
    /// Scalar operations in contractions.
    pub(crate) contraction: u64,
}

impl Work {
    /// All scalar operations.
    pub(crate) fn total(self) -> u64 {
        self.scalar.saturating_add(self.contraction)
    }

    /// The work of both.
    pub(crate) fn plus(self, other: Work) -> Work {
        Work {
            scalar: self.scalar.saturating_add(other.scalar),
            contraction: self.contraction.saturating_add(other.contraction),
        }
    }
}

impl CostModel {
    /// The number of elements of `ty`.
    fn count(&self, ty: TypeView<'_>) -> u64 {
        ty.shape
            .iter()
            .fold(1u64, |count, &dim| count.saturating_mul(self.extent(dim)))
    }

    fn extent(&self, dim: Dim) -> u64 {
        dim.fixed()
            .map_or(self.unknown_extent, |extent| extent.max(0) as u64)
    }

    /// The bytes of a tensor of type `ty`.
    pub(crate) fn bytes(&self, ty: TypeView<'_>) -> u64 {
        self.count(ty).saturating_mul(ty.dtype.size() as u64)
    }

    /// One kernel that moves `bytes` and does `work`.
    ///
    /// What fits into a level moves at its bandwidth and only the rest at the next one's, so that two
    /// kernels never cost less than one that moves fewer bytes for a mere step between levels. Of what
    /// hides behind the longer of moving and computing, a small share counts, to decide between forms
    /// that are equal otherwise.
    pub(crate) fn kernel(&self, bytes: u64, work: Work) -> u64 {
        let (mut rest, mut within, mut moving) = (bytes, 0u64, 0u64);
        for (at, level) in self.levels.iter().enumerate() {
            let last = at + 1 == self.levels.len();
            let part = if last {
                rest
            } else {
                rest.min(level.capacity.saturating_sub(within))
            };
            moving = moving.saturating_add(picoseconds(part, level.bandwidth));
            (rest, within) = (rest - part, level.capacity);
        }
        let computing = picoseconds(work.scalar, self.scalar_peak)
            .saturating_add(picoseconds(work.contraction, self.contraction_peak));
        let hidden = moving.min(computing) / HIDDEN_SHARE;
        let visible = moving.max(computing).saturating_add(hidden);
        self.launch.saturating_add(visible).saturating_add(self.op)
    }

    /// The work of an op of `class`.
    pub(crate) fn work(
        &self,
        class: CostClass,
        scalar: Option<ScalarFn>,
        operands: &[TypeView<'_>],
        result: TypeView<'_>,
    ) -> Work {
        let elements = self.count(result);
        let read = || operands.iter().map(|&ty| self.count(ty)).max().unwrap_or(0);
        match class {
            CostClass::Free
            | CostClass::View
            | CostClass::Permute
            | CostClass::Move
            | CostClass::Lookup => Work::default(),
            CostClass::Elementwise => {
                let weight = scalar.map_or(1, weight);
                Work {
                    scalar: elements.saturating_mul(weight),
                    contraction: 0,
                }
            }
            CostClass::Reduction => Work {
                scalar: read(),
                contraction: 0,
            },
            CostClass::Normalisation => Work {
                scalar: elements.saturating_mul(NORMALISATION_WEIGHT),
                contraction: 0,
            },
            CostClass::Contraction(inner) => {
                let length = self.inner_length(inner, operands);
                let flops = elements.saturating_mul(length).saturating_mul(2);
                Work {
                    scalar: 0,
                    contraction: flops,
                }
            }
        }
    }

    fn inner_length(&self, inner: Inner, operands: &[TypeView<'_>]) -> u64 {
        match (inner, operands) {
            (Inner::LastOfLhs, [lhs, ..]) => lhs.shape.last().map_or(1, |&dim| self.extent(dim)),
            (Inner::AllButLastOfRhs, [_, rhs, ..]) => {
                let (_, inner) = rhs.shape.split_last().unwrap_or((&Dim::Fixed(1), &[]));
                inner
                    .iter()
                    .fold(1, |product, &dim| product.saturating_mul(self.extent(dim)))
            }
            _ => 1,
        }
    }

    /// The cost of one op that runs by itself over operands that `values` tells apart.
    pub(crate) fn op<V: PartialEq>(
        &self,
        class: CostClass,
        scalar: Option<ScalarFn>,
        values: &[V],
        operands: &[TypeView<'_>],
        result: TypeView<'_>,
    ) -> u64 {
        match class {
            CostClass::Free => 0,
            CostClass::View => self.op,
            CostClass::Move | CostClass::Lookup => {
                self.kernel(self.bytes(result).saturating_mul(2), Work::default())
            }
            _ => {
                let first = |at: &usize| !values[..*at].contains(&values[*at]);
                let read = (0..values.len())
                    .filter(first)
                    .map(|at| self.bytes(operands[at]));
                let bytes = read.fold(self.bytes(result), u64::saturating_add);
                self.kernel(bytes, self.work(class, scalar, operands, result))
            }
        }
    }
}

/// How long `amount` takes at `rate` per nanosecond.
fn picoseconds(amount: u64, rate: u64) -> u64 {
    u64::try_from(u128::from(amount) * 1000 / u128::from(rate.max(1))).unwrap_or(u64::MAX)
}

/// What a scalar function costs, in simple ones.
fn weight(function: ScalarFn) -> u64 {
    match function {
        ScalarFn::Add | ScalarFn::Sub | ScalarFn::Mul => 1,
        ScalarFn::Neg | ScalarFn::Abs | ScalarFn::Relu => 1,
        ScalarFn::Maximum | ScalarFn::Minimum => 2,
        ScalarFn::Div | ScalarFn::Sqrt => 4,
        ScalarFn::Exp | ScalarFn::Log => 12,
        ScalarFn::Sigmoid | ScalarFn::Tanh | ScalarFn::Erf | ScalarFn::Gelu => 20,
    }
}

/// One part in this many counts of what hides behind something longer.
const HIDDEN_SHARE: u64 = 256;

/// What a normalisation does per element, in simple scalar functions.
const NORMALISATION_WEIGHT: u64 = 20;
