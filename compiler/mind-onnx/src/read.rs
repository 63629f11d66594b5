//! From the bytes of a file to a module.

use mind_convert::Imported;
use mind_diag::{Code, Diagnostic, Diagnostics, Span};
use mind_ir::Graph;
use prost::Message;
use prost::bytes::Bytes;

use crate::import::import as import_model;
use crate::options::ImportOptions;
use crate::proto::ModelProto;

/// The versions of the format that are read.
const IR_VERSIONS: std::ops::RangeInclusive<i64> = 3..=14;

/// The module that [`import`] makes, without its warnings.
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

/// Whether bytes may be a model: the first field is the version of the format, as every writer orders them.
pub fn is_model(bytes: &[u8]) -> bool {
    matches!(bytes, [0x08, version, ..] if IR_VERSIONS.contains(&i64::from(*version)))
}
