//! How the heads of a sequence turn.

use std::ops::Range;

use mind_irv2::graph::rope::{self, Frequencies};
use mind_irv2::{Config, RotaryStyle};

/// The frequencies of a sequence, for each way in which heads turn. They depend on how long it may become, never on how
/// long it is.
#[derive(Clone, Debug)]
pub(crate) struct Rotation([Frequencies; RotaryStyle::COUNT]);

impl Rotation {
    /// Those of sequences of at most `capacity` tokens.
    pub(crate) fn new(config: &Config, capacity: usize) -> Rotation {
        Rotation(RotaryStyle::ALL.map(|turning| rope::frequencies_of(config, turning, capacity)))
    }

    /// The cosines and the sines of some positions, one after the other.
    pub(crate) fn rows(&self, turning: RotaryStyle, positions: Range<usize>) -> [Vec<f32>; 2] {
        let (mut cos, mut sin) = (Vec::new(), Vec::new());
        for position in positions {
            rope::append_row(position, &self.0[turning as usize], &mut cos, &mut sin);
        }
        [cos, sin]
    }
}
