//! Strided views: the layout of a tensor in a buffer.

use mind_ir::ValueId;
use mind_ir::types::Dim;
use mind_loops::extents::dense;

/// The buffer of a view.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Source {
    /// A value of the module.
    Value(ValueId),
    /// A result of a kernel that is not emitted yet.
    Kernel {
        /// The index of the kernel in the group.
        kernel: usize,
        /// The index of the result.
        result: usize,
    },
}

/// A strided view of a buffer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct StridedView {
    /// The buffer.
    pub(crate) source: Source,
    /// The extents of the tensor.
    pub(crate) extents: Vec<usize>,
    /// The stride of each dimension, in elements.
    pub(crate) strides: Vec<i64>,
    /// The offset of the first element.
    pub(crate) offset: i64,
}

impl StridedView {
    /// Returns a view of all of `source` in row-major order.
    pub(crate) fn whole(source: Source, extents: Vec<usize>) -> StridedView {
        let strides = dense(&extents);
        StridedView {
            source,
            extents,
            strides,
            offset: 0,
        }
    }

    /// Returns for each dimension its extent, or 1 if it is broadcast. Strides of an empty tensor are arbitrary, so
    /// that none of its dimensions counts as broadcast.
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

    /// Returns whether the view is contiguous and row-major from the start of the buffer.
    pub(crate) fn is_dense(&self) -> bool {
        let dense = dense(&self.extents);
        let own = self.extents.iter().zip(&self.strides).zip(&dense);
        self.count() == 0
            || self.offset == 0
                && own
                    .into_iter()
                    .all(|((&extent, own), dense)| extent == 1 || own == dense)
    }

    /// Permutes the dimensions: dimension `i` of the result is `order[i]` of `self`.
    pub(crate) fn permuted(&self, order: &[usize]) -> StridedView {
        StridedView {
            extents: order.iter().map(|&axis| self.extents[axis]).collect(),
            strides: order.iter().map(|&axis| self.strides[axis]).collect(),
            ..self.clone()
        }
    }

    /// Slices each dimension: `extents` elements from `starts`, every `steps`-th.
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

    /// Broadcasts: dimension `i` becomes `dims[i]` of `extents`, with stride 0 if its extent is 1.
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

    /// Reshapes to `extents`, which have the same number of elements; `None` if strides cannot express it. For example
    /// a transposed matrix cannot be flattened.
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

    /// Returns the extents and strides of the dimensions with more than one position.
    fn squeezed_dims(&self) -> impl Iterator<Item = (usize, i64)> + '_ {
        let dims = self
            .extents
            .iter()
            .copied()
            .zip(self.strides.iter().copied());
        dims.filter(|&(extent, _)| extent != 1)
    }

    /// Removes the dimensions of extent 1.
    pub(crate) fn squeezed(&self) -> StridedView {
        let (extents, strides) = self.squeezed_dims().unzip();
        StridedView {
            extents,
            strides,
            ..self.clone()
        }
    }

    /// Returns whether dimensions `at` and `at + 1` can be merged. A dimension of extent 1 merges with any other.
    pub(crate) fn continues(&self, at: usize) -> bool {
        self.extents[at] == 1
            || self.extents[at + 1] == 1
            || self.strides[at] == self.strides[at + 1] * self.extents[at + 1] as i64
    }

    /// Merges dimensions `at` and `at + 1`, for which [`Self::continues`] holds.
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

    /// Merges the dimensions of `range`, which is not empty, into one; `None` if they cannot be merged.
    pub(crate) fn collapsed(&self, range: std::ops::Range<usize>) -> Option<StridedView> {
        let mut view = self.clone();
        for at in (range.start..range.end - 1).rev() {
            if !view.continues(at) {
                return None;
            }
            view = view.joined(at);
        }
        Some(view)
    }

    /// Inserts a dimension of extent 1 at `at`.
    pub(crate) fn with_unit(&self, at: usize) -> StridedView {
        let mut view = self.clone();
        view.extents.insert(at, 1);
        view.strides.insert(at, 0);
        view
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strided(extents: &[usize], strides: &[i64]) -> StridedView {
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
        let dense = strided(&[4, 6], &[6, 1]);
        assert_eq!(
            dense.reshaped(&[2, 2, 3, 2]).unwrap().strides,
            [12, 6, 2, 1]
        );
        assert_eq!(dense.reshaped(&[24, 1]).unwrap().strides, [1, 0]);
        assert_eq!(dense.reshaped(&[3, 8]).unwrap().strides, [8, 1]);
        let transposed = strided(&[6, 4], &[1, 6]);
        assert_eq!(transposed.reshaped(&[2, 3, 4]).unwrap().strides, [3, 1, 6]);
        assert_eq!(transposed.reshaped(&[24]), None);
        assert_eq!(transposed.reshaped(&[3, 8]), None);
        assert_eq!(strided(&[], &[]).reshaped(&[1, 1]).unwrap().strides, [0, 0]);
    }

    #[test]
    fn repeated_dimensions_join_only_with_each_other() {
        let rows = strided(&[2, 3, 4], &[0, 0, 1]);
        assert_eq!(rows.collapsed(0..2).unwrap().strides, [0, 1]);
        assert_eq!(rows.collapsed(1..3), None);
        assert!(!rows.is_dense());
    }
}
