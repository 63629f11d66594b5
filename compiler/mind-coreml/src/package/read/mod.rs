//! Packages, read back.
//!
//! [`model_path`] finds the model in a package, [`program`] reads the program in it. What a message says becomes the
//! same syntax that text is read to, from which one builder makes the graph; the diagnostics of both differ in their
//! places alone, which here are those of a list of operations. Large constants stay in the weight file.

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

/// The program in the bytes of a `.mlmodel`, and the places that its spans and diagnostics name, as the file `name`.
///
/// Types and shapes are for the verifier.
///
/// # Errors
///
/// Bytes that are no model or none with a program, and everything that is wrong with the program itself, in the order
/// of the operations.
pub fn program(
    name: &str,
    bytes: &[u8],
    limits: &Limits,
) -> (SourceFile, Result<Graph, Diagnostics>) {
    let model = match Model::decode(bytes) {
        Ok(model) => model,
        Err(error) => {
            let message = format!("the model is no message of Core ML: {error}");
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
