//! From the bytes of a file to a module.

use mind_diag::{Diagnostic, Diagnostics, Span};
use mind_ir::Graph;
use prost::Message;
use prost::bytes::Bytes;

use crate::import::{Imported, import as import_model};
use crate::options::ImportOptions;
use crate::proto::ModelProto;

/// The versions of the format that are read.
const IR_VERSIONS: std::ops::RangeInclusive<i64> = 3..=14;

/// The module that a model is, as [`import`] reads it, without its warnings.
///
/// # Errors
///
/// Those of [`import`].
pub fn read(bytes: Bytes, options: &ImportOptions) -> Result<Graph, Diagnostics> {
    Ok(import(bytes, options)?.module)
}

/// The module that a model is. Its inputs are those of the model that no initialiser has, its outputs are in the order of
/// the model's.
///
/// # Errors
///
/// Bytes that are no model, a version that is not supported, and everything of the model that cannot be imported: an
/// error for each operator and reason, with the number of nodes and the first of them.
///
/// Source: ONNX IR specification.
pub fn import(bytes: Bytes, options: &ImportOptions) -> Result<Imported, Diagnostics> {
    let model = ModelProto::decode(bytes).map_err(|error| {
        let found = Diagnostic::error(Span::FILE, format!("this is no ONNX model: {error}"));
        Diagnostics::from(found)
    })?;
    if !IR_VERSIONS.contains(&model.ir_version) {
        let (first, last) = IR_VERSIONS.into_inner();
        let message = format!(
            "IR version {} is not supported; versions {first} to {last} are",
            model.ir_version
        );
        return Err(Diagnostic::error(Span::FILE, message).into());
    }
    import_model(&model, options)
}

/// Whether bytes may be a model: the first field is the version of the format, as every writer orders them.
pub fn is_model(bytes: &[u8]) -> bool {
    matches!(bytes, [0x08, version, ..] if IR_VERSIONS.contains(&i64::from(*version)))
}
