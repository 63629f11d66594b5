//! Tokens of rule files.

use mind_diag::{Diagnostic, Diagnostics, Span};

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A word: letters, digits, `_`, and `.` or `-` between them.
    Word,
    /// `?x`, without its mark.
    Value,
    /// `$p`, without its mark.
    Attr,
    /// `'t`, without its mark.
    DType,
    /// `..s`, without its mark.
    Rest,
    /// An integer or a float.
    Number,
    /// A string, with its quotes.
    Text,
    /// Anything else: brackets, commas, comparisons, arrows.
    Sign,
    /// The end of the file.
    End,
}

/// A token and its place.
#[derive(Clone, Copy, Debug)]
pub struct Token<'s> {
    /// What it is.
    pub kind: Kind,
    /// The text without a mark.
    pub text: &'s str,
    /// Where it stands, its mark included.
    pub span: Span,
}

/// The tokens of a rule file, for tools that show it; what is no token is left out.
pub fn tokens(text: &str) -> Vec<Token<'_>> {
    lex(text, &mut Diagnostics::new())
}

/// The tokens of `text`, the last one being the end; what is no token is reported and left out.
pub(crate) fn lex<'s>(text: &'s str, found: &mut Diagnostics) -> Vec<Token<'s>> {
    let mut tokens = Vec::with_capacity(text.len() / 4);
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let (kind, mark, len) = match first {
            '#' => {
                at += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            _ if first.is_whitespace() => {
                at += rest.len() - rest.trim_start().len();
                continue;
            }
            '?' => (Kind::Value, 1, 1 + name_len(&rest[1..])),
            '$' => (Kind::Attr, 1, 1 + name_len(&rest[1..])),
            '\'' => (Kind::DType, 1, 1 + name_len(&rest[1..])),
            '.' if rest.starts_with("..") => match name_len(&rest[2..]) {
                0 => (Kind::Sign, 0, 2),
                len => (Kind::Rest, 2, 2 + len),
            },
            '"' => match rest[1..].find(['"', '\n']).map(|end| end + 1) {
                Some(end) if rest.as_bytes()[end] == b'"' => (Kind::Text, 0, end + 1),
                _ => {
                    let span = span(at, 1);
                    found.push(Diagnostic::error(span, "string without closing quote"));
                    at += rest.find('\n').unwrap_or(rest.len());
                    continue;
                }
            },
            '0'..='9' | '-' => (Kind::Number, 0, number_len(rest)),
            _ if first.is_ascii_alphabetic() || first == '_' => (Kind::Word, 0, word_len(rest)),
            _ => match sign_len(rest.as_bytes()) {
                Some(len) => (Kind::Sign, 0, len),
                None => {
                    let message = format!("`{first}` starts no token");
                    found.push(Diagnostic::error(span(at, first.len_utf8()), message));
                    at += first.len_utf8();
                    continue;
                }
            },
        };
        if len == mark && mark > 0 {
            let message = format!("`{}` needs a name behind it", &rest[..len]);
            found.push(Diagnostic::error(span(at, len), message));
        } else {
            tokens.push(Token {
                kind,
                text: &rest[mark..len],
                span: span(at, len),
            });
        }
        at += len;
    }
    tokens.push(Token {
        kind: Kind::End,
        text: "",
        span: span(text.len(), 0),
    });
    tokens
}

fn span(at: usize, len: usize) -> Span {
    Span::new(at as u32, (at + len) as u32)
}

fn name_len(text: &str) -> usize {
    let mut bytes = text.bytes();
    let end = bytes.position(|byte| !byte.is_ascii_alphanumeric() && byte != b'_');
    end.unwrap_or(text.len())
}

/// The length of the sign that `text` begins with: a bracket, a comma, a comparison, an arrow.
fn sign_len(text: &[u8]) -> Option<usize> {
    match text {
        [b'<', b'=', b'>', ..] => Some(3),
        [b'=', b'>' | b'=', ..] | [b'!' | b'<' | b'>', b'=', ..] => Some(2),
        [b'<' | b'>' | b'=' | b'(' | b')' | b'{' | b'}', ..] => Some(1),
        [b'[' | b']' | b',' | b':' | b'@' | b'+' | b'*', ..] => Some(1),
        _ => None,
    }
}

/// A word may hold `.` and `-` where a letter or digit follows.
fn word_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut len = 0;
    while len < bytes.len() {
        let joins = matches!(bytes[len], b'.' | b'-')
            && bytes.get(len + 1).is_some_and(u8::is_ascii_alphanumeric);
        if !(bytes[len].is_ascii_alphanumeric() || bytes[len] == b'_' || joins) {
            break;
        }
        len += 1;
    }
    len
}

/// `-0.5`, `1e-5`, `-inf`.
fn number_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut len = usize::from(bytes[0] == b'-');
    if text[len..].starts_with("inf") {
        return len + 3;
    }
    while len < bytes.len() {
        let sign = matches!(bytes[len], b'-' | b'+') && matches!(bytes[len - 1], b'e' | b'E');
        let point = bytes[len] == b'.' && bytes.get(len + 1).is_some_and(u8::is_ascii_digit);
        if !(bytes[len].is_ascii_digit() || matches!(bytes[len], b'e' | b'E') || sign || point) {
            break;
        }
        len += 1;
    }
    len
}
