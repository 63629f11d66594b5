//! Completion in Core text.

use super::{Choices, Cursor, dtypes, keys, keyword, open_bracket};
use crate::names::NameKind;

/// Returns the completions at the cursor.
pub(super) fn choices(cursor: &Cursor<'_>) -> Choices {
    let belongs =
        |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '%' | '?');
    let partial = cursor.partial(belongs);
    let before = &cursor.before[..cursor.before.len() - partial.len()];
    let listed = ["outputs:", "yield:"];
    let items = match open_bracket(before) {
        None if listed
            .iter()
            .any(|word| before.trim_start().starts_with(word)) =>
        {
            cursor.declared(NameKind::Value)
        }
        None if before.trim().is_empty() => {
            let mut items = vec![keyword("outputs:"), keyword("yield:"), keyword("args:")];
            items.extend(cursor.ops());
            items
        }
        None if before.trim_end().ends_with(':') => vec![keyword("tensor<")],
        None if before.trim_end().ends_with('=') => cursor.ops(),
        Some(('(', ..)) => cursor.declared(NameKind::Value),
        Some(('<', ..)) => dtypes(),
        Some(('[', head, _)) if head.contains("ensor<") => cursor.dimensions(),
        Some(('{', head, inside)) if !inside.trim_end().ends_with('=') => {
            // In `%1 = Sum (%0) ` the op is the word before the operands.
            let name = head.split('(').next().unwrap_or(head).trim();
            let name = name.rsplit([' ', '=']).next().unwrap_or(name);
            let mut ops = cursor.view.session.formats.text.core.ops();
            let def = ops.find(|(word, def)| *word == name || def.name == name);
            def.map_or(Vec::new(), |(_, def)| {
                keys(def, "=", |at| Some(def.attrs[at].name))
            })
        }
        _ => Vec::new(),
    };
    Choices {
        replaced: cursor.replaced(partial),
        items,
    }
}
