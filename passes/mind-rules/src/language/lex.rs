//! Tokens of rule files.

use mind_diag::{Diagnostic, Diagnostics, Span};

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
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
    /// Anything else: brackets, commas, comparisons, arrows.
    Sign,
    /// The end of the file.
    End,
}

impl Kind {
    /// What stands before the text of such a token.
    pub(crate) fn mark(self) -> &'static str {
        match self {
            Kind::Value => "?",
            Kind::Attr => "$",
            Kind::DType => "'",
            Kind::Rest => "..",
            Kind::Word | Kind::Number | Kind::Text | Kind::Sign | Kind::End => "",
        }
    }
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
    let start = text.len() - text.trim_start_matches('\u{feff}').len();
    lex_from(text, start, found)
}

/// The tokens of `text` from the byte `at` on.
pub(crate) fn lex_from<'s>(
    text: &'s str,
    mut at: usize,
    found: &mut Diagnostics,
) -> Vec<Token<'s>> {
    let mut tokens = Vec::with_capacity((text.len() - at) / 4);
    while at < text.len() {
        // Most blanks, which need no decoding.
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
                    let error = Diagnostic::error(span, "string without closing quote");
                    found.push(error.help("a string ends with `\"` on its line"));
                    at += rest.find('\n').unwrap_or(rest.len());
                    continue;
                }
            },
            '0'..='9' | '-' => (Kind::Number, 0, number_len(rest)),
            _ if first.is_ascii_alphabetic() || first == '_' => (Kind::Word, 0, word_len(rest)),
            _ => match sign_len(rest.as_bytes()) {
                Some(len) => (Kind::Sign, 0, len),
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
            let message = format!("`{}` needs a name behind it", &rest[..len]);
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
        kind: Kind::End,
        text: "",
        span: span(text.len(), 0),
    });
    tokens
}

/// The error for the text at `at`, which begins with `first` and with no token; the length of what it is
/// about, and the token that is meant, if that is clear.
fn no_token(at: usize, rest: &str, first: char) -> (Diagnostic, usize, Option<(Kind, &str)>) {
    const SIGNS: [(&str, Kind, &str); 11] = [
        ("&&", Kind::Word, "and"),
        ("||", Kind::Word, "or"),
        ("&", Kind::Word, "and"),
        ("|", Kind::Word, "or"),
        ("!", Kind::Word, "not"),
        ("→", Kind::Sign, "=>"),
        ("⇒", Kind::Sign, "=>"),
        ("↦", Kind::Sign, "=>"),
        ("≤", Kind::Sign, "<="),
        ("≥", Kind::Sign, ">="),
        ("≠", Kind::Sign, "!="),
    ];
    let error = |len: usize| {
        let message = format!("`{}` starts no token", &rest[..len]);
        Diagnostic::error(span(at, len), message)
    };
    if let Some((sign, kind, meant)) = SIGNS.iter().find(|(sign, ..)| rest.starts_with(sign)) {
        let error = error(sign.len()).did_you_mean(meant);
        return (error, sign.len(), Some((*kind, meant)));
    }
    // A text of many such characters takes time in proportion to it, because no more is looked at than is reported.
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
        return (error, end + close, Some((Kind::Text, text)));
    }
    let comment = if rest.starts_with("//") {
        rest.lines().next().map_or(0, str::len)
    } else {
        0
    };
    let len = comment.max(first.len_utf8());
    let help = match first {
        '/' => "a comment starts with `#`",
        ';' => "a rule needs no sign at its end",
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

/// A word may hold `.` and `-` where a letter or digit follows, and `/` where a digit follows.
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
