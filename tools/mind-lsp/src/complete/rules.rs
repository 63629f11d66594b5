//! Completion in rule files.

use lsp_types::{CompletionItem, CompletionItemKind};
use mind_rules::{FastMath, built_in_functions, built_in_predicates};

use super::{Choices, Cursor, keyword, word};
use crate::names::NameKind;
use crate::rules::{KEYWORDS, call};

/// Returns the completions at the cursor.
pub(super) fn choices(cursor: &Cursor<'_>) -> Choices {
    let name =
        cursor.partial(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.'));
    let marked = &cursor.before[..cursor.before.len() - name.len()];
    if let Some(mark) = marked
        .chars()
        .next_back()
        .filter(|mark| "?$'".contains(*mark))
    {
        return Choices {
            replaced: cursor.offset - name.len() - mark.len_utf8()..cursor.offset,
            items: bound(cursor, mark),
        };
    }
    let items = match marked.split_whitespace().next() {
        Some("class") => FastMath::NAMES
            .iter()
            .map(|(name, _)| keyword(name))
            .collect(),
        None if name.is_empty() && marked.is_empty() => ["rule", "fusion"].map(keyword).to_vec(),
        _ => {
            let calls = built_in_predicates().chain(built_in_functions());
            let calls = calls.map(|name| CompletionItem {
                kind: Some(CompletionItemKind::FUNCTION),
                detail: call(name),
                ..word(name)
            });
            let keywords = KEYWORDS.into_iter().map(keyword);
            cursor
                .ops()
                .into_iter()
                .chain(calls)
                .chain(keywords)
                .collect()
        }
    };
    Choices {
        replaced: cursor.replaced(name),
        items,
    }
}

/// Returns the names with this mark in the rule at the cursor.
fn bound(cursor: &Cursor<'_>, mark: char) -> Vec<CompletionItem> {
    let names = cursor.view.names().all();
    let is_rule = |found: &&crate::names::Occurrence| {
        found
            .symbol()
            .is_some_and(|symbol| symbol.kind == NameKind::Rule)
    };
    let start = names
        .iter()
        .rev()
        .filter(is_rule)
        .find(|rule| rule.range.start <= cursor.offset);
    let start = start.map_or(0, |rule| rule.range.start);
    let end = names
        .iter()
        .filter(is_rule)
        .find(|rule| rule.range.start > cursor.offset);
    let end = end.map_or(usize::MAX, |rule| rule.range.start);
    let mut own: Vec<&str> = Vec::new();
    for found in names {
        let name = cursor.view.word(&found.range);
        let here = (start..end).contains(&found.range.start) && found.symbol().is_some();
        // The partial word at the cursor is not a bound name.
        let other = found.range.end != cursor.offset;
        if here && other && name.starts_with(mark) && !own.contains(&name) {
            own.push(name);
        }
    }
    let item = |name| CompletionItem {
        kind: Some(CompletionItemKind::VARIABLE),
        ..word(name)
    };
    own.into_iter().map(item).collect()
}
