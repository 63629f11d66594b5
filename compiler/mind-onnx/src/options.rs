//! The options of an import.

use mind_ir::tensor::Tensor;
use rustc_hash::FxHashMap;

use crate::files::Files;

/// The options of an import.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// The extents of dimensions that the model names, by their names in the model or in the module.
    pub dims: FxHashMap<String, i64>,
    /// The shapes of the arrays that inputs are given, which close the other open dimensions of these.
    pub shapes: FxHashMap<String, Vec<usize>>,
    /// Inputs that are constants.
    pub bound: FxHashMap<String, Tensor>,
    /// Whether products of numbers that integers stand for stay products of floats. If not, products and convolutions of
    /// dequantised bytes become exact sums of products of the bytes, times their scales.
    pub keeps_dequantized: bool,
    /// The files beside the model that [`crate::files`] names.
    pub files: Files,
}
