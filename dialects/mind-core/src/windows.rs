//! Lists of numbers that say how a window slides, and the positions that it has.

use mind_ir::eval::EvalError;
use mind_ir::types::Dim;
use mind_ir::verify::VerifyError;

use crate::eval::sliding::SlideAxis;

/// How a window slides along one dimension.
#[derive(Clone, Copy, Debug)]
pub struct WindowAxis {
    /// Elements from one position to the next.
    pub stride: i64,
    /// Elements from one tap to the next.
    pub dilation: i64,
    /// Elements that are missing before the first one.
    pub low: i64,
    /// Elements that are missing after the last one.
    pub high: i64,
}

impl WindowAxis {
    /// The number of positions of a window of `window` taps along `extent`, negative if it does not fit; `None` for more
    /// than an extent may be.
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

    /// Whether there are as many positions as elements, whatever their number.
    fn keeps(&self, window: i64) -> bool {
        let span = (i128::from(window) - 1) * i128::from(self.dilation);
        self.stride == 1 && i128::from(self.low) + i128::from(self.high) == span
    }

    /// The number of positions along `extent` elements.
    fn count(&self, extent: i64, window: i64) -> i128 {
        let [extent, window, dilation] = [extent, window, self.dilation].map(i128::from);
        let padded = extent + i128::from(self.low) + i128::from(self.high);
        (padded - ((window - 1) * dilation + 1)).div_euclid(i128::from(self.stride)) + 1
    }

    /// The sliding of a window of `window` taps along `extent` elements.
    ///
    /// # Errors
    ///
    /// Fewer than 0 positions, or more than an extent may be.
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

/// A list with an entry of `least` or more for each of `rank` dimensions, `fill` where nothing is written.
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
