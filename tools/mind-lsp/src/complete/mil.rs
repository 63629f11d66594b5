//! Completion in MIL.

use lsp_types::{CompletionItem, CompletionItemKind};

use mind_mil::ops::named;
use mind_mil::signature::Arg;

use super::{Choices, Cursor, keyword, open_bracket, word};
use crate::names::NameKind;

/// Type keywords.
const TYPES: [&str; 12] = [
    "tensor<", "state<", "fp16", "fp32", "fp64", "bool", "int8", "int16", "int32", "uint8",
    "uint16", "string",
];

/// The maximal distance in bytes of a statement's start before the cursor.
const REACH: usize = 4096;

/// Returns the completions at the cursor.
pub(super) fn choices(cursor: &Cursor<'_>) -> Choices {
    let partial = cursor.partial(|letter| letter.is_alphanumeric() || letter == '_');
    let statement = statement(cursor, cursor.offset - partial.len());
    let types = || TYPES.map(keyword).to_vec();
    let items = match open_bracket(statement) {
        None if statement.trim_end().ends_with('=') => cursor.ops(),
        None if statement.trim().is_empty() => types(),
        Some(('<', ..)) => types(),
        Some(('(', head, inside)) => match inside.trim_end().ends_with('=') {
            true => {
                let mut items = values(cursor);
                items.extend(types());
                items
            }
            false if head.trim_end().ends_with("->") => values(cursor),
            false => arguments(head),
        },
        _ => Vec::new(),
    };
    Choices {
        replaced: cursor.replaced(partial),
        items,
    }
}

/// Returns the text between the end of the previous statement and `end`.
fn statement<'v>(cursor: &Cursor<'v>, end: usize) -> &'v str {
    let text = cursor.view.text();
    let mut from = end.saturating_sub(REACH);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let near = &text[from..end];
    let start = near.rfind([';', '{', '}']).map_or(0, |at| at + 1);
    &near[start..]
}

fn values(cursor: &Cursor<'_>) -> Vec<CompletionItem> {
    cursor.declared(NameKind::Value)
}

/// Returns the arguments of the op at the end of `head`, in its newest version.
fn arguments(head: &str) -> Vec<CompletionItem> {
    let mut words = head
        .trim_end()
        .rsplit(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let name = words.next().unwrap_or_default();
    let newest = named(name).and_then(|row| row.signatures.last());
    let args = newest.map_or(&[][..], |(_, args)| args);
    let item = |arg: &Arg| CompletionItem {
        kind: Some(CompletionItemKind::PROPERTY),
        detail: arg.optional.then(|| "optional".to_owned()),
        insert_text: Some(format!("{} = ", arg.name)),
        ..word(arg.name)
    };
    args.iter().map(item).collect()
}
