//! Two-dimensional NHWC convolution.

use super::chain::{self, Accumulator};
use super::contraction::{Contraction, Emit};
use mind_ir::eval::EvalError;

/// The window along one spatial axis.
pub(crate) struct Axis {
    extent: usize,
    window: usize,
    stride: i128,
    /// The padding before the first element.
    before: i128,
    pub(crate) positions: usize,
}

impl Axis {
    /// Creates the window. `pads` are the paddings before and after; `None` selects the padding that gives ceil(extent
    /// / stride) positions.
    ///
    /// # Errors
    ///
    /// The number of positions is negative or too large for an extent.
    pub(crate) fn new(
        extent: usize,
        window: usize,
        stride: i64,
        pads: Option<[i64; 2]>,
    ) -> Result<Axis, EvalError> {
        let [long, wide, stride] = [extent as i128, window as i128, i128::from(stride)];
        let (before, positions) = match pads.map(|pads| pads.map(i128::from)) {
            Some([before, after]) => (
                before,
                (long + before + after - wide).div_euclid(stride) + 1,
            ),
            None => {
                let positions = (long + stride - 1) / stride;
                let total = ((positions - 1) * stride + wide - long).max(0);
                (total / 2, positions)
            }
        };
        match i64::try_from(positions) {
            Ok(positions @ 0..) => Ok(Axis {
                extent,
                window,
                stride,
                before,
                positions: positions as usize,
            }),
            _ => Err(EvalError::Shape(format!(
                "a window of {window} has {positions} positions along an extent of {extent}"
            ))),
        }
    }

    /// Returns the index of the element at `tap` of the window at `position`; `None` in the padding.
    fn element(&self, position: usize, tap: usize) -> Option<usize> {
        let at = position as i128 * self.stride - self.before + tap as i128;
        usize::try_from(at).ok().filter(|&at| at < self.extent)
    }
}

/// A convolution of a batch of images.
pub(crate) struct Convolution {
    /// The extents of the result: images, rows, columns, filters.
    pub(crate) shape: [usize; 4],
    pub(crate) rows: Axis,
    pub(crate) columns: Axis,
    pub(crate) channels: usize,
}

impl Contraction for Convolution {
    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn sums<A: Accumulator>(
        &self,
        zero: A,
        input: &[A],
        filter: &[A],
        emit: Emit<'_, A>,
    ) -> Result<(), EvalError> {
        let [batch, output_rows, output_columns, filters] = self.shape;
        let (rows, columns, channels) = (&self.rows, &self.columns, self.channels);
        let padding = vec![zero; channels];
        let mut sums = vec![zero; filters];
        // An empty filter may claim any number of taps, which must not be iterated.
        let taps = match filter.len() {
            0 => [0, 0],
            _ => [rows.window, columns.window],
        };
        for image in 0..batch {
            for (y, x) in (0..output_rows).flat_map(|y| (0..output_columns).map(move |x| (y, x))) {
                sums.fill(zero);
                let windows = (0..taps[0]).flat_map(|i| (0..taps[1]).map(move |j| (i, j)));
                let weights = filter.chunks_exact((channels * filters).max(1));
                for ((i, j), weights) in windows.zip(weights) {
                    let pixel = match (rows.element(y, i), columns.element(x, j)) {
                        (Some(row), Some(column)) => {
                            let at = (image * rows.extent + row) * columns.extent + column;
                            &input[at * channels..][..channels]
                        }
                        _ => &padding,
                    };
                    chain::extend(pixel, weights, &mut sums);
                }
                emit(&sums)?;
            }
        }
        Ok(())
    }
}
