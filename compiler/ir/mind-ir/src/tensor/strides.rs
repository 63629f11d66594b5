//! Strides, and iteration over index spaces.

use smallvec::SmallVec;

/// The distance in elements between neighbours along each dimension, outermost first.
pub type Strides = SmallVec<[usize; 6]>;

/// Returns the strides of a contiguous row-major tensor. Those of an empty tensor may wrap, because they are never
/// used.
pub fn row_major(shape: &[usize]) -> Strides {
    let mut strides: Strides = SmallVec::from_elem(1, shape.len());
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis].wrapping_mul(shape[axis]);
    }
    strides
}

/// Returns the strides that read a tensor of `shape` as if it was broadcast to `target`, which are 0 along broadcast
/// dimensions.
pub fn broadcast_strides(shape: &[usize], target: &[usize]) -> Strides {
    let missing = target.len() - shape.len();
    let own = row_major(shape);
    let at = |axis: usize| match axis.checked_sub(missing) {
        Some(inner) if shape[inner] == target[axis] => own[inner],
        _ => 0,
    };
    (0..target.len()).map(at).collect()
}

/// Advances `index` to the next position of `shape` in row-major order. Returns false after the last position.
pub fn advance(index: &mut [usize], shape: &[usize]) -> bool {
    for axis in (0..shape.len()).rev() {
        index[axis] += 1;
        if index[axis] < shape[axis] {
            return true;
        }
        index[axis] = 0;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broadcast_dimensions_have_stride_zero() {
        assert_eq!(broadcast_strides(&[3, 1], &[2, 3, 4]).as_slice(), [0, 1, 0]);
        assert_eq!(broadcast_strides(&[], &[2]).as_slice(), [0]);
        assert_eq!(row_major(&[2, 3, 4]).as_slice(), [12, 4, 1]);
        assert_eq!(row_major(&[usize::MAX, usize::MAX, 0]).len(), 3);
        assert_eq!(row_major(&[0, usize::MAX, usize::MAX]).len(), 3);
    }

    #[test]
    fn advance_visits_every_position_once() {
        let (shape, mut index, mut seen) = ([2, 3], [0, 0], 1);
        while advance(&mut index, &shape) {
            seen += 1;
        }
        assert_eq!((seen, index), (6, [0, 0]));
    }
}
