//! The options of an import.

use mind_ir::tensor::Tensor;
use rustc_hash::FxHashMap;

/// The options of an import.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// The extents of open dimensions, by their names in the text or in the module.
    pub dims: FxHashMap<String, i64>,
    /// The shapes of the arrays that inputs are given, which close the other open dimensions of these.
    pub shapes: FxHashMap<String, Vec<usize>>,
    /// Inputs that are constants.
    pub bound: FxHashMap<String, Tensor>,
}
