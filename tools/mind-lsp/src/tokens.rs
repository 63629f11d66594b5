//! Semantic tokens.

use std::ops::Range;

use lsp_types::{SemanticToken, SemanticTokenModifier, SemanticTokenType, SemanticTokens};
use mind_text::Role;

use crate::language::Language;
use crate::names::{NameKind, Occurrence, Referent};
use crate::view::View;

/// The token types, by number.
pub(crate) const TYPES: [SemanticTokenType; 10] = [
    SemanticTokenType::VARIABLE,
    SemanticTokenType::TYPE,
    SemanticTokenType::TYPE_PARAMETER,
    SemanticTokenType::FUNCTION,
    SemanticTokenType::METHOD,
    SemanticTokenType::PROPERTY,
    SemanticTokenType::KEYWORD,
    SemanticTokenType::NUMBER,
    SemanticTokenType::STRING,
    SemanticTokenType::COMMENT,
];

/// The token modifiers, by bit.
pub(crate) const MODIFIERS: [SemanticTokenModifier; 1] = [SemanticTokenModifier::DECLARATION];

const NUMBER: u32 = 7;
const STRING: u32 = 8;
const COMMENT: u32 = 9;
const DECLARES: u32 = 1;

/// A token with its type and modifiers.
type Token = (Range<usize>, u32, u32);

/// Returns the tokens of a whole document.
pub(crate) fn all(view: View<'_>) -> SemanticTokens {
    encode(view, 0..view.text().len())
}

/// Returns the tokens of a part of a document, in whole lines.
pub(crate) fn within(view: View<'_>, range: lsp_types::Range) -> SemanticTokens {
    let (text, lines) = (view.text(), &view.document.lines);
    let from = lines.line(lines.offset(text, range.start));
    let to = lines.line(lines.offset(text, range.end));
    encode(
        view,
        lines.line_range(text, from).start..lines.line_range(text, to).end,
    )
}

fn encode(view: View<'_>, range: Range<usize>) -> SemanticTokens {
    let (text, lines) = (view.text(), &view.document.lines);
    let (mut line, mut column) = (0, 0);
    let mut data = Vec::new();
    for (range, token_type, modifiers) in tokens(view, range) {
        let start = lines.position(text, range.start);
        let length = text[range].chars().map(char::len_utf16).sum::<usize>();
        if start.line != line {
            column = 0;
        }
        data.push(SemanticToken {
            delta_line: start.line - line,
            delta_start: start.character - column,
            length: length as u32,
            token_type,
            token_modifiers_bitset: modifiers,
        });
        (line, column) = (start.line, start.character);
    }
    SemanticTokens {
        result_id: None,
        data,
    }
}

/// Returns the names in a part of the text, with the numbers, strings and comments between them.
fn tokens(view: View<'_>, range: Range<usize>) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut at = range.start;
    for found in view.names().all() {
        // If two names have the same range, as for opcodes of mic@2, the first one is used.
        if found.range.start < at || found.range.end > range.end || found.range.is_empty() {
            continue;
        }
        plain(view, at..found.range.start, &mut tokens);
        let modifiers = match found.role {
            Role::Definition => DECLARES,
            Role::Implicit | Role::Reference => 0,
        };
        at = found.range.end;
        tokens.push((found.range.clone(), token_type(found), modifiers));
    }
    plain(view, at..range.end, &mut tokens);
    tokens
}

fn token_type(found: &Occurrence) -> u32 {
    match found.referent {
        // An op that defines a value without naming it is shown as the op.
        _ if found.role == Role::Implicit => 3,
        Referent::Symbol(symbol) => match symbol.kind {
            NameKind::Value => 0,
            NameKind::Type => 1,
            NameKind::Dimension | NameKind::Binding => 2,
            NameKind::Text => 8,
            NameKind::Function | NameKind::Rule => 4,
        },
        Referent::Op(_) => 3,
        Referent::Attr(..) => 5,
        Referent::DType => 1,
        Referent::Call(_) => 4,
        Referent::Keyword => 6,
    }
}

/// Appends the numbers, strings and comments in a range without names.
fn plain(view: View<'_>, range: Range<usize>, tokens: &mut Vec<Token>) {
    let text = &view.text()[range.clone()];
    let bytes = text.as_bytes();
    let comment = view.analysis.language.comment();
    let escapes = matches!(view.analysis.language, Language::Module(_));
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let (len, token) = match rest[0] {
            _ if rest.starts_with(comment.as_bytes()) => (run(rest, in_line), Some(COMMENT)),
            b'"' => (quoted_len(rest, escapes), Some(STRING)),
            b'0'..=b'9' => (
                run(rest, |byte| in_word(byte) || byte == b'.'),
                Some(NUMBER),
            ),
            b'-' | b'+' if rest.get(1).is_some_and(u8::is_ascii_digit) => (
                1 + run(&rest[1..], |byte| in_word(byte) || byte == b'.'),
                Some(NUMBER),
            ),
            byte if in_word(byte) => (run(rest, in_word), None),
            _ => (1, None),
        };
        if let Some(token) = token {
            let start = range.start + at;
            tokens.push((start..start + len, token, 0));
        }
        at += len;
    }
}

fn in_word(byte: u8) -> bool {
    // The headers of the mic formats are one word.
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'@')
}

fn run(bytes: &[u8], goes_on: impl Fn(u8) -> bool) -> usize {
    let end = bytes.iter().position(|&byte| !goes_on(byte));
    end.unwrap_or(bytes.len())
}

fn in_line(byte: u8) -> bool {
    !matches!(byte, b'\n' | b'\r')
}

/// Returns the length of the string at the start of `text`, up to its closing quote or the end of the line.
fn quoted_len(text: &[u8], escapes: bool) -> usize {
    let mut escaped = false;
    let end = text.iter().enumerate().skip(1).find(|&(_, &byte)| {
        let closes = byte == b'"' && !escaped;
        escaped = escapes && byte == b'\\' && !escaped;
        closes || !in_line(byte)
    });
    match end {
        Some((at, b'"')) => at + 1,
        Some((at, _)) => at,
        None => text.len(),
    }
}
