//! Renaming, where a language has names to change.

use lsp_types::{PrepareRenameResponse, TextEdit, Uri, WorkspaceEdit};
use mind_driver::formats::Format;
use mind_text::Role;

use crate::actions::workspace_edit;
use crate::analysis::Analysis;
use crate::language::Language;
use crate::names::{Found, Kind, Symbol, Thing};
use crate::refusal::Refusal;
use crate::rules;
use crate::view::View;

/// What would be renamed at `offset`, and what it is called now.
///
/// # Errors
///
/// Nothing there has a name that can be changed.
pub(crate) fn prepare(view: View<'_>, offset: usize) -> Result<PrepareRenameResponse, Refusal> {
    let (found, _) = target(view, offset)?;
    Ok(PrepareRenameResponse::RangeWithPlaceholder {
        range: view.range(found.range.clone()),
        placeholder: view.word(&found.range).to_owned(),
    })
}

/// The edits that give the thing at `offset` another name.
///
/// # Errors
///
/// Nothing there has a name that can be changed; a name that the language does not have, or that
/// something else has.
pub(crate) fn rename(
    view: View<'_>,
    offset: usize,
    wanted: &str,
    uri: &Uri,
) -> Result<WorkspaceEdit, Refusal> {
    let (found, symbol) = target(view, offset)?;
    let now = view.word(&found.range);
    let wanted = spelled(view.analysis.language, symbol.kind, wanted, now)?;
    let places = places(view, found, symbol);
    if taken(view, symbol, &wanted) {
        return Err(Refusal::failed(format!("`{wanted}` is taken")));
    }
    let mut renamed = view.text().to_owned();
    for found in places.iter().rev() {
        renamed.replace_range(found.range.clone(), &wanted);
    }
    // A name may still mean something else to the language, as a keyword does.
    let after = Analysis::of(view.session, view.analysis.language, &renamed);
    if !after.reads || after.names.all().len() != view.names().all().len() {
        let message = format!("`{wanted}` would change what the text says");
        return Err(Refusal::failed(message));
    }
    let edits = places.into_iter().map(|found| {
        let range = view.range(found.range.clone());
        TextEdit::new(range, wanted.clone())
    });
    Ok(workspace_edit(view, uri, edits.collect()))
}

/// The name at `offset`, if it can be changed.
fn target(view: View<'_>, offset: usize) -> Result<(&Found, Symbol), Refusal> {
    if !view.analysis.reads {
        let message = "the text has errors, so that not every name in it is known";
        return Err(Refusal::failed(message));
    }
    let Some((found, symbol)) = view.names().symbol_at(offset) else {
        return Err(Refusal::failed(match view.names().at(offset).next() {
            Some(Found {
                thing: Thing::Op(_) | Thing::Attr(..) | Thing::DType | Thing::Call(_),
                ..
            }) => "this name belongs to the language",
            _ => "nothing here has a name",
        }));
    };
    let is_mic2 = view.analysis.language == Language::Module(Format::Mic2);
    let reason = match symbol.kind {
        Kind::Value if is_mic2 && found.role != Role::Definition => {
            "values of mic@2 have no names: an id is the position of the line that defines it"
        }
        Kind::Type if is_mic2 => "types of mic@2 are numbered in the order of their lines",
        Kind::Function => "the functions of a program are its interface",
        _ => return Ok((found, symbol)),
    };
    Err(Refusal::failed(reason))
}

/// Where the name stands: in mic@2 that of an input stands on its own line alone.
fn places<'v>(view: View<'v>, found: &'v Found, symbol: Symbol) -> Vec<&'v Found> {
    let is_mic2 = view.analysis.language == Language::Module(Format::Mic2);
    if is_mic2 && symbol.kind == Kind::Value {
        vec![found]
    } else {
        view.names().of(symbol).collect()
    }
}

/// `wanted` as the language spells such a name.
///
/// # Errors
///
/// It is no such name.
fn spelled(language: Language, kind: Kind, wanted: &str, now: &str) -> Result<String, Refusal> {
    let numbered = |letter: char| {
        let digits = wanted.strip_prefix(letter).unwrap_or(wanted);
        let number = digits.parse::<i64>().ok().filter(|number| *number >= 0);
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        match number.filter(|_| plain) {
            Some(number) => Ok(format!("{letter}{number}")),
            None => Err(Refusal::failed(format!(
                "`{wanted}` is no id: those are `{letter}0` to `{letter}{}`",
                i64::MAX
            ))),
        }
    };
    match (language, kind) {
        (Language::Module(Format::Mic1), Kind::Value) => numbered('N'),
        (Language::Module(Format::Mic1), Kind::Type) => numbered('T'),
        (Language::Module(Format::Mic1), Kind::Text) => numbered('S'),
        (Language::Module(Format::Core), Kind::Value) => numbered('%'),
        (Language::Rules, kind) => rules::spelled(kind, wanted, now),
        (Language::Module(_), _) => {
            if is_identifier(wanted) {
                Ok(wanted.to_owned())
            } else {
                Err(Refusal::failed(format!(
                    "`{wanted}` is no name: those are letters, digits and `_`, no digit first"
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

/// Whether something else of the same kind is called `name`.
fn taken(view: View<'_>, symbol: Symbol, name: &str) -> bool {
    view.names().all().iter().any(|found| {
        // What stands where a value has no name is an opcode.
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
