//! Lexer of rule files.

use mind_diag::{Diagnostic, Diagnostics, Span};

/// The kind of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenKind {
    /// A word: letters, digits, `_`, and `.`, `-` or `/` between them.
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
    /// Punctuation: brackets, commas, comparisons, arrows.
    Sign,
    /// The end of the file.
    End,
}

impl TokenKind {
    /// Returns the mark before the text of a token of this kind.
    pub(crate) fn mark(self) -> &'static str {
        match self {
            TokenKind::Value => "?",
            TokenKind::Attr => "$",
            TokenKind::DType => "'",
            TokenKind::Rest => "..",
            TokenKind::Word
            | TokenKind::Number
            | TokenKind::Text
            | TokenKind::Sign
            | TokenKind::End => "",
        }
    }
}

/// A token and its span.
#[derive(Clone, Copy, Debug)]
pub struct Token<'s> {
    /// Its kind.
    pub kind: TokenKind,
    /// The text without a mark.
    pub text: &'s str,
    /// The span, mark included.
    pub span: Span,
}

/// Returns the tokens of a rule file, for tools that highlight it; text that is not a token is skipped.
pub fn tokens(text: &str) -> Vec<Token<'_>> {
    lex(text, &mut Diagnostics::new())
}

/// Returns the tokens of `text`, with the end token last; text that is not a token is reported and skipped.
pub(crate) fn lex<'s>(text: &'s str, found: &mut Diagnostics) -> Vec<Token<'s>> {
    let start = text.len() - text.trim_start_matches('\u{feff}').len();
    lex_from(text, start, found)
}

/// Returns the tokens of `text` from the byte `at` on.
pub(crate) fn lex_from<'s>(
    text: &'s str,
    mut at: usize,
    found: &mut Diagnostics,
) -> Vec<Token<'s>> {
    let mut tokens = Vec::with_capacity((text.len() - at) / 4);
    while at < text.len() {
        // A fast path for the most common whitespace, because it does not decode a character.
        if matches!(text.as_bytes()[at], b' ' | b'\n') {
            at += 1;
            continue;
        }
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else {
            break;
        };
        let (kind, mark, len) = match first {
            '#' => {
                at += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            _ if first.is_whitespace() => {
                at += first.len_utf8();
                continue;
            }
            '?' => (TokenKind::Value, 1, 1 + name_len(&rest[1..])),
            '$' => (TokenKind::Attr, 1, 1 + name_len(&rest[1..])),
            '\'' => (TokenKind::DType, 1, 1 + name_len(&rest[1..])),
            '.' if rest.starts_with("..") => match name_len(&rest[2..]) {
                0 => (TokenKind::Sign, 0, 2),
                len => (TokenKind::Rest, 2, 2 + len),
            },
            '"' => match rest[1..].find(['"', '\n']).map(|end| end + 1) {
                Some(end) if rest.as_bytes()[end] == b'"' => (TokenKind::Text, 0, end + 1),
                _ => {
                    let span = span(at, 1);
                    let error = Diagnostic::error(span, "string without closing quote");
                    found.push(error.help("a string ends with `\"` on its line"));
                    at += rest.find('\n').unwrap_or(rest.len());
                    continue;
                }
            },
            '0'..='9' | '-' => (TokenKind::Number, 0, number_len(rest)),
            _ if first.is_ascii_alphabetic() || first == '_' => {
                (TokenKind::Word, 0, word_len(rest))
            }
            _ => match sign_len(rest.as_bytes()) {
                Some(len) => (TokenKind::Sign, 0, len),
                None => {
                    let (error, len, meant) = no_token(at, rest, first);
                    found.push(error);
                    tokens.extend(meant.map(|(kind, text)| Token {
                        kind,
                        text,
                        span: span(at, len),
                    }));
                    at += len;
                    continue;
                }
            },
        };
        if len == mark && mark > 0 {
            let message = format!("`{}` must be followed by a name", &rest[..len]);
            let help = "values are `?x`, attributes `$p`, dtypes `'t`, extents `..s`";
            found.push(Diagnostic::error(span(at, len), message).help(help));
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
        kind: TokenKind::End,
        text: "",
        span: span(text.len(), 0),
    });
    tokens
}

/// Returns the error for the text at `at`, whose first character `first` does not start a token, the length of the
/// rejected text, and the intended token if it is clear, for example `and` for `&&`.
fn no_token(at: usize, rest: &str, first: char) -> (Diagnostic, usize, Option<(TokenKind, &str)>) {
    const SIGNS: [(&str, TokenKind, &str); 11] = [
        ("&&", TokenKind::Word, "and"),
        ("||", TokenKind::Word, "or"),
        ("&", TokenKind::Word, "and"),
        ("|", TokenKind::Word, "or"),
        ("!", TokenKind::Word, "not"),
        ("→", TokenKind::Sign, "=>"),
        ("⇒", TokenKind::Sign, "=>"),
        ("↦", TokenKind::Sign, "=>"),
        ("≤", TokenKind::Sign, "<="),
        ("≥", TokenKind::Sign, ">="),
        ("≠", TokenKind::Sign, "!="),
    ];
    let error = |len: usize| {
        let message = format!("`{}` does not start a token", &rest[..len]);
        Diagnostic::error(span(at, len), message)
    };
    if let Some((sign, kind, meant)) = SIGNS.iter().find(|(sign, ..)| rest.starts_with(sign)) {
        let error = error(sign.len()).did_you_mean(meant);
        return (error, sign.len(), Some((*kind, meant)));
    }
    // Only the text up to the reported end is scanned, so lexing many such characters takes linear time.
    let quotes = ['“', '”', '„', '‘', '’'];
    let quoted = rest.strip_prefix(quotes).and_then(|inner| {
        let end = inner.find(|c: char| c == '\n' || quotes.contains(&c))?;
        inner[end..].starts_with(quotes).then(|| &inner[..end])
    });
    if let Some(text) = quoted {
        let end = first.len_utf8() + text.len();
        let close = rest[end..].chars().next().map_or(0, char::len_utf8);
        let straight = format!("\"{text}\"");
        let error = error(end + close).did_you_mean(&straight);
        return (error, end + close, Some((TokenKind::Text, text)));
    }
    let comment = if rest.starts_with("//") {
        rest.lines().next().map_or(0, str::len)
    } else {
        0
    };
    let len = comment.max(first.len_utf8());
    let help = match first {
        '/' => "a comment starts with `#`",
        ';' => "rules are not terminated by a sign; remove it",
        '%' => "values are written `?x`",
        _ => {
            "a rule holds words, `?values`, `$attributes`, `'dtypes`, `..extents`, numbers and strings"
        }
    };
    (error(len).help(help), len, None)
}

fn span(at: usize, len: usize) -> Span {
    Span::new(at as u32, (at + len) as u32)
}

fn name_len(text: &str) -> usize {
    let mut bytes = text.bytes();
    let end = bytes.position(|byte| !byte.is_ascii_alphanumeric() && byte != b'_');
    end.unwrap_or(text.len())
}

/// Returns the length of the punctuation that `text` begins with.
fn sign_len(text: &[u8]) -> Option<usize> {
    match text {
        [b'<', b'=', b'>', ..] => Some(3),
        [b'=', b'>' | b'=', ..] | [b'!' | b'<' | b'>', b'=', ..] => Some(2),
        [b'<' | b'>' | b'=' | b'(' | b')' | b'{' | b'}', ..] => Some(1),
        [b'[' | b']' | b',' | b':' | b'@' | b'+' | b'*', ..] => Some(1),
        _ => None,
    }
}

/// Returns the length of the word at the start of `text`: `.` and `-` belong to it before a letter or digit, `/` before
/// a digit.
fn word_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut len = 0;
    while len < bytes.len() {
        let next = bytes.get(len + 1);
        let joins = match bytes[len] {
            b'.' | b'-' => next.is_some_and(u8::is_ascii_alphanumeric),
            b'/' => next.is_some_and(u8::is_ascii_digit),
            _ => false,
        };
        if !(bytes[len].is_ascii_alphanumeric() || bytes[len] == b'_' || joins) {
            break;
        }
        len += 1;
    }
    len
}

/// Returns the length of the number at the start of `text`, for example `-0.5`, `1e-5` or `-inf`.
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
