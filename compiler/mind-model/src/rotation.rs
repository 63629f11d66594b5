//! Rotary position embeddings of a sequence.

use std::ops::Range;

use mind_irv2::graph::rope::{self, Frequencies};
use mind_irv2::{Config, RotaryStyle};

/// The rotary frequencies of a sequence, one set per kind of rotation. They depend on the capacity of a sequence, never
/// on its current length.
#[derive(Clone, Debug)]
pub(crate) struct Rotation([Frequencies; RotaryStyle::COUNT]);

impl Rotation {
    /// Returns the frequencies for sequences of at most `capacity` tokens.
    pub(crate) fn new(config: &Config, capacity: usize) -> Rotation {
        Rotation(RotaryStyle::ALL.map(|turning| rope::frequencies_of(config, turning, capacity)))
    }

    /// Returns the cosines and the sines of `positions`, row by row.
    pub(crate) fn rows(&self, turning: RotaryStyle, positions: Range<usize>) -> [Vec<f32>; 2] {
        let (mut cos, mut sin) = (Vec::new(), Vec::new());
        for position in positions {
            rope::append_row(position, &self.0[turning as usize], &mut cos, &mut sin);
        }
        [cos, sin]
    }
}
