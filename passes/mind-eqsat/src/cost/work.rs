//! What ops do, and what running them as one kernel costs.

use mind_ir::scalar::ScalarFn;
use mind_ir::types::{DType, Dim, TypeView};
use mind_rules::Channels;

use super::class::{CostClass, Inner};
use super::model::CostModel;

/// The work of one op or of a group that runs as one. Adds up over the ops of a group.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Work {
    /// Scalar functions outside contractions, in simple ones.
    scalar: u64,
    /// Multiplications and additions in products of matrices, those of `f64` twice.
    product: u64,
    /// The same in convolutions.
    convolution: u64,
    /// How many contractions there are.
    contractions: u64,
    /// The bytes of right-hand sides that one block of rows after the other reads again from memory, if
    /// the contractions run block by block.
    again: u64,
}

/// What running something takes, by the model.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Price {
    /// Time in picoseconds.
    pub(crate) cost: u64,
    /// Bytes moved to and from memory.
    pub(crate) bytes: u64,
}

impl Price {
    /// The price of both, one after the other.
    pub(crate) fn plus(self, other: Price) -> Price {
        Price {
            cost: self.cost.saturating_add(other.cost),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }
}

impl Work {
    /// All scalar operations.
    pub(crate) fn total(self) -> u64 {
        let contractions = self.product.saturating_add(self.convolution);
        self.scalar.saturating_add(contractions)
    }

    /// The work of both.
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
    /// The work of an op of `class`.
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

    /// Each element of the result has the taps of a filter: the last dimension of operand 1 counts filters if channels
    /// are last, the first one if they are second.
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

    /// Without batches, the elements of both operands have the contracted extent squared times those of the result. A
    /// factorization multiplies rows of its one operand.
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

    /// Whether `bytes` stay in a cache from one block of rows to the next.
    fn stays_cached(&self, bytes: u64) -> bool {
        let caches = self
            .levels
            .split_last()
            .map_or(&[][..], |(_, caches)| caches);
        caches.iter().any(|level| bytes <= level.capacity)
    }

    /// One kernel that reads and writes tensors of `bytes` in all, each once, and does `work`.
    ///
    /// What fits into a level moves at its bandwidth and only the rest at the next one's, so that two
    /// kernels never cost less than one that moves fewer bytes for a mere step between levels. Of what
    /// hides behind the longer of moving and computing, a small share counts, to decide between forms
    /// that are equal otherwise. Contractions behind each other run by blocks of rows; right-hand sides
    /// that no cache holds are then read once per block.
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

    /// The price of one op that runs by itself over operands that `values` tells apart.
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
    /// Whether a convolution runs between transposes.
    fn takes_transposes(&self, operands: &[TypeView<'_>], result: TypeView<'_>) -> bool {
        match self.channels {
            Channels::Last => has_channels_first(operands, result),
            Channels::First => has_channels_last(operands, result),
        }
    }
}

/// Whether the last dimension of a convolution's filter counts its filters, and so does that of its result.
fn has_channels_last(operands: &[TypeView<'_>], result: TypeView<'_>) -> bool {
    let [_, filter, ..] = operands else {
        return false;
    };
    filter.shape.last() == result.shape.last()
}

/// Whether a convolution is lowered to one with its channels last between transposes: it has no groups, at most two
/// spatial dimensions, and the channels of its operands and its result are second.
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

/// How long `amount` takes at `rate` per nanosecond.
fn picoseconds(amount: u64, rate: u64) -> u64 {
    u64::try_from(u128::from(amount) * 1000 / u128::from(rate.max(1))).unwrap_or(u64::MAX)
}

/// One part in this many counts of what hides behind something longer.
const HIDDEN_SHARE: u64 = 256;
