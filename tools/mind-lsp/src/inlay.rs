//! Inlay hints: implicit ids of mic@2, and inferred types.

use lsp_types::{InlayHint, InlayHintKind, InlayHintLabel, Range};
use mind_driver::formats::Format;
use mind_text::Role;

use crate::names::{NameKind, Symbol};
use crate::view::View;

/// Returns the hints for the lines of `range`: in mic@2 the id before each line that defines a value, and the type of
/// the value after a line that does not declare it.
pub(crate) fn hints(view: View<'_>, range: Range) -> Vec<InlayHint> {
    let format = match view.analysis.language.format() {
        Some(format @ (Format::Mic1 | Format::Mic2 | Format::Core)) => format,
        _ => return Vec::new(),
    };
    let lines = &view.document.lines;
    let from = lines.offset(view.text(), range.start);
    let to = lines.offset(view.text(), range.end);
    let mut hints = Vec::new();
    for found in view.names().all() {
        let Some(symbol) = found
            .symbol()
            .filter(|symbol| symbol.kind == NameKind::Value)
        else {
            continue;
        };
        if found.role == Role::Reference || !(from..=to).contains(&found.range.start) {
            continue;
        }
        let line = lines.line_range(view.text(), lines.line(found.range.start));
        if format == Format::Mic2 {
            let blanks = view.word(&line).len() - view.word(&line).trim_start().len();
            hints.push(InlayHint {
                padding_right: Some(true),
                ..hint(view, line.start + blanks, symbol.number.to_string())
            });
        }
        if let Some(text) = unwritten(view, symbol) {
            let code = code_end(view, line.clone());
            hints.push(InlayHint {
                padding_left: Some(true),
                ..hint(view, code, text)
            });
        }
    }
    hints
}

/// Returns the inferred type of a value without a declared type.
fn unwritten(view: View<'_>, symbol: Symbol) -> Option<String> {
    let module = view.analysis.module.as_ref()?;
    let (g, value) = (&module.graph, module.map.value(symbol.number)?);
    if g.declared(value).is_some() {
        return None;
    }
    let ty = g.type_id(value)?;
    Some(g.types().get(ty).text(g.symbols()))
}

/// Returns the end of a line without its comment. Lines on which a type may be omitted have no strings with a comment
/// mark.
fn code_end(view: View<'_>, line: std::ops::Range<usize>) -> usize {
    let text = view.word(&line);
    let code = text.split(view.analysis.language.comment()).next();
    line.start + code.unwrap_or(text).trim_end().len()
}

fn hint(view: View<'_>, offset: usize, label: String) -> InlayHint {
    InlayHint {
        position: view.document.lines.position(view.text(), offset),
        label: InlayHintLabel::String(label),
        kind: Some(InlayHintKind::TYPE),
        text_edits: None,
        tooltip: None,
        padding_left: None,
        padding_right: None,
        data: None,
    }
}
