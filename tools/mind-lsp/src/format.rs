//! Documents in canonical form.

use lsp_types::TextEdit;
use mind_driver::canonical::{Comments, canonical};

use crate::refusal::Refusal;
use crate::view::View;

/// The edits that bring a document into canonical form, comments kept; none where it is so already.
///
/// Errors: a document with errors, a comment that has no place in the canonical form, a language without
/// one.
pub(crate) fn format(view: View<'_>) -> Result<Vec<TextEdit>, Refusal> {
    let Some(format) = view.analysis.language.format() else {
        return Err(Refusal::failed("rule files have no canonical form"));
    };
    let module = match &view.analysis.module {
        Some(module) if !view.analysis.diagnostics.has_errors() => module,
        _ => return Err(Refusal::failed("a text with errors has no canonical form")),
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
    if text == view.text() {
        return Ok(Vec::new());
    }
    Ok(vec![TextEdit::new(view.range(0..view.text().len()), text)])
}
