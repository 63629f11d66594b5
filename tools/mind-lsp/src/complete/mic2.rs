//! Completion in mic@2.

use super::{Choices, Cursor, dtypes, keyword};
use crate::names::NameKind;

/// Returns the completions at the cursor.
pub(super) fn choices(cursor: &Cursor<'_>) -> Choices {
    let (words, partial) = cursor.words();
    let is_type =
        |word: &str| word.starts_with('T') && word[1..].bytes().all(|b| b.is_ascii_digit());
    let items = match words.as_slice() {
        [] => {
            let types = cursor.view.names().all().iter().filter(|found| {
                found.declares() && found.symbol().is_some_and(|own| own.kind == NameKind::Type)
            });
            let next = format!("T{}", types.count());
            let mut items = cursor.ops();
            items.extend(["a", "p", "S", &next, "O"].map(keyword));
            items
        }
        ["S"] | ["a" | "p"] => Vec::new(),
        ["a" | "p", _] => cursor.declared(NameKind::Type),
        ["O"] => cursor.declared(NameKind::Value),
        [word] if is_type(word) => dtypes(),
        [word, ..] if is_type(word) => cursor.dimensions(),
        [opcode, inputs @ ..] => {
            let mut ops = cursor.view.session.formats.text.mic2.ops();
            let def = ops.find(|(word, _)| word == opcode);
            match def {
                Some((_, def)) if def.variadic.is_some() || inputs.len() < def.operands.len() => {
                    cursor.declared(NameKind::Value)
                }
                Some((_, def)) if def.name == "core.reshape" => cursor.dimensions(),
                _ => Vec::new(),
            }
        }
    };
    Choices {
        replaced: cursor.replaced(partial),
        items,
    }
}
