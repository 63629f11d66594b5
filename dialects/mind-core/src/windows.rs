//! Window attributes and the positions of a window.

use mind_ir::eval::EvalError;
use mind_ir::types::Dim;
use mind_ir::verify::VerifyError;

use crate::eval::sliding::SlideAxis;

/// The window attributes along one dimension.
#[derive(Clone, Copy, Debug)]
pub struct WindowAxis {
    /// The distance between positions.
    pub stride: i64,
    /// The distance between taps.
    pub dilation: i64,
    /// The padding before the first element.
    pub low: i64,
    /// The padding after the last element.
    pub high: i64,
}

impl WindowAxis {
    /// Returns the number of positions of a window of `window` taps along `extent`, negative if it does not fit; `None`
    /// if it is too large for an extent.
    pub(crate) fn positions(&self, extent: Dim, window: Dim) -> Option<Dim> {
        match (extent, window) {
            (Dim::Fixed(extent), Dim::Fixed(window)) => {
                let positions = self.count(extent, window);
                i64::try_from(positions).ok().map(Dim::Fixed)
            }
            (_, Dim::Fixed(window)) if self.keeps(window) => Some(extent),
            _ => Some(Dim::Dynamic),
        }
    }

    /// Returns whether there is one position for each element, whatever the extent.
    fn keeps(&self, window: i64) -> bool {
        let span = (i128::from(window) - 1) * i128::from(self.dilation);
        self.stride == 1 && i128::from(self.low) + i128::from(self.high) == span
    }

    /// Returns the number of positions along `extent` elements.
    fn count(&self, extent: i64, window: i64) -> i128 {
        let [extent, window, dilation] = [extent, window, self.dilation].map(i128::from);
        let padded = extent + i128::from(self.low) + i128::from(self.high);
        (padded - ((window - 1) * dilation + 1)).div_euclid(i128::from(self.stride)) + 1
    }

    /// Returns the sliding window of `window` taps along `extent` elements.
    ///
    /// # Errors
    ///
    /// A negative or too large number of positions.
    pub(crate) fn slide(&self, extent: usize, window: usize) -> Result<SlideAxis, EvalError> {
        let positions = self.count(extent as i64, window as i64);
        let Ok(positions @ 0..) = i64::try_from(positions) else {
            return Err(EvalError::Shape(format!(
                "a window of {window} has {positions} positions along an extent of {extent}"
            )));
        };
        Ok(SlideAxis {
            extent,
            positions: positions as usize,
            window,
            stride: self.stride,
            dilation: self.dilation,
            low: self.low,
            base: 1,
        })
    }
}

/// Returns a list with one entry for each of `rank` dimensions, each at least `least`; an empty list is filled with
/// `fill`.
///
/// # Errors
///
/// E4006 another number of entries, E4010 an entry below `least`.
pub(crate) fn per_dimension(
    op: &'static str,
    rank: usize,
    what: &'static str,
    written: &[i64],
    fill: i64,
    least: i64,
) -> Result<Vec<i64>, VerifyError> {
    if !written.is_empty() && written.len() != rank {
        let found = written.len();
        return Err(VerifyError::IndexCount { op, rank, found });
    }
    if written.iter().any(|&entry| entry < least) {
        return Err(VerifyError::Window {
            what,
            expected: match least {
                0 => "integers of 0 or more",
                _ => "positive integers",
            },
            found: format!("{written:?}"),
        });
    }
    Ok(match written {
        [] => vec![fill; rank],
        _ => written.to_vec(),
    })
}
