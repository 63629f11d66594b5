//! Modules of models that an IR v2 document describes.

use mind_diag::{Diagnostic, Diagnostics, Span};
use mind_ir::Graph;
use mind_irv2::{Document, ReadOptions};

use super::row::LoadOptions;

/// The module of the model that a text describes.
///
/// # Errors
///
/// What is wrong with the document; a model that cannot be a module.
pub(super) fn read(text: &str, options: &LoadOptions) -> Result<Graph, Diagnostics> {
    let (document, _) = mind_irv2::read(text, &ReadOptions::default())?;
    described(&document, options)
}

/// The module of a model that is described.
///
/// # Errors
///
/// A model that cannot be a module.
pub fn described(document: &Document, options: &LoadOptions) -> Result<Graph, Diagnostics> {
    let graph = mind_irv2::graph::document::model(document, options.padding);
    graph.map_err(|why| Diagnostic::error(Span::FILE, why.to_string()).into())
}
