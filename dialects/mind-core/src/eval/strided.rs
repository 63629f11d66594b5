//! Strided iteration over the elements of a tensor.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::tensor::{Element, Strides, Tensor, advance, row_major};
use mind_ir::with_dtype;
use smallvec::SmallVec;

/// A dimension of an index space: its extent and its stride in elements.
pub type Axis = (usize, usize);

/// Returns the row-major strides of a tensor. Those of an empty tensor are zeros, because its other extents may
/// overflow.
pub fn strides_of(tensor: &Tensor) -> Strides {
    match tensor.count() {
        0 => SmallVec::from_elem(0, tensor.rank()),
        _ => row_major(tensor.shape()),
    }
}

/// Copies the strided view of `input` with offset `base` and dimensions `axes` to a contiguous tensor.
///
/// # Errors
///
/// E6004 a result too large.
pub fn copy(
    cx: &EvalCx<'_>,
    input: &Tensor,
    base: usize,
    axes: &[Axis],
) -> Result<Tensor, EvalError> {
    fn run<T: Element>(elements: &[T], base: usize, axes: &[Axis], count: usize) -> Vec<T> {
        let space = Space::new(axes.iter().copied());
        if let Some(across) = space.across() {
            return transposed(elements, base, &space, across, count);
        }
        let mut copied = Vec::with_capacity(count);
        let (len, stride) = space.inner;
        for start in space.runs(base) {
            match stride {
                1 => copied.extend_from_slice(&elements[start..start + len]),
                0 => copied.extend(std::iter::repeat_n(elements[start], len)),
                _ => copied.extend((0..len).map(|at| elements[start + at * stride])),
            }
        }
        copied
    }
    let shape: Vec<usize> = axes.iter().map(|&(extent, _)| extent).collect();
    let count = cx.count(input.dtype(), &shape)?;
    with_dtype!(input.dtype(), T => {
        let elements = run(input.elements::<T>(), base, axes, count);
        Ok(Tensor::of(shape, elements))
    })
}

/// Rows and columns of a tile of [`transposed`]; the cache lines of a tile fit into the L1 cache.
const TILE: usize = 16;

/// Copies a space whose dimension `across` is contiguous in the input. Tiles of `across` by the innermost dimension
/// make each cache line be read and written once.
fn transposed<T: Element>(
    elements: &[T],
    base: usize,
    space: &Space,
    across: usize,
    count: usize,
) -> Vec<T> {
    let mut copied = vec![T::ZERO; count];
    let (len, stride) = space.inner;
    let rows = space.extents[across];
    // The strides of the result.
    let extents: SmallVec<[usize; 6]> = space.extents.iter().copied().chain([len]).collect();
    let steps = row_major(&extents);
    let others: SmallVec<[usize; 6]> = (0..space.extents.len())
        .filter(|&at| at != across)
        .collect();
    let outer = |strides: &[usize]| Space {
        inner: (1, 1),
        extents: others.iter().map(|&at| space.extents[at]).collect(),
        strides: others.iter().map(|&at| strides[at]).collect(),
    };
    let (from, to) = (outer(&space.strides), outer(&steps));
    for (from, to) in from.runs(base).zip(to.runs(0)) {
        for (row, first) in tiles(rows, len) {
            for at in row..rows.min(row + TILE) {
                let into = &mut copied[to + at * steps[across]..][..len];
                for column in first..len.min(first + TILE) {
                    into[column] = elements[from + at + column * stride];
                }
            }
        }
    }
    copied
}

/// Returns the first row and column of each tile.
fn tiles(rows: usize, columns: usize) -> impl Iterator<Item = (usize, usize)> {
    let rows = (0..rows).step_by(TILE);
    rows.flat_map(move |row| (0..columns).step_by(TILE).map(move |column| (row, column)))
}

/// A row-major index space, split into runs of equal length along the innermost dimension.
pub(crate) struct Space {
    /// The innermost dimension.
    pub(crate) inner: Axis,
    extents: SmallVec<[usize; 6]>,
    strides: SmallVec<[usize; 6]>,
}

impl Space {
    /// Returns the space of `axes`, outermost first. Dimensions that are contiguous with each other are merged. A space
    /// without positions has only one empty dimension, because the product of its other extents may overflow.
    pub(crate) fn new(axes: impl IntoIterator<Item = Axis>) -> Space {
        let axes: SmallVec<[Axis; 6]> = axes.into_iter().collect();
        let mut merged: SmallVec<[Axis; 6]> = SmallVec::new();
        if axes.iter().any(|&(extent, _)| extent == 0) {
            merged.push((0, 1));
        } else {
            for (extent, stride) in axes {
                match merged.last_mut() {
                    _ if extent == 1 => {}
                    Some(outer) if outer.1 == stride * extent => {
                        *outer = (outer.0 * extent, stride);
                    }
                    _ => merged.push((extent, stride)),
                }
            }
        }
        let inner = merged.pop().unwrap_or((1, 1));
        let (extents, strides) = merged.into_iter().unzip();
        Space {
            inner,
            extents,
            strides,
        }
    }

    /// Returns the dimension with stride 1, if it is not the innermost one.
    fn across(&self) -> Option<usize> {
        let (len, stride) = self.inner;
        let is_spread = stride > 1 && len > 1;
        let beside = || self.strides.iter().position(|&stride| stride == 1);
        is_spread.then(beside).flatten()
    }

    /// Returns the offset of the first element of each run, in order, starting from `base`.
    pub(crate) fn runs(&self, base: usize) -> impl Iterator<Item = usize> {
        let mut index: SmallVec<[usize; 6]> = SmallVec::from_elem(0, self.extents.len());
        let mut next = (self.inner.0 > 0).then_some(base);
        std::iter::from_fn(move || {
            let start = next?;
            next = advance(&mut index, &self.extents).then(|| {
                let steps = index.iter().zip(&self.strides);
                base + steps.map(|(i, stride)| i * stride).sum::<usize>()
            });
            Some(start)
        })
    }

    /// Returns the offset of every position, in order, starting from `base`.
    pub(crate) fn offsets(&self, base: usize) -> impl Iterator<Item = usize> {
        let (len, stride) = self.inner;
        self.runs(base)
            .flat_map(move |start| (0..len).map(move |i| start + i * stride))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mind_ir::Graph;
    use mind_ir::eval::DimEnv;

    fn offsets(axes: &[Axis]) -> Vec<usize> {
        Space::new(axes.iter().copied()).offsets(0).collect()
    }

    #[test]
    fn continuing_dimensions_are_one_run() {
        let dense = Space::new([(2, 12), (3, 4), (1, 4), (4, 1)]);
        assert_eq!(dense.inner, (24, 1));
        assert_eq!(dense.runs(7).collect::<Vec<_>>(), [7]);
        let rows = Space::new([(2, 12), (2, 4), (4, 1)]);
        assert_eq!(rows.inner, (8, 1));
        assert_eq!(rows.runs(0).collect::<Vec<_>>(), [0, 12]);
    }

    #[test]
    fn offsets_are_row_major_whatever_the_strides() {
        assert_eq!(offsets(&[(3, 1), (2, 3)]), [0, 3, 1, 4, 2, 5]);
        assert_eq!(offsets(&[(2, 0), (2, 1)]), [0, 1, 0, 1]);
        assert_eq!(offsets(&[(2, 5), (2, 0), (2, 1)]), [0, 1, 0, 1, 5, 6, 5, 6]);
        assert_eq!(offsets(&[]), [0]);
    }

    #[test]
    fn transposes_copy_what_their_offsets_say() {
        let elements: Vec<i32> = (0..40 * 3 * 37).collect();
        let input = Tensor::of(vec![40, 3, 37], elements);
        let dims = DimEnv::default();
        let g = Graph::new();
        let cx = EvalCx::fold(&g, &dims, u64::MAX);
        let strides = [111, 37, 1];
        let extents = [40, 3, 37];
        for order in [
            [2, 1, 0],
            [2, 0, 1],
            [1, 2, 0],
            [0, 2, 1],
            [1, 0, 2],
            [0, 1, 2],
        ] {
            let axes = order.map(|axis| (extents[axis], strides[axis]));
            let copied = copy(&cx, &input, 0, &axes).expect("it fits");
            let expected: Vec<i32> = offsets(&axes).into_iter().map(|at| at as i32).collect();
            assert_eq!(copied.elements::<i32>(), expected, "{order:?}");
        }
    }

    #[test]
    fn an_extent_of_zero_leaves_no_position() {
        assert!(offsets(&[(0, 1)]).is_empty());
        assert!(offsets(&[(3, 0), (0, 0), (2, 0)]).is_empty());
        assert!(offsets(&[(usize::MAX, 0), (usize::MAX, 0), (0, 0)]).is_empty());
    }
}
