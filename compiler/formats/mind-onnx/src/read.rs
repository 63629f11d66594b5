//! Entry points: file to module.

use mind_convert::Imported;
use mind_diag::{Code, Diagnostic, Diagnostics, Span};
use mind_ir::Graph;
use prost::Message;
use prost::bytes::Bytes;

use crate::import::import as import_model;
use crate::options::ImportOptions;
use crate::proto::ModelProto;

/// The supported versions of the format.
const IR_VERSIONS: std::ops::RangeInclusive<i64> = 3..=14;

/// Imports a model as [`import`] does, and drops the warnings.
///
/// # Errors
///
/// As [`import`].
pub fn read(bytes: Bytes, options: &ImportOptions) -> Result<Graph, Diagnostics> {
    Ok(import(bytes, options)?.module)
}

/// Imports a model. The inputs of the module are those inputs of the model without an initialiser, and its outputs have
/// the order of the model's.
///
/// # Errors
///
/// Bytes that are not a model, an unsupported version, and everything that cannot be imported: one error for each
/// operator and reason, with the number of such nodes and the first of them.
///
/// Source: ONNX IR specification.
pub fn import(bytes: Bytes, options: &ImportOptions) -> Result<Imported, Diagnostics> {
    let model = ModelProto::decode(bytes).map_err(|error| {
        let message = format!("this is not an ONNX model: {error}");
        let found = Diagnostic::error(Span::FILE, message).code(Code(4301));
        Diagnostics::from(found.help("the file is damaged or cut: copy or export it again"))
    })?;
    if !IR_VERSIONS.contains(&model.ir_version) {
        let (first, last) = IR_VERSIONS.into_inner();
        let found = model.ir_version;
        let message = format!("found IR version {found}, expected {first} to {last}");
        let error = Diagnostic::error(Span::FILE, message).code(Code(4101));
        let help = "export the model again, or convert it: `onnx.version_converter`";
        return Err(error.help(help).into());
    }
    import_model(&model, options)
}

/// Returns whether bytes may be a model, because their first field is the version of the format, as all writers order
/// the fields.
pub fn is_model(bytes: &[u8]) -> bool {
    matches!(bytes, [0x08, version, ..] if IR_VERSIONS.contains(&i64::from(*version)))
}
