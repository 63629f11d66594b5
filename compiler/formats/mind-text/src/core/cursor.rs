//! The tokens of a line.

use std::borrow::Cow;

use super::error::{Fault, Parsed, SyntaxError};

/// A position in a text.
///
/// The end of the text reads as newlines, so that the last line needs none.
pub(super) struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

const BLANK: u8 = 1;
const WORD: u8 = 2;
const NUMBER: u8 = 4;
const DELIMITER: u8 = 8;

/// The classes of each byte.
const CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        class[byte] = match byte as u8 {
            b' ' | b'\t' | b'\r' => BLANK | DELIMITER,
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => WORD | NUMBER,
            b'.' | b'+' | b'-' => NUMBER,
            b'\n' | b'(' | b')' | b'{' | b'}' | b'[' | b']' | b'<' | b'>' | b',' | b':' | b'='
            | b'#' | b'"' | b'%' => DELIMITER,
            _ => 0,
        };
        byte += 1;
    }
    class
};

fn is(byte: u8, class: u8) -> bool {
    CLASS[byte as usize] & class != 0
}

/// Returns whether `text` may be written without quotes where a name is expected.
pub(super) fn is_identifier(text: &str) -> bool {
    let starts = text
        .bytes()
        .next()
        .is_some_and(|byte| !byte.is_ascii_digit());
    starts && text.bytes().all(|byte| is(byte, WORD))
}

impl<'t> Cursor<'t> {
    /// Creates a cursor at the start of `text`, after a byte order mark.
    pub(super) fn new(text: &'t str) -> Cursor<'t> {
        let at = text.len() - text.strip_prefix('\u{feff}').unwrap_or(text).len();
        Cursor { text, at }
    }

    /// Returns the whole text.
    pub(super) fn text(&self) -> &'t str {
        self.text
    }

    /// Returns the offset of the next byte.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Moves to `at`, which is a character boundary.
    pub(super) fn seek(&mut self, at: usize) {
        self.at = at;
    }

    /// Returns whether the cursor is at the end of the text.
    pub(super) fn is_done(&self) -> bool {
        self.at >= self.text.len()
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(b'\n')
    }

    /// Skips blanks and returns the next byte.
    pub(super) fn peek(&mut self) -> u8 {
        while is(self.byte(self.at), BLANK) {
            self.at += 1;
        }
        self.byte(self.at)
    }

    /// Skips blanks, and `byte` if it follows; returns whether it did.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == byte;
        self.at += usize::from(found);
        found
    }

    /// Skips blanks and `byte`; errors with `expected` if another byte follows.
    pub(super) fn expect(&mut self, byte: u8, expected: &'static str) -> Parsed<()> {
        if self.eat(byte) {
            Ok(())
        } else {
            Err(self.unexpected(expected))
        }
    }

    /// Skips blanks; returns whether the rest of the line is empty or a comment.
    pub(super) fn at_line_end(&mut self) -> bool {
        matches!(self.peek(), b'\n' | b'#')
    }

    /// Skips blanks; returns whether `{` is next and ends its line. It then begins a body, not attributes.
    pub(super) fn opens_body(&mut self) -> bool {
        if self.peek() != b'{' {
            return false;
        }
        let mut at = self.at + 1;
        while is(self.byte(at), BLANK) {
            at += 1;
        }
        matches!(self.byte(at), b'\n' | b'#')
    }

    /// Moves to the start of the next line.
    pub(super) fn next_line(&mut self) {
        let rest = &self.text.as_bytes()[self.at.min(self.text.len())..];
        self.at += rest
            .iter()
            .position(|&byte| byte == b'\n')
            .map_or(rest.len(), |end| end + 1);
    }

    /// Returns whether the line from here on ends in `{`, ignoring comments and strings.
    pub(super) fn line_opens_body(&self) -> bool {
        let (mut at, mut quoted, mut last) = (self.at, false, 0);
        loop {
            match self.byte(at) {
                b'\n' => return last == b'{',
                b'#' if !quoted => return last == b'{',
                b'\\' if quoted && self.byte(at + 1) != b'\n' => at += 1,
                b'"' => quoted = !quoted,
                _ => {}
            }
            if !is(self.byte(at), BLANK) {
                last = self.byte(at);
            }
            at += 1;
        }
    }

    /// Reads the next identifier; returns `None` if there is none.
    pub(super) fn word(&mut self) -> Parsed<Option<&'t str>> {
        self.name_of(WORD)
    }

    /// Reads the next op name, which is identifiers joined by periods; returns `None` if there is none.
    pub(super) fn op_name(&mut self) -> Parsed<Option<&'t str>> {
        self.name_of(NUMBER)
    }

    fn name_of(&mut self, class: u8) -> Parsed<Option<&'t str>> {
        let first = self.peek();
        if !is(first, WORD) || first.is_ascii_digit() {
            return Ok(None);
        }
        let start = self.at;
        while is(self.byte(self.at), class) && !matches!(self.byte(self.at), b'+' | b'-') {
            self.at += 1;
        }
        if self.at < self.text.len() && !is(self.byte(self.at), DELIMITER) {
            let found = self.text[self.at..].chars().next().unwrap_or_default();
            let end = self.at + found.len_utf8();
            return Err(SyntaxError::IllegalCharacter(found).at(self.at, end));
        }
        Ok(Some(&self.text[start..self.at]))
    }

    /// Reads the next letters, digits, signs and periods. The caller checks that they are a number.
    pub(super) fn number(&mut self) -> &'t str {
        self.peek();
        let start = self.at;
        while is(self.byte(self.at), NUMBER) {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    /// Reads the next id, for example `%5`, and returns it with its offset.
    pub(super) fn label(&mut self) -> Parsed<(u64, usize)> {
        if self.peek() != b'%' {
            return Err(self.not_label());
        }
        let start = self.at;
        let mut label = Some(0i64);
        self.at += 1;
        while let digit @ b'0'..=b'9' = self.byte(self.at) {
            let digit = i64::from(digit - b'0');
            label = label.and_then(|label| label.checked_mul(10)?.checked_add(digit));
            self.at += 1;
        }
        if self.at == start + 1 || is(self.byte(self.at), NUMBER) {
            self.at = start;
            return Err(self.not_label());
        }
        match label {
            Some(label) => Ok((label.cast_unsigned(), start)),
            None => {
                let literal = self.text[start..self.at].to_owned();
                let expected = "an id of at most 9223372036854775807";
                Err(SyntaxError::Number { literal, expected }.at(start, self.at))
            }
        }
    }

    /// Returns the error for another token where an id is expected.
    #[cold]
    fn not_label(&mut self) -> Box<Fault> {
        let (start, mut end) = self.token();
        if self.byte(start) == b'%' {
            end = self.token_end(start + 1).max(end);
            end = if is(self.byte(start + 1), NUMBER) {
                end
            } else {
                start + 1
            };
        }
        let text = &self.text[start..end];
        let found = if text.is_empty() || self.byte(start) == b'#' {
            "the end of the line".to_owned()
        } else {
            format!("`{}`", excerpt(text))
        };
        let fault = SyntaxError::Label { found }.at(start, end);
        let digits = text.strip_prefix('N').unwrap_or(text);
        if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            let id = format!("%{digits}");
            return fault.suggest_edit(format!("did you mean `{id}`?"), start..end, id);
        }
        fault
    }

    /// Reads the next quoted string and returns its text.
    pub(super) fn string(&mut self) -> Parsed<Cow<'t, str>> {
        self.expect(b'"', "a string")?;
        let start = self.at;
        let mut unescaped: Option<String> = None;
        loop {
            let at = self.at;
            match self.byte(at) {
                b'\n' => return Err(SyntaxError::OpenString.at(start - 1, start)),
                b'"' => {
                    self.at += 1;
                    let raw = &self.text[start..at];
                    return Ok(unescaped.map_or(Cow::Borrowed(raw), Cow::Owned));
                }
                b'\\' => {
                    let text = unescaped.get_or_insert_with(|| self.text[start..at].to_owned());
                    text.push(match self.byte(at + 1) {
                        b'n' => '\n',
                        b'r' => '\r',
                        b't' => '\t',
                        b'\\' => '\\',
                        b'"' => '"',
                        b'\n' => return Err(SyntaxError::OpenString.at(start - 1, start)),
                        _ => {
                            let escaped = self.text[at + 1..].chars().next();
                            let escaped = escaped.map(String::from).unwrap_or_default();
                            let end = at + 1 + escaped.len();
                            return Err(SyntaxError::Escape(escaped).at(at, end));
                        }
                    });
                    self.at += 2;
                }
                _ => {
                    let run = self.text.as_bytes()[at..].iter();
                    let len = run
                        .take_while(|&&byte| !matches!(byte, b'\n' | b'"' | b'\\'))
                        .count();
                    self.at += len;
                    if let Some(text) = &mut unescaped {
                        text.push_str(&self.text[at..self.at]);
                    }
                }
            }
        }
    }

    /// Returns the end of the token at `start`: a word or number, else one character, else nothing.
    pub(super) fn token_end(&self, start: usize) -> usize {
        let rest = self.text.get(start..).unwrap_or_default();
        let word = rest.bytes().take_while(|&byte| is(byte, NUMBER)).count();
        let letter = rest
            .chars()
            .next()
            .filter(|&letter| letter != '\n')
            .map_or(0, char::len_utf8);
        start + word.max(letter)
    }

    /// Returns the start and end of the next token.
    pub(super) fn token(&mut self) -> (usize, usize) {
        self.peek();
        (self.at, self.token_end(self.at))
    }

    /// Returns the error for another token than `expected` here.
    pub(super) fn unexpected(&mut self, expected: impl Into<Cow<'static, str>>) -> Box<Fault> {
        let expected = expected.into();
        let (start, end) = self.token();
        let found = if start == end || self.byte(start) == b'#' {
            "the end of the line".to_owned()
        } else {
            format!("`{}`", excerpt(&self.text[start..end]))
        };
        SyntaxError::Expected { expected, found }.at(start, end)
    }
}

/// Returns the start of a possibly long text, for a message.
pub(super) fn excerpt(text: &str) -> String {
    const MAX_CHARS: usize = 40;
    match text.char_indices().nth(MAX_CHARS) {
        Some((cut, _)) => format!("{}...", &text[..cut]),
        None => text.to_owned(),
    }
}
