//! Where the elements of a tensor stand: strides over a buffer.

use mind_ir::ValueId;
use mind_ir::types::Dim;
use mind_loops::extents::dense;

/// What memory elements stand in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Source {
    /// That of a value of the module.
    Value(ValueId),
    /// That of a result of a kernel that is not emitted yet.
    Kernel {
        /// Its number in the group.
        kernel: usize,
        /// The result.
        result: usize,
    },
}

/// Where the elements of a tensor stand.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct StridedView {
    /// The memory.
    pub(crate) source: Source,
    /// The extents of the tensor.
    pub(crate) extents: Vec<usize>,
    /// Elements from one position to the next, a dimension each.
    pub(crate) strides: Vec<i64>,
    /// The first element.
    pub(crate) offset: i64,
}

impl StridedView {
    /// All of `source`, row-major.
    pub(crate) fn whole(source: Source, extents: Vec<usize>) -> StridedView {
        let strides = dense(&extents);
        StridedView {
            source,
            extents,
            strides,
            offset: 0,
        }
    }

    /// The extents of the dimensions along which elements differ, and 1 for the others. Strides of a tensor without
    /// elements say nothing.
    pub(crate) fn varying(&self) -> impl Iterator<Item = Dim> + '_ {
        let is_empty = self.count() == 0;
        let dims = self.extents.iter().zip(&self.strides);
        dims.map(move |(&extent, &stride)| match stride {
            0 if !is_empty => Dim::Fixed(1),
            _ => Dim::Fixed(extent as i64),
        })
    }

    pub(crate) fn count(&self) -> usize {
        self.extents.iter().product()
    }

    /// Whether the elements stand row-major without gaps from the start of the buffer.
    pub(crate) fn is_dense(&self) -> bool {
        let dense = dense(&self.extents);
        let own = self.extents.iter().zip(&self.strides).zip(&dense);
        self.count() == 0
            || self.offset == 0
                && own
                    .into_iter()
                    .all(|((&extent, own), dense)| extent == 1 || own == dense)
    }

    /// The dimensions in another order: dimension `i` of the result is `order[i]` of `self`.
    pub(crate) fn permuted(&self, order: &[usize]) -> StridedView {
        StridedView {
            extents: order.iter().map(|&axis| self.extents[axis]).collect(),
            strides: order.iter().map(|&axis| self.strides[axis]).collect(),
            ..self.clone()
        }
    }

    /// The positions from `starts` on, every `steps`-th, `extents` of them.
    pub(crate) fn sliced(&self, starts: &[i64], steps: &[i64], extents: &[usize]) -> StridedView {
        let first = starts.iter().zip(&self.strides);
        let offset = if extents.contains(&0) {
            0
        } else {
            first.map(|(start, stride)| start * stride).sum()
        };
        let strides = steps.iter().zip(&self.strides);
        StridedView {
            extents: extents.to_vec(),
            strides: strides.map(|(step, stride)| step * stride).collect(),
            offset: self.offset + offset,
            ..self.clone()
        }
    }

    /// Repeated: dimension `i` becomes `dims[i]` of `extents`, and stays put where its extent is 1.
    pub(crate) fn broadcast(&self, dims: &[usize], extents: &[usize]) -> StridedView {
        let mut strides = vec![0; extents.len()];
        for (own, &at) in dims.iter().enumerate() {
            if self.extents[own] == extents[at] && self.extents[own] != 1 {
                strides[at] = self.strides[own];
            }
        }
        StridedView {
            extents: extents.to_vec(),
            strides,
            ..self.clone()
        }
    }

    /// The same elements in order in another shape of as many; `None` if no strides say it.
    pub(crate) fn reshaped(&self, extents: &[usize]) -> Option<StridedView> {
        let with = |strides: Vec<i64>| {
            Some(StridedView {
                extents: extents.to_vec(),
                strides,
                ..self.clone()
            })
        };
        if self.count() == 0 {
            return with(vec![0; extents.len()]);
        }
        let own: Vec<(usize, i64)> = self.squeezed_dims().collect();
        let (mut from, mut strides) = (0, vec![0i64; extents.len()]);
        let mut to = 0;
        while to < extents.len() {
            if extents[to] == 1 {
                to += 1;
                continue;
            }
            let (mut taken, mut given) = (own.get(from)?.0, extents[to]);
            let (first, start) = (from, to);
            while taken != given {
                if taken < given {
                    from += 1;
                    let (extent, stride) = *own.get(from)?;
                    if own[from - 1].1 != stride * extent as i64 {
                        return None;
                    }
                    taken *= extent;
                } else {
                    to += 1;
                    given *= extents.get(to)?;
                }
            }
            debug_assert!(first <= from);
            let mut stride = own[from].1;
            for at in (start..=to).rev() {
                strides[at] = stride;
                stride *= extents[at] as i64;
            }
            from += 1;
            to += 1;
        }
        with(strides)
    }

    /// Extents and strides of the dimensions with more than one position.
    fn squeezed_dims(&self) -> impl Iterator<Item = (usize, i64)> + '_ {
        let dims = self
            .extents
            .iter()
            .copied()
            .zip(self.strides.iter().copied());
        dims.filter(|&(extent, _)| extent != 1)
    }

    /// Without the dimensions that have one position.
    pub(crate) fn squeezed(&self) -> StridedView {
        let (extents, strides) = self.squeezed_dims().unzip();
        StridedView {
            extents,
            strides,
            ..self.clone()
        }
    }

    /// Whether dimension `at` and the next one are one. A dimension of one position continues any other.
    pub(crate) fn continues(&self, at: usize) -> bool {
        self.extents[at] == 1
            || self.extents[at + 1] == 1
            || self.strides[at] == self.strides[at + 1] * self.extents[at + 1] as i64
    }

    /// With the dimensions `at` and `at + 1` as one, given that they continue each other.
    pub(crate) fn joined(&self, at: usize) -> StridedView {
        let mut joined = self.clone();
        if self.extents[at + 1] != 1 {
            joined.strides[at] = joined.strides[at + 1];
        }
        joined.extents[at] *= joined.extents[at + 1];
        joined.extents.remove(at + 1);
        joined.strides.remove(at + 1);
        joined
    }

    /// With all of the dimensions `range` as one, of which there is at least one; `None` if they do not
    /// continue each other.
    pub(crate) fn collapsed(&self, range: std::ops::Range<usize>) -> Option<StridedView> {
        let mut place = self.clone();
        for at in (range.start..range.end - 1).rev() {
            if !place.continues(at) {
                return None;
            }
            place = place.joined(at);
        }
        Some(place)
    }

    /// With a dimension of one position at `at`.
    pub(crate) fn with_unit(&self, at: usize) -> StridedView {
        let mut place = self.clone();
        place.extents.insert(at, 1);
        place.strides.insert(at, 0);
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(extents: &[usize], strides: &[i64]) -> StridedView {
        StridedView {
            source: Source::Kernel {
                kernel: 0,
                result: 0,
            },
            extents: extents.to_vec(),
            strides: strides.to_vec(),
            offset: 0,
        }
    }

    #[test]
    fn reshapes_split_and_join_dimensions_that_continue_each_other() {
        let dense = place(&[4, 6], &[6, 1]);
        assert_eq!(
            dense.reshaped(&[2, 2, 3, 2]).unwrap().strides,
            [12, 6, 2, 1]
        );
        assert_eq!(dense.reshaped(&[24, 1]).unwrap().strides, [1, 0]);
        assert_eq!(dense.reshaped(&[3, 8]).unwrap().strides, [8, 1]);
        let transposed = place(&[6, 4], &[1, 6]);
        assert_eq!(transposed.reshaped(&[2, 3, 4]).unwrap().strides, [3, 1, 6]);
        assert_eq!(transposed.reshaped(&[24]), None);
        assert_eq!(transposed.reshaped(&[3, 8]), None);
        assert_eq!(place(&[], &[]).reshaped(&[1, 1]).unwrap().strides, [0, 0]);
    }

    #[test]
    fn repeated_dimensions_join_only_with_each_other() {
        let rows = place(&[2, 3, 4], &[0, 0, 1]);
        assert_eq!(rows.collapsed(0..2).unwrap().strides, [0, 1]);
        assert_eq!(rows.collapsed(1..3), None);
        assert!(!rows.is_dense());
    }
}
