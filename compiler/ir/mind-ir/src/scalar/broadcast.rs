//! Broadcasting at run time, and iteration over broadcast operands.

use crate::eval::EvalError;
use crate::tensor::{Strides, advance, broadcast_strides};

/// `N` shapes that broadcast to a common shape.
pub struct Broadcast<const N: usize> {
    shape: Vec<usize>,
    strides: [Strides; N],
    /// Whether each operand has the shape of the result, so that it is read contiguously.
    same: bool,
}

impl<const N: usize> Broadcast<N> {
    /// Broadcasts `shapes`.
    ///
    /// # Errors
    ///
    /// If extents do not fit, which the verifier cannot detect for unknown extents.
    pub fn of(shapes: [&[usize]; N]) -> Result<Self, EvalError> {
        let mut shape = Vec::new();
        for each in shapes.iter().rev() {
            shape = broadcast_extents(each, &shape)?;
        }
        Ok(Broadcast {
            strides: shapes.map(|each| broadcast_strides(each, &shape)),
            same: shapes.iter().all(|each| **each == *shape),
            shape,
        })
    }

    /// Returns the shape of the result.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Returns the shape of the result.
    pub fn into_shape(self) -> Vec<usize> {
        self.shape
    }

    /// Returns, for each position of the result in row-major order, the index of the element that is read of each
    /// operand.
    pub fn positions(&self) -> impl Iterator<Item = [usize; N]> + '_ {
        self.runs().flat_map(Run::positions)
    }

    fn runs(&self) -> Runs<'_, N> {
        let is_empty = self.shape.contains(&0);
        let (outer, len) = match self.shape.split_last() {
            _ if is_empty => (&[][..], 0),
            _ if self.same => (&[][..], self.shape.iter().product()),
            Some((&len, outer)) => (outer, len),
            None => (&[][..], 1),
        };
        let step = |strides: &Strides| strides.last().copied().unwrap_or(0);
        Runs {
            strides: &self.strides,
            outer,
            index: (!is_empty).then(|| vec![0; outer.len()]),
            steps: self.strides.each_ref().map(step),
            len,
        }
    }
}

/// Positions along the last axis of the result, or all positions if the operands have its shape.
struct Run<const N: usize> {
    starts: [usize; N],
    steps: [usize; N],
    len: usize,
}

impl<const N: usize> Run<N> {
    fn positions(self) -> impl Iterator<Item = [usize; N]> {
        (0..self.len).map(move |at| std::array::from_fn(|n| self.starts[n] + at * self.steps[n]))
    }
}

struct Runs<'a, const N: usize> {
    strides: &'a [Strides; N],
    outer: &'a [usize],
    /// The position of the next run along the outer axes; `None` after the last run.
    index: Option<Vec<usize>>,
    steps: [usize; N],
    len: usize,
}

impl<const N: usize> Iterator for Runs<'_, N> {
    type Item = Run<N>;

    fn next(&mut self) -> Option<Run<N>> {
        let index = self.index.as_mut()?;
        let offset = |strides: &Strides| {
            index
                .iter()
                .zip(strides)
                .map(|(i, stride)| i * stride)
                .sum()
        };
        let run = Run {
            starts: self.strides.each_ref().map(offset),
            steps: self.steps,
            len: self.len,
        };
        if !advance(index, self.outer) {
            self.index = None;
        }
        Some(run)
    }
}

/// Returns the shape that two shapes broadcast to at run time.
///
/// # Errors
///
/// If extents do not fit, which the verifier cannot detect for unknown extents.
pub fn broadcast_extents(x: &[usize], y: &[usize]) -> Result<Vec<usize>, EvalError> {
    let rank = x.len().max(y.len());
    let at = |shape: &[usize], axis: usize| match (axis + shape.len()).checked_sub(rank) {
        Some(inner) => shape[inner],
        None => 1,
    };
    let pair = |axis: usize| match (at(x, axis), at(y, axis)) {
        (1, extent) | (extent, 1) => Ok(extent),
        (a, b) if a == b => Ok(a),
        (a, b) => Err(EvalError::Shape(format!(
            "broadcasting failed at dimension {axis}: extent {a} against {b}, shapes {x:?} and {y:?}"
        ))),
    };
    (0..rank).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positions<const N: usize>(shapes: [&[usize]; N]) -> (Vec<usize>, Vec<[usize; N]>) {
        let broadcast = Broadcast::of(shapes).expect("the shapes broadcast");
        (broadcast.shape().to_vec(), broadcast.positions().collect())
    }

    #[test]
    fn repeated_dimensions_read_an_element_again() {
        let (shape, read) = positions([&[2, 1], &[3]]);
        assert_eq!(shape, [2, 3]);
        assert_eq!(read, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
        let (shape, read) = positions([&[], &[2, 1], &[1, 2]]);
        assert_eq!(shape, [2, 2]);
        assert_eq!(read, [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1]]);
    }

    #[test]
    fn operands_of_one_shape_are_read_from_end_to_end() {
        let (shape, read) = positions([&[2, 2], &[2, 2]]);
        assert_eq!(shape, [2, 2]);
        assert_eq!(read, [[0, 0], [1, 1], [2, 2], [3, 3]]);
    }

    #[test]
    fn scalars_have_one_position_and_empty_shapes_none() {
        assert_eq!(positions([&[], &[]]), (vec![], vec![[0, 0]]));
        assert_eq!(positions([&[], &[1]]), (vec![1], vec![[0, 0]]));
        assert_eq!(positions([&[0, 3], &[3]]), (vec![0, 3], vec![]));
        let huge = usize::MAX / 2;
        let shape = [huge, 0, huge];
        assert_eq!(positions([&shape, &shape]), (shape.to_vec(), vec![]));
    }

    #[test]
    fn extents_that_clash_name_both_shapes() {
        let Err(EvalError::Shape(message)) = Broadcast::of([&[2, 3], &[2]]) else {
            panic!("[2, 3] and [2] do not broadcast");
        };
        assert!(
            message.contains("[2, 3]") && message.contains("[2]"),
            "{message}"
        );
    }
}
