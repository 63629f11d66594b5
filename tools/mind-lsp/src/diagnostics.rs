//! Conversion of diagnostics to the protocol.

use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Uri,
};
use mind_diag::{Severity, Span};

use crate::view::View;

/// Returns all diagnostics of a document.
pub(crate) fn all(view: View<'_>, uri: &Uri) -> Vec<Diagnostic> {
    let found = &view.analysis.diagnostics;
    let mut shown: Vec<Diagnostic> = found.iter().map(|each| one(view, each, uri)).collect();
    if found.dropped() > 0 {
        let message = format!("{} more are not shown", found.dropped());
        let mut rest = bare(view, Span::FILE, message);
        rest.severity = Some(DiagnosticSeverity::INFORMATION);
        shown.push(rest);
    }
    shown
}

/// Converts a diagnostic. Its help is appended to the message, because every editor shows it there; notes and secondary
/// locations are related information.
pub(crate) fn one(view: View<'_>, found: &mind_diag::Diagnostic, uri: &Uri) -> Diagnostic {
    let mut message = found.message.clone();
    if let Some(label) = &found.label {
        message.push_str(&format!(": {label}"));
    }
    if let Some(help) = found.way_out() {
        message.push_str(&format!("\nhelp: {help}"));
    }
    let mut shown = bare(view, found.span, message);
    shown.severity = Some(match found.severity {
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Warning => DiagnosticSeverity::WARNING,
        Severity::Note => DiagnosticSeverity::INFORMATION,
        Severity::Remark => DiagnosticSeverity::HINT,
    });
    shown.code = found
        .code
        .map(|code| NumberOrString::String(code.to_string()));
    let here = shown.range;
    let related = |range, message| DiagnosticRelatedInformation {
        location: Location::new(uri.clone(), range),
        message,
    };
    let elsewhere = found.related.iter();
    let elsewhere = elsewhere.map(|(span, message)| related(range(view, *span), message.clone()));
    let notes = found.notes.iter();
    let notes = notes.map(|note| related(here, format!("note: {note}")));
    let all: Vec<DiagnosticRelatedInformation> = elsewhere.chain(notes).collect();
    shown.related_information = (!all.is_empty()).then_some(all);
    shown
}

fn bare(view: View<'_>, span: Span, message: String) -> Diagnostic {
    Diagnostic {
        range: range(view, span),
        source: Some("mind".to_owned()),
        message,
        ..Diagnostic::default()
    }
}

/// Converts a span: the first line for the whole file, and one character for an empty span.
pub(crate) fn range(view: View<'_>, span: Span) -> lsp_types::Range {
    let (text, lines) = (view.text(), &view.document.lines);
    if span.is_file() {
        return view.range(lines.line_range(text, 0));
    }
    let (start, end) = (span.start as usize, span.end as usize);
    if start < end {
        view.range(start..end)
    } else {
        let letter = text.get(start..).and_then(|rest| rest.chars().next());
        let width = letter.filter(|letter| !letter.is_control());
        view.range(start..start + width.map_or(0, char::len_utf8))
    }
}
