//! The options of the lowering.

/// When the right side of a product is put into panels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Packing {
    /// Where it is a constant or a weight, or pays each time.
    Auto,
    /// Wherever it can be.
    Always,
    /// Nowhere.
    Never,
}

/// What the lowering writes into the schedule of each kernel that it applies to; 0 and empty lists leave it to the target.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// Positions of a nest in a task.
    pub(crate) tile: usize,
    /// Vectors of a nest in a round.
    pub(crate) unroll: usize,
    /// Rows and vectors of a micro-tile.
    pub(crate) micro: Vec<i64>,
    /// Rows, columns and products of a product done at a time.
    pub(crate) block: Vec<i64>,
    /// When the right sides of products are packed.
    pub(crate) pack: Packing,
    /// Rows of a block of kernels done at a time.
    pub(crate) rows: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            tile: 8192,
            unroll: 0,
            micro: Vec::new(),
            block: Vec::new(),
            pack: Packing::Auto,
            rows: 0,
        }
    }
}
