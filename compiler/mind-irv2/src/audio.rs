//! Sound that a model reads in place of tokens.

use crate::attributes::Attribute;
use crate::config::Config;
use crate::kernels::FEATURE_WINDOWS;

/// A row, the one in front of it and the one behind it.
pub(crate) const WINDOW: usize = 3;

/// The sizes of a piece of sound: frames of features, of which a position has two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Audio {
    /// Numbers of a frame.
    pub mel_bins: usize,
    /// Frames, all of which are read.
    pub frames: usize,
}

impl Audio {
    /// Those that the stack of layers of `config` reads; `None` if it reads something else.
    pub(crate) fn of(config: &Config) -> Option<Audio> {
        let mut nodes = config.family.nodes();
        let has_step = nodes.any(|node| node.op() == FEATURE_WINDOWS);
        has_step.then(|| Audio {
            mel_bins: config.attributes.get(Attribute::MelBins) as usize,
            frames: config.context_window.saturating_mul(2),
        })
    }

    /// Numbers of all frames.
    pub fn elements(self) -> usize {
        self.mel_bins.saturating_mul(self.frames)
    }

    /// Numbers of a frame and its neighbours.
    pub fn window_elements(self) -> usize {
        self.mel_bins.saturating_mul(WINDOW)
    }

    /// Every `step`-th of `rows` rows of `width` numbers beside its neighbours, of each number that of the row in front, its
    /// own and that of the row behind; zeros beyond both ends.
    pub fn windows(rows: &[f32], width: usize, step: usize) -> Vec<f32> {
        let count = rows.len().checked_div(width).unwrap_or(0);
        let mut all = Vec::with_capacity(count.div_ceil(step.max(1)) * width * WINDOW);
        let number = |row: Option<usize>, at: usize| match row {
            Some(row) if row < count => rows[row * width + at],
            Some(_) | None => 0.0,
        };
        for row in (0..count).step_by(step.max(1)) {
            for at in 0..width {
                let near = [row.checked_sub(1), Some(row), Some(row + 1)];
                all.extend(near.map(|row| number(row, at)));
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_have_the_neighbours_of_each_number() {
        let rows = [1.0, 10.0, 2.0, 20.0, 3.0, 30.0, 4.0, 40.0];
        let all = Audio::windows(&rows, 2, 1);
        assert_eq!(all[..6], [0.0, 1.0, 2.0, 0.0, 10.0, 20.0]);
        assert_eq!(all[18..], [3.0, 4.0, 0.0, 30.0, 40.0, 0.0]);
        let halves = Audio::windows(&rows, 2, 2);
        assert_eq!(halves[..6], all[..6]);
        assert_eq!(halves[6..], all[12..18]);
    }
}
