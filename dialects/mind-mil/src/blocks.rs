//! Ops that exchange channels for height and width through a transpose of six dimensions.

use crate::ops::movement::{DEPTH_TO_SPACE, PIXEL_SHUFFLE, PIXEL_UNSHUFFLE, SPACE_TO_DEPTH};
use crate::row::MilOp;

/// An op on `[N, C, H, W]` that splits its dimensions into six, permutes them and joins them.
#[derive(Debug)]
pub struct Blocks {
    /// The op.
    pub op: &'static MilOp,
    /// The name of its argument for the block size.
    pub factor: &'static str,
    /// The permutation of the six dimensions.
    pub order: [i64; 6],
    split: Split,
}

/// The dimensions that are split.
#[derive(Clone, Copy, Debug)]
enum Split {
    /// The channels, with the factors first.
    ChannelsBehind,
    /// The channels, with the factors last.
    ChannelsBefore,
    /// Height and width.
    Places,
}

/// All ops of this form.
pub static BLOCKS: &[Blocks] = &[
    Blocks {
        op: &DEPTH_TO_SPACE,
        factor: "block_size",
        order: [0, 3, 4, 1, 5, 2],
        split: Split::ChannelsBehind,
    },
    Blocks {
        op: &PIXEL_SHUFFLE,
        factor: "upscale_factor",
        order: [0, 1, 4, 2, 5, 3],
        split: Split::ChannelsBefore,
    },
    Blocks {
        op: &SPACE_TO_DEPTH,
        factor: "block_size",
        order: [0, 3, 5, 1, 2, 4],
        split: Split::Places,
    },
    Blocks {
        op: &PIXEL_UNSHUFFLE,
        factor: "downscale_factor",
        order: [0, 1, 3, 5, 2, 4],
        split: Split::Places,
    },
];

impl Blocks {
    /// Returns the six dimensions of `shape` and the shape of the result, for a nonzero factor.
    pub fn shapes(&self, factor: i64, [n, c, h, w]: [i64; 4]) -> ([i64; 6], [i64; 4]) {
        let square = factor.saturating_mul(factor);
        let (high, wide) = (h.saturating_mul(factor), w.saturating_mul(factor));
        match self.split {
            Split::ChannelsBehind => (
                [n, factor, factor, c / square, h, w],
                [n, c / square, high, wide],
            ),
            Split::ChannelsBefore => (
                [n, c / square, factor, factor, h, w],
                [n, c / square, high, wide],
            ),
            Split::Places => {
                let (rows, columns) = (h / factor, w / factor);
                (
                    [n, c, rows, factor, columns, factor],
                    [n, c.saturating_mul(square), rows, columns],
                )
            }
        }
    }
}
