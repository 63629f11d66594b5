//! Options of an import.

use mind_ir::tensor::Tensor;
use rustc_hash::FxHashMap;

use crate::files::Files;

/// Options of an import.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// The extents of symbolic dimensions, by their names in the model or in the module.
    pub dims: FxHashMap<String, i64>,
    /// The shapes of the arrays bound to inputs, which fix the remaining symbolic dimensions of these inputs.
    pub shapes: FxHashMap<String, Vec<usize>>,
    /// Constant values of inputs.
    pub bound: FxHashMap<String, Tensor>,
    /// Whether products of dequantised operands stay float products. By default, products and convolutions of
    /// dequantised bytes become exact integer products, scaled afterwards.
    pub keeps_dequantized: bool,
    /// The external files that [`crate::files`] lists.
    pub files: Files,
}
