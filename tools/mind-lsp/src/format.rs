//! Formatting: documents in canonical form.

use lsp_types::TextEdit;
use mind_driver::canonical::{Comments, canonical, format_rules};

use crate::refusal::Refusal;
use crate::view::View;

/// The error for a document that does not parse.
const BROKEN: &str = "a text with errors has no canonical form";

/// Returns the edits that bring a document into canonical form, with its comments; empty if it already is canonical.
///
/// # Errors
///
/// The document has errors, or a comment that the canonical form has no position for.
pub(crate) fn format(view: View<'_>) -> Result<Vec<TextEdit>, Refusal> {
    let Some(format) = view.analysis.language.format() else {
        let text = format_rules(view.text(), Comments::Keep);
        let text = text.map_err(|_| Refusal::failed(BROKEN))?;
        return Ok(replaced(view, text));
    };
    let module = match &view.analysis.module {
        Some(module) if !view.analysis.diagnostics.has_errors() => module,
        _ => return Err(Refusal::failed(BROKEN)),
    };
    let text = canonical(
        &view.session.formats,
        format,
        view.text(),
        &module.graph,
        Comments::Keep,
    );
    let text = text.map_err(|found| {
        let said = found.first_error().map(|error| {
            let line = view.document.lines.line(error.span.start as usize) + 1;
            let label = error.label.iter().map(|label| format!(": {label}"));
            format!(
                "line {line}: {}{}",
                error.message,
                label.collect::<String>()
            )
        });
        Refusal::failed(said.unwrap_or_else(|| "the text cannot be printed".to_owned()))
    })?;
    Ok(replaced(view, text))
}

/// Returns the edit that replaces the whole text by `text`; empty if they are equal.
fn replaced(view: View<'_>, text: String) -> Vec<TextEdit> {
    if text == view.text() {
        return Vec::new();
    }
    vec![TextEdit::new(view.range(0..view.text().len()), text)]
}
