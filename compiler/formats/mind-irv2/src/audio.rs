//! Audio input of a model, which replaces tokens.

use crate::attributes::Attribute;
use crate::config::Config;
use crate::kernels::FEATURE_WINDOWS;

/// The rows of a window: a row and its two neighbours.
pub(crate) const WINDOW: usize = 3;

/// The size of an audio input. A position takes two frames of features.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Audio {
    /// Mel bins of a frame.
    pub mel_bins: usize,
    /// The number of frames, all of which are read.
    pub frames: usize,
}

impl Audio {
    /// Returns the size of the audio that the stack of layers of `config` reads; `None` if it does not read audio.
    pub(crate) fn of(config: &Config) -> Option<Audio> {
        let mut nodes = config.family.nodes();
        let has_step = nodes.any(|node| node.op() == FEATURE_WINDOWS);
        has_step.then(|| Audio {
            mel_bins: config.attributes.get(Attribute::MelBins) as usize,
            frames: config.context_window.saturating_mul(2),
        })
    }

    /// Returns the elements of all frames.
    pub fn elements(self) -> usize {
        self.mel_bins.saturating_mul(self.frames)
    }

    /// Returns the elements of a window of frames.
    pub fn window_elements(self) -> usize {
        self.mel_bins.saturating_mul(WINDOW)
    }

    /// Returns the windows of every `step`-th of `rows` rows of `width` elements: im2col for a convolution of width 3.
    /// For each element, a window has that of the previous row, of the row itself and of the next row; zeros beyond
    /// both ends.
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
