//! Phases: positions of a dimension with equal tap offsets.

use mind_core::eval::sliding::SlideAxis;

/// Positions `first`, `first + step`, …; the `u`-th of them has tap `v` at element `start + u * stride + v * dilation`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Phase {
    pub first: usize,
    pub step: usize,
    /// The number of positions.
    pub count: usize,
    pub start: i64,
    pub stride: i64,
    /// The number of taps that may be in bounds.
    pub taps: usize,
    /// The first tap of the window; the others follow in steps of `tap_step`.
    pub tap: usize,
    pub tap_step: usize,
    pub dilation: i64,
}

impl Phase {
    /// Returns the positions `from..to` whose taps are all in bounds.
    pub fn interior(&self, extent: usize) -> (usize, usize) {
        if self.taps == 0 {
            return (0, self.count);
        }
        let reach = (self.taps as i64 - 1) * self.dilation;
        let (least, most) = (self.start + reach.min(0), self.start + reach.max(0));
        let last = extent as i64 - 1 - most;
        let (from, to) = match self.stride {
            0 if least >= 0 && last >= 0 => (0, self.count as i64),
            0 => (0, 0),
            stride => (
                (-least.min(0) + stride - 1) / stride,
                last.div_euclid(stride) + 1,
            ),
        };
        let (from, count) = (from.min(self.count as i64), self.count as i64);
        (from as usize, to.clamp(from, count) as usize)
    }

    /// Removes taps that are out of bounds at every position.
    fn clip(&mut self, extent: usize) {
        let span = (self.count.max(1) as i64 - 1) * self.stride;
        let (low, high) = (-self.start - span, extent as i64 - 1 - self.start);
        let (first, last) = match self.dilation {
            step @ 1.. => (-(-low).div_euclid(step), high.div_euclid(step)),
            step => (-high.div_euclid(-step), (-low).div_euclid(-step)),
        };
        let first = first.clamp(0, self.taps as i64);
        let end = (last + 1).clamp(first, self.taps as i64);
        self.start += first * self.dilation;
        self.tap += first as usize * self.tap_step;
        self.taps = (end - first) as usize;
    }
}

/// Returns the number of phases of a dimension.
pub(super) fn count(axis: &SlideAxis) -> usize {
    period(axis).min(axis.positions)
}

/// Returns the distance between positions of the same phase.
fn period(axis: &SlideAxis) -> usize {
    (axis.base / gcd(axis.stride, axis.base)) as usize
}

/// Returns the phases of a dimension, which partition its positions. Unless taps out of bounds are `padded`, those that
/// are never in bounds are removed.
pub(super) fn phases(axis: &SlideAxis, padded: bool) -> Vec<Phase> {
    let (base, period) = (axis.base, period(axis));
    let tap_step = (base / gcd(axis.dilation.abs(), base)) as usize;
    let phase = |first: usize| {
        let start = |tap: usize| first as i64 * axis.stride - axis.low + tap as i64 * axis.dilation;
        let tap = (0..tap_step.min(axis.window)).find(|&tap| start(tap).rem_euclid(base) == 0);
        let mut phase = Phase {
            first,
            step: period,
            count: (axis.positions - first).div_ceil(period),
            start: tap.map_or(0, |tap| start(tap) / base),
            stride: axis.stride * period as i64 / base,
            taps: tap.map_or(0, |tap| (axis.window - tap).div_ceil(tap_step)),
            tap: tap.unwrap_or(0),
            tap_step,
            dilation: axis.dilation * tap_step as i64 / base,
        };
        if !padded {
            phase.clip(axis.extent);
        }
        phase
    };
    (0..count(axis)).map(phase).collect()
}

fn gcd(a: i64, b: i64) -> i64 {
    match b {
        0 => a,
        _ => gcd(b, a % b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(extent: usize, positions: usize, window: usize, numbers: [i64; 4]) -> SlideAxis {
        let [stride, dilation, low, base] = numbers;
        SlideAxis {
            extent,
            positions,
            window,
            stride,
            dilation,
            low,
            base,
        }
    }

    /// Returns the element of each tap in bounds, position by position, according to the phases.
    fn taps(axis: &SlideAxis, phases: &[Phase]) -> Vec<Vec<(usize, usize)>> {
        let mut found = vec![Vec::new(); axis.positions];
        for phase in phases {
            for u in 0..phase.count {
                let (from, to) = phase.interior(axis.extent);
                for v in 0..phase.taps {
                    let at = phase.start + u as i64 * phase.stride + v as i64 * phase.dilation;
                    let is_inside = (0..axis.extent as i64).contains(&at);
                    assert!(is_inside || !(from..to).contains(&u), "{axis:?} {phase:?}");
                    if is_inside {
                        let tap = phase.tap + v * phase.tap_step;
                        found[phase.first + u * phase.step].push((tap, at as usize));
                    }
                }
            }
        }
        found
    }

    #[test]
    fn phases_have_the_taps_of_their_positions() {
        for extent in 0..5 {
            for window in 0..5 {
                for (stride, base) in [(1, 1), (2, 1), (1, 2), (1, 3), (2, 4), (3, 2)] {
                    for (dilation, low) in [(1, 0), (2, 3), (-1, -2), (-2, 1), (3, -4)] {
                        let axis = axis(extent, 6, window, [stride, dilation, low, base]);
                        let expected: Vec<Vec<(usize, usize)>> = (0..6)
                            .map(|position| {
                                let at = |tap: usize| {
                                    let at = position as i64 * stride + tap as i64 * dilation - low;
                                    (at % base == 0 && (0..extent as i64).contains(&(at / base)))
                                        .then_some((tap, (at / base) as usize))
                                };
                                (0..window).filter_map(at).collect()
                            })
                            .collect();
                        for padded in [false, true] {
                            let phases = phases(&axis, padded);
                            assert_eq!(taps(&axis, &phases), expected, "{axis:?} {phases:?}");
                        }
                    }
                }
            }
        }
    }
}
