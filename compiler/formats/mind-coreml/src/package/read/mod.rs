//! Reads packages.
//!
//! [`model_path`] finds the model in a package, [`program`] decodes its program to the same syntax tree as the text
//! parser, from which one builder makes the graph. Diagnostics are therefore those of texts, except that their
//! positions refer to a list of operations. Large constants stay in the weight file.

mod attributes;
mod error;
mod flexible;
mod interface;
mod kind;
mod manifest;
mod places;
mod program;
mod value;

pub use error::ManifestError;
pub use interface::left_out;
pub use manifest::model_path;

use mind_diag::{Diagnostic, Diagnostics, SourceFile, Span};
use mind_ir::Graph;
use mind_text::Limits;
use prost::Message;

use crate::mil::build;
use crate::package::proto::Model;
use program::Decoder;

/// Returns the program in the bytes of a `.mlmodel`, and the list of operations, as the file `name`, which its spans
/// and diagnostics refer to.
///
/// Types and shapes are left to the verifier.
///
/// # Errors
///
/// Bytes that are not a model, a model without a program, and every error in the program itself, in the order of the
/// operations.
pub fn program(
    name: &str,
    bytes: &[u8],
    limits: &Limits,
) -> (SourceFile, Result<Graph, Diagnostics>) {
    let model = match Model::decode(bytes) {
        Ok(model) => model,
        Err(error) => {
            let message = format!("the model is not a Core ML message: {error}");
            let found = Diagnostic::error(Span::FILE, message);
            return (SourceFile::of_places(name, ""), Err(found.into()));
        }
    };
    if model.ml_program.is_none() {
        let found = kind::refused(bytes);
        return (SourceFile::of_places(name, ""), Err(found.into()));
    }
    let mut decoder = Decoder::new(limits);
    let program = decoder.model(&model);
    let (places, mut found) = decoder.finish();
    let graph = match program {
        Some(program) if !found.has_errors() => build::build(&program, None).map(|mut g| {
            let description = model.description.iter();
            description.for_each(|own| interface::describe(&mut g, own));
            g
        }),
        _ => {
            found.sort_by_place();
            Err(found)
        }
    };
    (SourceFile::of_places(name, places), graph)
}
