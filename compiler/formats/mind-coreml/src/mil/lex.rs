//! Lexer of MIL text.

use mind_diag::{Code, Diagnostic, Span};

use crate::mil::Parsed;
use mind_text::Limits;

/// The class of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A word.
    Word,
    /// A number, its sign included; also `-inf`.
    Number,
    /// A string literal.
    Text,
    /// One of the characters `()[]{}<>,;=?@`, or [`ARROW`] for `->`.
    Mark(u8),
    /// The end of the text.
    End,
}

/// A token with its position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind,
    /// The text, without quotes.
    pub(super) text: &'t str,
    pub(super) span: Span,
}

/// The mark that encodes `->`.
pub(super) const ARROW: u8 = b'-';

/// Lexer with one token of lookahead.
pub(super) struct Lexer<'t> {
    text: &'t str,
    at: usize,
    base: u32,
    next: Token<'t>,
    /// Errors in tokens.
    pub(super) found: Vec<Diagnostic>,
}

impl<'t> Lexer<'t> {
    /// Returns a lexer of `text`, whose first byte is at offset `base` of its file.
    ///
    /// # Errors
    ///
    /// If the text has more bytes than the limit.
    pub(super) fn new(text: &'t str, base: u32, limits: &Limits) -> Parsed<Lexer<'t>> {
        let longest = u64::from(u32::MAX - base).min(limits.bytes);
        if text.len() as u64 > longest {
            let message = format!("the text has {} bytes, the limit is {longest}", text.len());
            return Err(Box::new(Diagnostic::error(Span::FILE, message)));
        }
        let mut lexer = Lexer {
            text,
            at: if text.starts_with('\u{feff}') { 3 } else { 0 },
            base,
            next: Token {
                kind: Kind::End,
                text: "",
                span: Span::FILE,
            },
            found: Vec::new(),
        };
        lexer.next = lexer.read();
        Ok(lexer)
    }

    /// Returns the next token without consuming it.
    pub(super) fn peek(&self) -> Token<'t> {
        self.next
    }

    /// Consumes the next token and returns it.
    pub(super) fn bump(&mut self) -> Token<'t> {
        let next = self.read();
        std::mem::replace(&mut self.next, next)
    }

    /// Consumes the mark if it is next, and returns whether it was.
    pub(super) fn eat(&mut self, mark: u8) -> bool {
        let found = self.next.kind == Kind::Mark(mark);
        if found {
            self.bump();
        }
        found
    }

    fn read(&mut self) -> Token<'t> {
        loop {
            self.skip();
            let start = self.at;
            let bytes = self.text.as_bytes();
            let Some(&first) = bytes.get(start) else {
                return self.token(Kind::End, start);
            };
            let after = bytes.get(start + 1).copied().unwrap_or(0);
            match first {
                b'"' => return self.quoted(start),
                b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>' | b',' | b';' | b'='
                | b'?' | b'@' => {
                    self.at += 1;
                    return self.token(Kind::Mark(first), start);
                }
                b'-' if after == b'>' => {
                    self.at += 2;
                    return self.token(Kind::Mark(ARROW), start);
                }
                b'0'..=b'9' => return self.number(start),
                b'+' | b'-' | b'.' if after.is_ascii_alphanumeric() || after == b'.' => {
                    return self.number(start);
                }
                b'_' | b'a'..=b'z' | b'A'..=b'Z' => {
                    let in_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
                    self.at += bytes[start..]
                        .iter()
                        .take_while(|byte| in_word(byte))
                        .count();
                    return self.token(Kind::Word, start);
                }
                _ => {}
            }
            let letter = self.text[start..].chars().next().unwrap_or('\u{fffd}');
            self.at += letter.len_utf8();
            let message = format!("unexpected character {letter:?}");
            let error = Diagnostic::error(self.span(start), message).code(Code(1002));
            self.report(error.help("remove it; other characters are for strings and comments"));
        }
    }

    /// Skips whitespace and comments.
    fn skip(&mut self) {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.at) {
                Some(byte) if byte.is_ascii_whitespace() => self.at += 1,
                Some(b'/') if bytes.get(self.at + 1) == Some(&b'/') => {
                    let rest = bytes[self.at..].iter();
                    self.at += rest.take_while(|byte| **byte != b'\n').count();
                }
                _ => return,
            }
        }
    }

    fn number(&mut self, start: usize) -> Token<'t> {
        let bytes = self.text.as_bytes();
        let hex = |from: usize| {
            let digits = &bytes[from..];
            let digits = digits
                .strip_prefix(b"-")
                .or(digits.strip_prefix(b"+"))
                .unwrap_or(digits);
            digits.starts_with(b"0x") || digits.starts_with(b"0X")
        };
        let hex = hex(start);
        self.at += 1;
        while let Some(&byte) = bytes.get(self.at) {
            let sign = matches!(byte, b'+' | b'-')
                && match bytes[self.at - 1] {
                    b'p' | b'P' => hex,
                    b'e' | b'E' => !hex,
                    _ => false,
                };
            if !(byte.is_ascii_alphanumeric() || byte == b'.' || sign) {
                break;
            }
            self.at += 1;
        }
        self.token(Kind::Number, start)
    }

    fn quoted(&mut self, start: usize) -> Token<'t> {
        let rest = &self.text[start + 1..];
        let end = rest.bytes().position(|byte| byte == b'"' || byte == b'\n');
        let closed = end.is_some_and(|end| rest.as_bytes()[end] == b'"');
        let end = end.unwrap_or(rest.len());
        let text = &rest[..end];
        self.at = start + 1 + end + usize::from(closed);
        let span = self.span(start);
        if !closed {
            let error = Diagnostic::error(span, "string without closing quote").code(Code(1003));
            self.report(error.help("a string ends with '\"' on its line"));
        } else if let Some(bad) = text
            .chars()
            .find(|&letter| letter == '\\' || letter.is_control())
        {
            let message = format!("{bad:?} in a string; strings have no escapes");
            let error = Diagnostic::error(span, message).code(Code(1004));
            self.report(error.help("strings of MIL hold printable characters, without `\\`"));
        }
        Token {
            kind: Kind::Text,
            text,
            span,
        }
    }

    fn report(&mut self, error: Diagnostic) {
        if self.found.len() <= mind_diag::Diagnostics::KEPT {
            self.found.push(error);
        }
    }

    fn token(&self, kind: Kind, start: usize) -> Token<'t> {
        Token {
            kind,
            text: &self.text[start..self.at],
            span: self.span(start),
        }
    }

    fn span(&self, start: usize) -> Span {
        Span::new(self.base + start as u32, self.base + self.at as u32)
    }
}

impl Token<'_> {
    /// Returns the token as a message shows it.
    pub(super) fn shown(&self) -> String {
        match self.kind {
            Kind::End => "the end of the text".to_owned(),
            Kind::Text => "a string".to_owned(),
            _ => {
                let short: String = self.text.chars().take(40).collect();
                format!("`{short}`")
            }
        }
    }
}
