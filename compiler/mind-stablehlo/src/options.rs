//! The options of an import.

use mind_ir::tensor::Tensor;
use rustc_hash::FxHashMap;

/// The options of an import.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// The extents of open dimensions, by their names in the text or in the module.
    pub dims: FxHashMap<String, i64>,
    /// Inputs that are constants.
    pub bound: FxHashMap<String, Tensor>,
}
