//! Options of an import.

use mind_ir::tensor::Tensor;
use rustc_hash::FxHashMap;

/// Options of an import.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// The extents of dynamic dimensions, by their names in the text or in the module.
    pub dims: FxHashMap<String, i64>,
    /// The shapes of the arrays bound to inputs, which fix the remaining dynamic dimensions of these inputs.
    pub shapes: FxHashMap<String, Vec<usize>>,
    /// Constant values of inputs.
    pub bound: FxHashMap<String, Tensor>,
}
