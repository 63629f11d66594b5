//! The options of the lowering.

/// When to pack the right side of a product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Packing {
    /// If it is a constant or a weight, or if packing it in every run pays.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The schedule that the lowering writes to kernels; 0 and empty lists leave the choice to the target.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// Positions of a nest in a task.
    pub(crate) tile: usize,
    /// Vectors of a nest in an iteration.
    pub(crate) unroll: usize,
    /// The register tile in rows and vectors.
    pub(crate) micro: Vec<i64>,
    /// The cache block in rows, columns and terms.
    pub(crate) block: Vec<i64>,
    /// When to pack right sides of products.
    pub(crate) pack: Packing,
    /// Rows of a block of kernels that are computed together.
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
