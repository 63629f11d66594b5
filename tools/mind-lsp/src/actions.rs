//! Code actions: quick fixes of diagnostics.

use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, DocumentChanges, OneOf,
    OptionalVersionedTextDocumentIdentifier, Range, TextDocumentEdit, TextEdit, Uri, WorkspaceEdit,
};

use crate::diagnostics;
use crate::view::View;

/// Returns a code action for each diagnostic in `range` that has a fix.
pub(crate) fn actions(view: View<'_>, range: Range, uri: &Uri) -> Vec<CodeActionOrCommand> {
    let touches = |own: Range| own.start <= range.end && range.start <= own.end;
    let found = view.analysis.diagnostics.iter().filter_map(|found| {
        let fix = found.fix.as_ref()?;
        let shown = diagnostics::one(view, found, uri);
        if !touches(shown.range) {
            return None;
        }
        let span = fix.span.start as usize..fix.span.end as usize;
        let title = match (span.is_empty(), fix.text.trim_end()) {
            (true, text) => format!("Insert `{text}`"),
            (false, text) => format!("Replace `{}` with `{text}`", view.word(&span)),
        };
        let edit = TextEdit::new(view.range(span), fix.text.clone());
        Some(CodeAction {
            title,
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: Some(vec![shown]),
            edit: Some(workspace_edit(view, uri, vec![edit])),
            is_preferred: Some(true),
            ..CodeAction::default()
        })
    });
    found.map(CodeActionOrCommand::CodeAction).collect()
}

/// Returns a workspace edit of this version of a document.
pub(crate) fn workspace_edit(view: View<'_>, uri: &Uri, edits: Vec<TextEdit>) -> WorkspaceEdit {
    let edit = TextDocumentEdit {
        text_document: OptionalVersionedTextDocumentIdentifier {
            uri: uri.clone(),
            version: Some(view.document.version),
        },
        edits: edits.into_iter().map(OneOf::Left).collect(),
    };
    WorkspaceEdit {
        document_changes: Some(DocumentChanges::Edits(vec![edit])),
        ..WorkspaceEdit::default()
    }
}
