//! Parsing of text.

use std::collections::BTreeSet;

use mind_diag::{Code, Diagnostic, Span};

use crate::value::{Member, Value, ValueKind};

/// The code of every syntax error.
pub const MALFORMED: Code = Code(4201);

/// Limits on the size of a text, because its source is not trusted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Number of values, without keys.
    pub values: usize,
    /// Nesting depth of arrays and objects.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            values: 2_000_000,
            depth: 64,
        }
    }
}

/// Parses `text` as one value.
///
/// # Errors
///
/// Returns E4201 at the first violation of RFC 8259, at a duplicate key, or at a limit. Texts larger than `u32::MAX`
/// bytes are rejected.
pub fn parse(text: &str, limits: &Limits) -> Result<Value, Box<Diagnostic>> {
    if u32::try_from(text.len()).is_err() {
        let message = format!("{} bytes of JSON are more than can be read", text.len());
        return Err(Box::new(
            Diagnostic::error(Span::FILE, message).code(MALFORMED),
        ));
    }
    let mut parser = Parser {
        text,
        // RFC 8259, section 8.1: a byte order mark may be ignored.
        at: text.len() - text.strip_prefix('\u{feff}').unwrap_or(text).len(),
        values: 0,
        limits,
    };
    let value = parser.value(0)?;
    parser.blank();
    if parser.at == text.len() {
        Ok(value)
    } else {
        Err(parser.unexpected("the end of the text"))
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    values: usize,
    limits: &'t Limits,
}

type Parsed<T> = Result<T, Box<Diagnostic>>;

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn span(&self, start: usize) -> Span {
        Span::new(start as u32, self.at as u32)
    }

    fn blank(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Returns an error at the `len` bytes from `start`.
    fn error(&self, start: usize, len: usize, message: impl Into<String>) -> Box<Diagnostic> {
        let end = (start + len.max(1)).min(self.text.len().max(1));
        // At the end of the text the last byte is used, because an empty span denotes the whole file.
        let start = start.min(end.saturating_sub(1));
        let span = Span::new(start as u32, end as u32);
        Box::new(Diagnostic::error(span, message).code(MALFORMED))
    }

    fn unexpected(&self, expected: &str) -> Box<Diagnostic> {
        let rest = &self.text[self.at..];
        let found = match rest.chars().next() {
            None => "the end of the text".to_owned(),
            Some(_) if rest.starts_with("NaN") || rest.starts_with("Infinity") => {
                "a number that JSON does not have".to_owned()
            }
            Some(found) => format!("{found:?}"),
        };
        let width = rest.chars().next().map_or(0, char::len_utf8);
        self.error(
            self.at,
            width,
            format!("expected {expected}, found {found}"),
        )
    }

    fn value(&mut self, depth: usize) -> Parsed<Value> {
        self.blank();
        self.values += 1;
        let start = self.at;
        if self.values > self.limits.values {
            let message = format!("more than the limit of {} values", self.limits.values);
            return Err(self.error(start, 1, message));
        }
        if depth > self.limits.depth {
            let message = format!("nested deeper than the limit of {}", self.limits.depth);
            return Err(self.error(start, 1, message));
        }
        let kind = match self.peek() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => ValueKind::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => self.word()?,
        };
        let span = self.span(start);
        Ok(Value { span, kind })
    }

    fn word(&mut self) -> Parsed<ValueKind> {
        let words = [
            ("null", ValueKind::Null),
            ("true", ValueKind::Bool(true)),
            ("false", ValueKind::Bool(false)),
        ];
        let rest = &self.text[self.at..];
        let found = words.into_iter().find(|(word, _)| rest.starts_with(word));
        let (word, kind) = found.ok_or_else(|| self.unexpected("a value"))?;
        self.at += word.len();
        Ok(kind)
    }

    fn array(&mut self, depth: usize) -> Parsed<ValueKind> {
        self.at += 1;
        let mut elements = Vec::new();
        self.blank();
        if self.eat(b']') {
            return Ok(ValueKind::Array(elements));
        }
        loop {
            elements.push(self.value(depth + 1)?);
            self.blank();
            if self.eat(b']') {
                return Ok(ValueKind::Array(elements));
            }
            if !self.eat(b',') {
                return Err(self.unexpected("`,` or `]`"));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Parsed<ValueKind> {
        self.at += 1;
        let mut members: Vec<Member> = Vec::new();
        let mut keys = BTreeSet::new();
        self.blank();
        if self.eat(b'}') {
            return Ok(ValueKind::Object(members));
        }
        loop {
            self.blank();
            let start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.unexpected("a key in quotes"));
            }
            let key = self.string()?;
            let key_span = self.span(start);
            if !keys.insert(key.clone()) {
                let first = members.iter().find(|member| member.key == key);
                let error = self.error(start, self.at - start, format!("the key {key:?} twice"));
                return Err(match first {
                    Some(first) => Box::new(error.related(first.key_span, "first here")),
                    None => error,
                });
            }
            self.blank();
            if !self.eat(b':') {
                return Err(self.unexpected("`:`"));
            }
            let value = self.value(depth + 1)?;
            members.push(Member {
                key,
                key_span,
                value,
            });
            self.blank();
            if self.eat(b'}') {
                return Ok(ValueKind::Object(members));
            }
            if !self.eat(b',') {
                return Err(self.unexpected("`,` or `}`"));
            }
        }
    }

    fn digits(&mut self) -> Parsed<()> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.unexpected("a digit"));
        }
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Parsed<ValueKind> {
        let start = self.at;
        self.eat(b'-');
        if self.eat(b'0') {
            if matches!(self.peek(), Some(b'0'..=b'9')) {
                return Err(self.error(start, self.at + 1 - start, "a number with a leading 0"));
            }
        } else {
            self.digits()?;
        }
        if self.eat(b'.') {
            self.digits()?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            if !self.eat(b'-') {
                self.eat(b'+');
            }
            self.digits()?;
        }
        Ok(ValueKind::Number(self.text[start..self.at].to_owned()))
    }

    fn string(&mut self) -> Parsed<String> {
        let start = self.at;
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.find(|c: char| matches!(c, '"' | '\\') || c < ' ');
            let Some(plain) = plain else {
                return Err(self.error(start, 1, "a string without closing quote"));
            };
            out.push_str(&rest[..plain]);
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => out.push(self.escape()?),
                _ => return Err(self.error(self.at, 1, "a control character in a string")),
            }
        }
    }

    fn escape(&mut self) -> Parsed<char> {
        let start = self.at;
        self.at += 1;
        let Some(letter) = self.peek() else {
            return Err(self.unexpected("an escape"));
        };
        let plain = match letter {
            b'"' | b'\\' | b'/' => Some(char::from(letter)),
            b'b' => Some('\u{8}'),
            b'f' => Some('\u{c}'),
            b'n' => Some('\n'),
            b'r' => Some('\r'),
            b't' => Some('\t'),
            b'u' => None,
            _ => return Err(self.error(start, 1, "an escape that JSON does not have")),
        };
        self.at += 1;
        if let Some(plain) = plain {
            return Ok(plain);
        }
        let lone = "an escaped surrogate without its pair";
        let high = self.hex()?;
        let unit = match high {
            0xd800..=0xdbff => {
                let low = if self.text[self.at..].starts_with("\\u") {
                    self.at += 2;
                    self.hex()?
                } else {
                    0
                };
                match low {
                    0xdc00..=0xdfff => 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00),
                    _ => return Err(self.error(start, 6, lone)),
                }
            }
            unit => unit,
        };
        char::from_u32(unit).ok_or_else(|| self.error(start, 6, lone))
    }

    fn hex(&mut self) -> Parsed<u32> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4);
        let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let Some(digits) = digits else {
            return Err(self.unexpected("four hexadecimal digits"));
        };
        self.at += 4;
        let digit = |byte: &u8| char::from(*byte).to_digit(16).unwrap_or(0);
        Ok(digits.iter().fold(0, |unit, byte| unit << 4 | digit(byte)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Parsed<Value> {
        parse(text, &Limits::default())
    }

    #[test]
    fn a_byte_order_mark_and_line_ends_keep_places() {
        let (plain, marked) = ("{\n\t\"a\": 1,\n\t}", "\u{feff}{\r\n\t\"a\": 1,\r\n\t}");
        let place = |text| read(text).map_err(|error| error.span.start).unwrap_err();
        assert_eq!(&plain[place(plain) as usize..], "}");
        assert_eq!(&marked[place(marked) as usize..], "}");
        assert!(read("\u{feff}{}").is_ok() && read("{\u{feff}}").is_err());
    }

    #[test]
    fn values_keep_text_and_place() {
        let text = r#" {"a": [1, -2.50e+3, "\u00e5\ud83d\ude00\n"], "b": null} "#;
        let value = read(text).unwrap();
        let list = value.get("a").unwrap().elements().unwrap();
        assert_eq!(list[0].integer(), Some(1));
        assert_eq!(list[1].kind, ValueKind::Number("-2.50e+3".to_owned()));
        assert_eq!((list[1].real(), list[1].integer()), (Some(-2500.0), None));
        assert_eq!(list[2].text(), Some("å😀\n"));
        let span = list[1].span;
        assert_eq!(&text[span.start as usize..span.end as usize], "-2.50e+3");
        assert!(value.get("b").unwrap().is_null());
    }

    #[test]
    fn what_is_not_json_has_a_place() {
        let cases = [
            ("", 0, "expected a value, found the end of the text"),
            ("[1,]", 3, "expected a value, found ']'"),
            ("[1 2]", 3, "expected `,` or `]`, found '2'"),
            ("{\"a\":1,\"a\":2}", 7, "the key \"a\" twice"),
            ("{} x", 3, "expected the end of the text, found 'x'"),
            ("[NaN]", 1, "found a number that JSON does not have"),
            ("[-Infinity]", 2, "expected a digit"),
            ("[01]", 1, "a number with a leading 0"),
            ("[1.]", 3, "expected a digit"),
            ("\"ab", 0, "a string without closing quote"),
            ("\"a\nb\"", 2, "a control character in a string"),
            ("\"\\x\"", 1, "an escape that JSON does not have"),
            ("\"\\ud800\"", 1, "an escaped surrogate without its pair"),
            ("\"\\u12g4\"", 3, "expected four hexadecimal digits"),
            ("{a:1}", 1, "expected a key in quotes"),
            ("{\"a\" 1}", 5, "expected `:`"),
            ("[nul]", 1, "expected a value"),
        ];
        for (text, at, message) in cases {
            let error = read(text).unwrap_err();
            assert!(error.message.contains(message), "{text}: {}", error.message);
            assert_eq!(error.span.start, at, "{text}");
        }
    }

    #[test]
    fn depth_and_count_are_bounded() {
        let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(&deep(65)).is_ok());
        let error = read(&deep(66)).unwrap_err();
        assert_eq!(error.message, "nested deeper than the limit of 64");
        assert!(read(&"[".repeat(1_000_000)).is_err());
        let limits = Limits {
            values: 3,
            ..Limits::default()
        };
        assert!(parse("[1,2]", &limits).is_ok());
        assert!(parse("[1,2,3]", &limits).is_err());
    }
}
