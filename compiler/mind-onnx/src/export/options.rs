//! What a model is written as.

use std::ops::RangeInclusive;

use mind_diag::Diagnostics;

/// The versions of ONNX's own operator set that models are written in.
pub const OPSETS: RangeInclusive<i64> = 13..=26;

/// The version that models are written in unless another one is asked for.
pub const DEFAULT_OPSET: i64 = 21;

/// How a model is written.
#[derive(Clone, Debug)]
pub struct ExportOptions {
    /// The version of the operator set, one of [`OPSETS`].
    pub opset: i64,
    /// The name of the file beside the model that holds the elements of large constants; `None` for the model's own.
    pub data_file: Option<String>,
}

impl Default for ExportOptions {
    fn default() -> ExportOptions {
        ExportOptions {
            opset: DEFAULT_OPSET,
            data_file: None,
        }
    }
}

/// The files that a model consists of.
#[derive(Clone, PartialEq, Debug)]
pub struct Exported {
    /// The model.
    pub model: Vec<u8>,
    /// The external data, if a file for it was named.
    pub data: Option<Vec<u8>>,
    /// Nodes that ONNX Runtime has no kernel for, so that it does not load the model.
    pub notes: Diagnostics,
}
