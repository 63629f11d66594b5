//! Completion in mic@1.

use lsp_types::CompletionItem;

use super::{Choices, Cursor, dtypes, keys, keyword};
use crate::names::NameKind;

/// Returns the completions at the cursor.
pub(super) fn choices(cursor: &Cursor<'_>) -> Choices {
    let (words, partial) = cursor.words();
    let starts = |word: &str, letter: char| word.starts_with(letter);
    let items = match words.as_slice() {
        [] => heads(cursor),
        ["O"] => cursor.declared(NameKind::Value),
        [head, ..] if starts(head, 'T') => return ty(cursor),
        [head] if starts(head, 'N') => cursor.ops(),
        [head, kind, ..] if starts(head, 'N') => node(cursor, kind),
        _ => Vec::new(),
    };
    Choices {
        replaced: cursor.replaced(partial),
        items,
    }
}

/// Returns the starts of lines, each with the next free id.
fn heads(cursor: &Cursor<'_>) -> Vec<CompletionItem> {
    let next = |kind: NameKind| {
        let symbols = cursor
            .view
            .names()
            .all()
            .iter()
            .filter_map(|found| found.symbol());
        let numbers = symbols.filter(|own| own.kind == kind).map(|own| own.number);
        numbers.max().map_or(0, |last| last.saturating_add(1))
    };
    let heads = [
        ("N", NameKind::Value),
        ("T", NameKind::Type),
        ("S", NameKind::Text),
    ];
    let heads = heads.map(|(letter, kind)| format!("{letter}{}", next(kind)));
    let heads = heads.iter().map(|head| keyword(head));
    heads.chain([keyword("O")]).collect()
}

/// Completes a node after its kind: operands, attribute keys and the type.
fn node(cursor: &Cursor<'_>, kind: &str) -> Vec<CompletionItem> {
    let mut ops = cursor.view.session.formats.text.mic1.ops();
    let Some((_, def)) = ops.find(|(word, _)| *word == kind) else {
        return Vec::new();
    };
    let mut items = Vec::new();
    if def.variadic.is_some() || !def.operands.is_empty() {
        items.extend(cursor.declared(NameKind::Value));
    }
    if def.name == "core.input" {
        items.extend(cursor.declared(NameKind::Text));
    }
    items.extend(keys(def, "=", |at| def.attrs[at].key));
    items.extend(cursor.declared(NameKind::Type));
    items
}

/// Completes a type, for example `f32` or `[f32;B,128]`.
fn ty(cursor: &Cursor<'_>) -> Choices {
    let partial = cursor.partial(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '?'));
    let in_dims = cursor.before.contains(';');
    Choices {
        replaced: cursor.replaced(partial),
        items: if in_dims {
            cursor.dimensions()
        } else {
            dtypes()
        },
    }
}
