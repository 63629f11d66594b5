//! The work of ops, and the price of running it as one kernel.

use mind_ir::scalar::ScalarFn;
use mind_ir::types::{DType, Dim, TypeView};
use mind_rules::Channels;

use super::class::{CostClass, Inner};
use super::model::CostModel;

/// The work of one op or of a fused group. Additive over the ops of a group.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Work {
    /// Scalar functions outside contractions, in units of simple ones.
    scalar: u64,
    /// Multiplications and additions in matrix products; those of `f64` count twice.
    product: u64,
    /// Multiplications and additions in convolutions; those of `f64` count twice.
    convolution: u64,
    /// The number of contractions.
    contractions: u64,
    /// The bytes of right-hand sides that are read again from memory for each further block of rows, if the
    /// contractions run by blocks.
    again: u64,
}

/// The modelled time and memory traffic.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Price {
    /// Time in picoseconds.
    pub(crate) cost: u64,
    /// Bytes moved to and from memory.
    pub(crate) bytes: u64,
}

impl Price {
    /// Returns the price of running both, one after the other.
    pub(crate) fn plus(self, other: Price) -> Price {
        Price {
            cost: self.cost.saturating_add(other.cost),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }
}

impl Work {
    /// Returns the number of all scalar operations.
    pub(crate) fn total(self) -> u64 {
        let contractions = self.product.saturating_add(self.convolution);
        self.scalar.saturating_add(contractions)
    }

    /// Returns the sum of both.
    pub(crate) fn plus(self, other: Work) -> Work {
        Work {
            scalar: self.scalar.saturating_add(other.scalar),
            product: self.product.saturating_add(other.product),
            convolution: self.convolution.saturating_add(other.convolution),
            contractions: self.contractions.saturating_add(other.contractions),
            again: self.again.saturating_add(other.again),
        }
    }

    fn scalar(count: u64) -> Work {
        Work {
            scalar: count,
            ..Work::default()
        }
    }
}

impl CostModel {
    /// Returns the work of an op of `class`.
    pub(crate) fn work(
        &self,
        class: CostClass,
        scalar: Option<ScalarFn>,
        operands: &[TypeView<'_>],
        result: TypeView<'_>,
    ) -> Work {
        let elements = self.count(result);
        match class {
            CostClass::Free
            | CostClass::View
            | CostClass::Permute
            | CostClass::Move
            | CostClass::Lookup => Work::default(),
            CostClass::Elementwise => Work::scalar(
                elements.saturating_mul(scalar.map_or(1, |function| function.cost() as u64)),
            ),
            CostClass::Reduction => {
                Work::scalar(operands.iter().map(|&ty| self.count(ty)).max().unwrap_or(0))
            }
            CostClass::Normalisation(weight) | CostClass::Scaled(weight) => {
                Work::scalar(elements.saturating_mul(weight))
            }
            CostClass::Contraction(inner) => self.contraction(inner, operands, result),
            CostClass::Product => self.product(operands, result),
            CostClass::Convolution => self.windows(operands, result),
        }
    }

    /// Returns the work of a convolution: each element of the result takes the taps of one filter. The last dimension
    /// of operand 1 counts the filters if channels are last, the first one if channels are second.
    fn windows(&self, operands: &[TypeView<'_>], result: TypeView<'_>) -> Work {
        let [_, filters, ..] = operands else {
            return Work::default();
        };
        let is_last = filters.shape.last() == result.shape.last();
        let taps = match (filters.shape, is_last) {
            ([window @ .., _], true) => window,
            ([_, window @ ..], false) => window,
            ([], _) => &[],
        };
        let taps = taps.iter().map(|&dim| self.extent(dim));
        let taps = taps.fold(1, u64::saturating_mul);
        let wide = if result.dtype == DType::F64 { 4 } else { 2 };
        let flops = self.count(result).saturating_mul(taps).saturating_mul(wide);
        Work {
            convolution: flops,
            contractions: 1,
            ..Work::default()
        }
    }

    /// Returns the work of a `dot_general`. Its contracted extent K is derived from element counts: without batches,
    /// |lhs| · |rhs| = K² · |result|. A factorization multiplies the rows of its one operand.
    fn product(&self, operands: &[TypeView<'_>], result: TypeView<'_>) -> Work {
        let counts = operands.iter().map(|&ty| u128::from(self.count(ty)));
        let all = counts.fold(1, u128::saturating_mul);
        let all = match operands.len() {
            1 => all.saturating_mul(all),
            _ => all,
        };
        let elements = u128::from(self.count(result));
        let both = all / elements.max(1);
        let length = u64::try_from(both.isqrt()).unwrap_or(u64::MAX);
        let wide = if result.dtype == DType::F64 { 4 } else { 2 };
        let flops = self.count(result).saturating_mul(length);
        Work {
            product: flops.saturating_mul(wide),
            contractions: 1,
            ..Work::default()
        }
    }

    fn contraction(&self, inner: Inner, operands: &[TypeView<'_>], result: TypeView<'_>) -> Work {
        let [lhs, rhs, ..] = operands else {
            return Work::default();
        };
        let extents = |dims: &[Dim]| {
            let extents = dims.iter().map(|&dim| self.extent(dim));
            extents.fold(1, u64::saturating_mul)
        };
        let flops = |length: u64| {
            let wide = if result.dtype == DType::F64 { 4 } else { 2 };
            self.count(result)
                .saturating_mul(length)
                .saturating_mul(wide)
        };
        let contractions = 1;
        match inner {
            Inner::LastOfLhs => {
                let product = flops(lhs.shape.last().map_or(1, |&dim| self.extent(dim)));
                let matrix = extents(&rhs.shape[rhs.rank().saturating_sub(2)..]);
                let matrix = matrix.saturating_mul(rhs.dtype.size() as u64);
                let again = match self.stays_cached(matrix) {
                    true => 0,
                    false => {
                        let rows = result.shape.iter().rev().nth(1);
                        let blocks =
                            rows.map_or(1, |&dim| self.extent(dim).div_ceil(self.row_block));
                        let batch = extents(&result.shape[..result.rank().saturating_sub(2)]);
                        let times = blocks.saturating_sub(1).saturating_mul(batch);
                        matrix.saturating_mul(times)
                    }
                };
                Work {
                    product,
                    contractions,
                    again,
                    ..Work::default()
                }
            }
            Inner::AllButLastOfRhs => {
                let window = rhs
                    .shape
                    .split_last()
                    .map_or(1, |(_, window)| extents(window));
                Work {
                    convolution: flops(window),
                    contractions,
                    ..Work::default()
                }
            }
        }
    }

    /// Returns whether `bytes` stay in a cache from one block of rows to the next.
    fn stays_cached(&self, bytes: u64) -> bool {
        let caches = self
            .levels
            .split_last()
            .map_or(&[][..], |(_, caches)| caches);
        caches.iter().any(|level| bytes <= level.capacity)
    }

    /// Returns the price of one kernel that does `work` and reads and writes tensors of `bytes` in total, each once.
    ///
    /// Bytes that fit into a level move at its bandwidth, and only the rest moves at the bandwidth of the next level.
    /// Otherwise two kernels could cost less than one that moves fewer bytes, only because each of the two stays within
    /// a level. The time is the longer of moving and computing; a small share of the shorter one is added to break
    /// ties. Several contractions in one kernel run by blocks of rows, and right-hand sides that no cache holds are
    /// read once per block.
    pub(crate) fn kernel(&self, bytes: u64, work: Work) -> Price {
        let again = if work.contractions > 1 { work.again } else { 0 };
        let bytes = bytes.saturating_add(again);
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
            .saturating_add(picoseconds(work.product, self.product_peak))
            .saturating_add(picoseconds(work.convolution, self.convolution_peak));
        let hidden = moving.min(computing) / HIDDEN_SHARE;
        let visible = moving.max(computing).saturating_add(hidden);
        let cost = self.launch.saturating_add(visible).saturating_add(self.op);
        Price { cost, bytes }
    }

    /// Returns the price of one op as a kernel of its own. `values` identifies its operands, because a value that is
    /// read twice is moved once.
    pub(crate) fn op<V: PartialEq>(
        &self,
        class: CostClass,
        scalar: Option<ScalarFn>,
        values: &[V],
        operands: &[TypeView<'_>],
        result: TypeView<'_>,
    ) -> Price {
        match class {
            CostClass::Free => Price::default(),
            CostClass::View => Price {
                cost: self.op,
                bytes: 0,
            },
            CostClass::Move | CostClass::Lookup => {
                self.kernel(self.bytes(result).saturating_mul(2), Work::default())
            }
            CostClass::Permute
            | CostClass::Elementwise
            | CostClass::Reduction
            | CostClass::Normalisation(_)
            | CostClass::Contraction(_)
            | CostClass::Product
            | CostClass::Scaled(_)
            | CostClass::Convolution => {
                let first = |at: &usize| !values[..*at].contains(&values[*at]);
                let read = (0..values.len())
                    .filter(first)
                    .map(|at| self.bytes(operands[at]));
                let bytes = read.fold(self.bytes(result), u64::saturating_add);
                let own = self.kernel(bytes, self.work(class, scalar, operands, result));
                match class {
                    CostClass::Convolution if self.takes_transposes(operands, result) => {
                        let around = operands.iter().chain([&result]);
                        let moved = around.map(|&ty| self.bytes(ty).saturating_mul(2));
                        let moved = moved.map(|bytes| self.kernel(bytes, Work::default()));
                        let hidden = Price {
                            cost: self.op,
                            bytes: 0,
                        };
                        moved.fold(own.plus(hidden), Price::plus)
                    }
                    _ => own,
                }
            }
        }
    }
}

impl CostModel {
    /// Returns whether a convolution is lowered with transposes around it.
    fn takes_transposes(&self, operands: &[TypeView<'_>], result: TypeView<'_>) -> bool {
        match self.channels {
            Channels::Last => has_channels_first(operands, result),
            Channels::First => has_channels_last(operands, result),
        }
    }
}

/// Returns whether a convolution has its channels last: the last dimensions of its filter and its result both count the
/// filters.
fn has_channels_last(operands: &[TypeView<'_>], result: TypeView<'_>) -> bool {
    let [_, filter, ..] = operands else {
        return false;
    };
    filter.shape.last() == result.shape.last()
}

/// Returns whether a convolution is lowered to one with its channels last between transposes: it has no groups, at most
/// two spatial dimensions, and the channels of its operands and its result are second.
fn has_channels_first(operands: &[TypeView<'_>], result: TypeView<'_>) -> bool {
    let [input, filter, ..] = operands else {
        return false;
    };
    let channels = |ty: &TypeView<'_>| ty.shape.get(1).copied();
    let [Some(own), Some(filters)] = [input, &result].map(channels) else {
        return false;
    };
    let is_last = has_channels_last(operands, result);
    let [first, second, ..] = filter.shape else {
        return false;
    };
    let pairs = [(filters, own), (own, filters)];
    !is_last && input.rank() <= 4 && pairs.contains(&(*first, *second))
}

/// Returns the picoseconds that `amount` takes at `rate` per nanosecond.
fn picoseconds(amount: u64, rate: u64) -> u64 {
    u64::try_from(u128::from(amount) * 1000 / u128::from(rate.max(1))).unwrap_or(u64::MAX)
}

/// One part in this many of the shorter of moving and computing is added to the cost.
const HIDDEN_SHARE: u64 = 256;
