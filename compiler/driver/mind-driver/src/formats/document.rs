//! Modules from IR v2 documents, which describe models.

use mind_diag::{Diagnostic, Diagnostics, Span};
use mind_ir::Graph;
use mind_irv2::{Document, ReadOptions};

use super::row::LoadOptions;

/// Builds the module of a document.
///
/// # Errors
///
/// Errors if the document is invalid or its model cannot be expressed as a module.
pub(super) fn read(text: &str, options: &LoadOptions) -> Result<Graph, Diagnostics> {
    let (document, _) = mind_irv2::read(text, &ReadOptions::default())?;
    described(&document, options)
}

/// Builds the module of a model.
///
/// # Errors
///
/// Errors if the model cannot be expressed as a module.
pub fn described(document: &Document, options: &LoadOptions) -> Result<Graph, Diagnostics> {
    let graph = mind_irv2::graph::document::model(document, options.padding);
    graph.map_err(|why| Diagnostic::error(Span::FILE, why.to_string()).into())
}
