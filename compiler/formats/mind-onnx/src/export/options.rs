//! Options of an export.

use std::ops::RangeInclusive;

use mind_diag::Diagnostics;

/// The supported versions of ONNX's own operator set.
pub const OPSETS: RangeInclusive<i64> = 13..=26;

/// The default version of the operator set.
pub const DEFAULT_OPSET: i64 = 21;

/// Options of an export.
#[derive(Clone, Debug)]
pub struct ExportOptions {
    /// The version of the operator set, one of [`OPSETS`].
    pub opset: i64,
    /// The name of the external data file for large constants; `None` to store them in the model.
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

/// The files of a model.
#[derive(Clone, PartialEq, Debug)]
pub struct Exported {
    /// The model.
    pub model: Vec<u8>,
    /// The external data, if a file for it was given.
    pub data: Option<Vec<u8>>,
    /// Notes on nodes without a kernel in ONNX Runtime, which therefore fails to load the model.
    pub notes: Diagnostics,
}
