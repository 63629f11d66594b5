//! Renaming, for languages with user-defined names.

use lsp_types::{PrepareRenameResponse, TextEdit, Uri, WorkspaceEdit};
use mind_driver::formats::Format;
use mind_text::Role;

use crate::actions::workspace_edit;
use crate::analysis::Analysis;
use crate::language::Language;
use crate::names::{NameKind, Occurrence, Referent, Symbol};
use crate::refusal::Refusal;
use crate::rules;
use crate::view::View;

/// Returns the range that would be renamed at `offset`, and its current name.
///
/// # Errors
///
/// There is nothing that can be renamed.
pub(crate) fn prepare(view: View<'_>, offset: usize) -> Result<PrepareRenameResponse, Refusal> {
    let (found, _) = target(view, offset)?;
    Ok(PrepareRenameResponse::RangeWithPlaceholder {
        range: view.range(found.range.clone()),
        placeholder: view.word(&found.range).to_owned(),
    })
}

/// Returns the edits that rename the entity at `offset`.
///
/// # Errors
///
/// There is nothing that can be renamed; the name is invalid in the language, or already used.
pub(crate) fn rename(
    view: View<'_>,
    offset: usize,
    wanted: &str,
    uri: &Uri,
) -> Result<WorkspaceEdit, Refusal> {
    let (found, symbol) = target(view, offset)?;
    let now = view.word(&found.range);
    let wanted = spelled(view.analysis.language, symbol.kind, wanted, now)?;
    let all = occurrences(view, found, symbol);
    if is_taken(view, symbol, &wanted) {
        return Err(Refusal::failed(format!("`{wanted}` is already used")));
    }
    let mut renamed = view.text().to_owned();
    for found in all.iter().rev() {
        renamed.replace_range(found.range.clone(), &wanted);
    }
    // A name may still have another meaning in the language, for example as a keyword.
    let after = Analysis::of(view.session, view.analysis.language, &renamed);
    if !after.reads || after.names.all().len() != view.names().all().len() {
        let message = format!("`{wanted}` would change the meaning of the text");
        return Err(Refusal::failed(message));
    }
    let edits = all.into_iter().map(|found| {
        let range = view.range(found.range.clone());
        TextEdit::new(range, wanted.clone())
    });
    Ok(workspace_edit(view, uri, edits.collect()))
}

/// Returns the name at `offset`, if it can be renamed.
fn target(view: View<'_>, offset: usize) -> Result<(&Occurrence, Symbol), Refusal> {
    if !view.analysis.reads {
        let message = "fix the errors first: not every name in the text is known";
        return Err(Refusal::failed(message));
    }
    let Some((found, symbol)) = view.names().symbol_at(offset) else {
        return Err(Refusal::failed(match view.names().at(offset).next() {
            Some(Occurrence {
                referent: Referent::Op(_) | Referent::Attr(..) | Referent::DType | Referent::Call(_),
                ..
            }) => "this name belongs to the language",
            _ => "nothing here has a name",
        }));
    };
    let is_mic2 = view.analysis.language == Language::Module(Format::Mic2);
    let reason = match symbol.kind {
        NameKind::Value if is_mic2 && found.role != Role::Definition => {
            "values of mic@2 have no names: an id is the position of the line that defines it"
        }
        NameKind::Type if is_mic2 => "types of mic@2 are numbered in the order of their lines",
        NameKind::Function => "the functions of a program are its interface",
        _ => return Ok((found, symbol)),
    };
    Err(Refusal::failed(reason))
}

/// Returns the occurrences to rename. In mic@2 the name of an input occurs only on its own line.
fn occurrences<'v>(view: View<'v>, found: &'v Occurrence, symbol: Symbol) -> Vec<&'v Occurrence> {
    let is_mic2 = view.analysis.language == Language::Module(Format::Mic2);
    if is_mic2 && symbol.kind == NameKind::Value {
        vec![found]
    } else {
        view.names().of(symbol).collect()
    }
}

/// Returns `wanted` in the language's spelling of names of this kind.
///
/// # Errors
///
/// `wanted` is not a valid name.
fn spelled(language: Language, kind: NameKind, wanted: &str, now: &str) -> Result<String, Refusal> {
    let numbered = |letter: char| {
        let digits = wanted.strip_prefix(letter).unwrap_or(wanted);
        let number = digits.parse::<i64>().ok().filter(|number| *number >= 0);
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        match number.filter(|_| plain) {
            Some(number) => Ok(format!("{letter}{number}")),
            None => Err(Refusal::failed(format!(
                "invalid id `{wanted}`: expected `{letter}0` to `{letter}{}`",
                i64::MAX
            ))),
        }
    };
    match (language, kind) {
        (Language::Module(Format::Mic1), NameKind::Value) => numbered('N'),
        (Language::Module(Format::Mic1), NameKind::Type) => numbered('T'),
        (Language::Module(Format::Mic1), NameKind::Text) => numbered('S'),
        (Language::Module(Format::Core), NameKind::Value) => numbered('%'),
        (Language::Rules, kind) => rules::spelled(kind, wanted, now),
        (Language::Module(_), _) => {
            if is_identifier(wanted) {
                Ok(wanted.to_owned())
            } else {
                Err(Refusal::failed(format!(
                    "invalid name `{wanted}`: expected letters, digits and `_`, not starting with a digit"
                )))
            }
        }
    }
}

fn is_identifier(word: &str) -> bool {
    let first = word.bytes().next();
    first.is_some_and(|byte| !byte.is_ascii_digit())
        && word
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Returns whether another entity of the same kind is called `name`.
fn is_taken(view: View<'_>, symbol: Symbol, name: &str) -> bool {
    view.names().all().iter().any(|found| {
        // An implicit occurrence is an opcode, not a name.
        let named = found.symbol().filter(|_| found.role != Role::Implicit);
        let other = named.filter(|other| *other != symbol);
        other.is_some_and(|other| {
            let together = match view.analysis.language {
                Language::Rules => rules::same_scope(symbol, other),
                Language::Module(_) => true,
            };
            other.kind == symbol.kind && together && view.word(&found.range) == name
        })
    })
}
