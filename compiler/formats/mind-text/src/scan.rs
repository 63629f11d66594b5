//! A byte cursor for the line-oriented formats.

use mind_diag::{Code, Diagnostic, Fix, Span};

use crate::limits::Limits;

/// Result of reading a part of a line: the part, or the error of that line.
pub(crate) type Parsed<T> = Result<T, Box<Diagnostic>>;

/// A position in a text that is read byte by byte and line by line.
///
/// The end of the text reads as a newline. `at` is always a character boundary, because only ASCII bytes and whole
/// words are skipped.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'t> {
    text: &'t str,
    at: usize,
    line: usize,
    base: u32,
}

/// Separates a word from the next.
const BLANK: u8 = 1;
/// May end a line.
const END: u8 = 2;
/// Part of an identifier.
const IDENT: u8 = 4;

/// The class of each byte; bytes that are neither blank nor end are part of a word.
const CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        if (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_' {
            class[byte] = IDENT;
        }
        byte += 1;
    }
    class[b' ' as usize] = BLANK;
    class[b'\t' as usize] = BLANK;
    class[b'\n' as usize] = END;
    class[b'\r' as usize] = END;
    class[b'#' as usize] = END;
    class
};

/// Returns whether `byte` is part of a word.
#[inline]
fn in_word(byte: u8) -> bool {
    CLASS[byte as usize] & (BLANK | END) == 0
}

/// Returns whether `byte` is part of an identifier.
#[inline]
pub(crate) fn in_ident(byte: u8) -> bool {
    CLASS[byte as usize] == IDENT
}

impl<'t> Cursor<'t> {
    /// Creates a cursor at the start of `text`, after a byte order mark. `base` is added to every span.
    ///
    /// # Errors
    ///
    /// Errors if `text` has more bytes than `limits` allow.
    pub(crate) fn new(text: &'t str, base: u32, limits: &Limits) -> Parsed<Cursor<'t>> {
        let longest = u64::from(u32::MAX - base).min(limits.bytes);
        if text.len() as u64 > longest {
            let message = format!("the text has {} bytes, the limit is {longest}", text.len());
            return Err(Box::new(Diagnostic::error(Span::FILE, message)));
        }
        let at = if text.starts_with('\u{feff}') {
            '\u{feff}'.len_utf8()
        } else {
            0
        };
        Ok(Cursor {
            text,
            at,
            line: 1,
            base,
        })
    }

    /// Returns the offset of the cursor in the text.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Returns the 1-based line number of the cursor.
    pub(crate) fn line(&self) -> usize {
        self.line
    }

    /// Returns the number of bytes from the cursor to the end.
    pub(crate) fn left(&self) -> usize {
        self.text.len() - self.at
    }

    /// Returns the whole text.
    pub(crate) fn text(&self) -> &'t str {
        self.text
    }

    /// Returns this cursor moved to offset `at`, which is on line `line`.
    pub(crate) fn at_line(self, at: usize, line: usize) -> Cursor<'t> {
        Cursor { at, line, ..self }
    }

    /// Returns the next byte.
    #[inline]
    pub(crate) fn peek(&self) -> u8 {
        self.ahead(0)
    }

    /// Returns the byte `count` bytes after the next one.
    #[inline]
    pub(crate) fn ahead(&self, count: usize) -> u8 {
        self.text
            .as_bytes()
            .get(self.at + count)
            .copied()
            .unwrap_or(b'\n')
    }

    /// Skips the next byte, which must be ASCII and not the end of the text.
    #[inline]
    pub(crate) fn bump(&mut self) {
        debug_assert!(self.at < self.text.len() && self.peek().is_ascii());
        self.at += 1;
    }

    /// Skips `byte` if it is next; returns whether it was.
    #[inline]
    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        let found = self.text.as_bytes().get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    /// Skips `text` if the rest of the line is exactly `text` and a newline; returns whether it was.
    #[inline]
    pub(crate) fn eat_line(&mut self, text: &str) -> bool {
        let rest = &self.text.as_bytes()[self.at..];
        let found = rest.get(text.len()) == Some(&b'\n') && rest.starts_with(text.as_bytes());
        self.at += if found { text.len() } else { 0 };
        found
    }

    /// Skips spaces and tabs.
    #[inline]
    pub(crate) fn blanks(&mut self) {
        let bytes = self.text.as_bytes();
        let mut at = self.at;
        while let Some(b' ' | b'\t') = bytes.get(at) {
            at += 1;
        }
        self.at = at;
    }

    /// Returns whether a word that ends here is complete.
    #[inline]
    pub(crate) fn at_delimiter(&self) -> bool {
        !in_word(self.peek())
    }

    /// Returns whether the rest of the line is empty or a comment.
    #[inline]
    pub(crate) fn at_line_end(&self) -> bool {
        match self.peek() {
            b'\n' | b'#' => true,
            b'\r' => self.ahead(1) == b'\n',
            _ => false,
        }
    }

    /// Moves to the start of the next line; returns false at the end of the text.
    #[inline]
    pub(crate) fn next_line(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        let mut at = self.at;
        while let Some(&byte) = bytes.get(at) {
            at += 1;
            if byte == b'\n' {
                self.at = at;
                self.line += 1;
                return true;
            }
        }
        self.at = at;
        false
    }

    /// Reads the bytes up to the next blank or line end; returns an empty slice at one.
    #[inline]
    pub(crate) fn word(&mut self) -> &'t [u8] {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut at = start;
        while bytes.get(at).is_some_and(|&byte| in_word(byte)) {
            at += 1;
        }
        self.at = at;
        &bytes[start..at]
    }

    /// Reads the bytes up to the next blank, bracket, comma, semicolon or line end; returns an empty text at one.
    pub(crate) fn item(&mut self) -> &'t str {
        let start = self.at;
        self.skip_to(|byte| !in_word(byte) || matches!(byte, b',' | b';' | b'[' | b']'));
        self.since(start)
    }

    /// Skips to the first byte that is `wanted`, or to the end of the text. `wanted` must treat all bytes of a
    /// non-ASCII character alike.
    pub(crate) fn skip_to(&mut self, wanted: impl Fn(u8) -> bool) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest
            .iter()
            .position(|&byte| wanted(byte))
            .unwrap_or(rest.len());
    }

    /// Returns the next character; `None` at the end.
    pub(crate) fn char(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    /// Reads the identifier at the cursor; returns an empty text if there is none.
    #[inline]
    pub(crate) fn ident(&mut self) -> &'t str {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut at = start;
        if !self.peek().is_ascii_digit() {
            while bytes.get(at).is_some_and(|&byte| in_ident(byte)) {
                at += 1;
            }
        }
        self.at = at;
        &self.text[start..at]
    }

    /// Reads the digits at the cursor as a number; returns `None` if there is no digit or the number exceeds
    /// `i64::MAX`.
    #[inline]
    pub(crate) fn uint(&mut self) -> Option<u64> {
        const SAFE_DIGITS: usize = 18;
        let bytes = self.text.as_bytes();
        let start = self.at;
        let (mut at, mut value) = (start, 0u64);
        while let Some(digit) = bytes.get(at).map(|byte| byte.wrapping_sub(b'0'))
            && digit < 10
        {
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            at += 1;
        }
        self.at = at;
        match at - start {
            0 => None,
            1..=SAFE_DIGITS => Some(value),
            _ => self.long_uint(start),
        }
    }

    #[cold]
    fn long_uint(&self, start: usize) -> Option<u64> {
        let value: u64 = self.text[start..self.at].parse().ok()?;
        (value <= i64::MAX as u64).then_some(value)
    }

    /// Reads the integer at the cursor; returns `None` if there is none or it is outside `i64`.
    #[inline]
    pub(crate) fn int(&mut self) -> Option<i64> {
        if self.peek() != b'-' {
            return self.uint().map(|value| value as i64);
        }
        let start = self.at;
        self.at += 1;
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        self.text[start..self.at].parse().ok()
    }

    /// Returns the text from `start` to the cursor.
    pub(crate) fn since(&self, start: usize) -> &'t str {
        &self.text[start..self.at]
    }

    /// Returns the text from `start` to `end`.
    pub(crate) fn slice(&self, start: usize, end: usize) -> &'t str {
        &self.text[start..end]
    }

    /// Moves to `at`, on the same line.
    pub(crate) fn go_to(&mut self, at: usize) {
        self.at = at;
    }

    /// Returns the empty span at the start of the cursor's line.
    pub(crate) fn line_start(&self) -> Span {
        let start = self.text[..self.at].rfind('\n').map_or(0, |end| end + 1);
        self.span_of(start, start)
    }

    /// Returns the span from `start` to the cursor.
    #[inline]
    pub(crate) fn span(&self, start: usize) -> Span {
        self.span_of(start, self.at)
    }

    /// Returns the span from `start` to the cursor, without blanks at its end.
    #[inline]
    pub(crate) fn span_of_line(&self, start: usize) -> Span {
        let mut end = self.at;
        while end > start && CLASS[self.text.as_bytes()[end - 1] as usize] == BLANK {
            end -= 1;
        }
        self.span_of(start, end)
    }

    /// Returns the span from `start` to `end`.
    #[inline]
    pub(crate) fn span_of(&self, start: usize, end: usize) -> Span {
        Span::new(self.base + start as u32, self.base + end as u32)
    }

    /// Returns the span of the last non-empty line before the cursor, for errors about something missing at the end.
    pub(crate) fn last_line_span(&self) -> Span {
        let read = self.text[..self.at].trim_end();
        let start = read.rfind('\n').map_or(0, |newline| newline + 1);
        self.span_of(start, read.len())
    }

    /// Returns the span of the word at `start`; without a word there, of a carriage return at `start` or else of the
    /// character before it on the line.
    pub(crate) fn word_span(&self, start: usize) -> Span {
        let (before, rest) = self.text.split_at(start);
        match (
            self.word_at(start).len(),
            rest.chars().next(),
            before.chars().next_back(),
        ) {
            (0, Some('\r'), _) if !rest.starts_with("\r\n") => self.span_of(start, start + 1),
            (0, _, None | Some('\n')) => self.span_of(start, start),
            (0, _, Some(last)) => self.span_of(start - last.len_utf8(), start),
            (len, _, _) => self.span_of(start, start + len),
        }
    }

    /// Describes the word at `start`, or the end of the line, for a message.
    #[cold]
    pub(crate) fn found_at(&self, start: usize) -> String {
        match self.word_at(start) {
            "" if self.text[start..].starts_with('\r') => "'\\r'".to_owned(),
            "" => "the end of the line".to_owned(),
            word => excerpt(word),
        }
    }

    /// Returns the word at `start`.
    pub(crate) fn word_at(&self, start: usize) -> &'t str {
        let rest = &self.text.as_bytes()[start..];
        let len = rest
            .iter()
            .position(|&byte| !in_word(byte))
            .unwrap_or(rest.len());
        &self.text[start..start + len]
    }

    /// Returns the error for the word at `start`, which should be an identifier.
    #[cold]
    pub(crate) fn not_ident_at(&self, start: usize, what: &str) -> Diagnostic {
        not_ident(self.word_span(start), self.word_at(start), what)
    }

    /// Returns the rest of the line from `start` on, without a comment and trailing blanks.
    pub(crate) fn rest_of_line(&self, start: usize) -> &'t str {
        let rest = &self.text[start..];
        let end = rest.find(['\n', '#']).unwrap_or(rest.len());
        // The scanner treats other white space as a part of the last word.
        rest[..end].trim_end_matches([' ', '\t', '\r'])
    }

    /// Returns the edit that replaces the `len` bytes from `start` on by `text`.
    pub(crate) fn edit(&self, start: usize, len: usize, text: impl Into<String>) -> Fix {
        Fix {
            span: self.span_of(start, start + len),
            text: text.into(),
        }
    }

    /// Creates an error about the word at `start`.
    #[cold]
    pub(crate) fn error_at(&self, start: usize, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(self.word_span(start), message)
    }
}

/// Lists words for a message, for example "`a`, `b` or `c`".
pub(crate) fn any_of(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

/// Returns `token` in quotes for a message: truncated if it is long, with control characters escaped.
pub(crate) fn excerpt(token: &str) -> String {
    const MAX_CHARS: usize = 40;
    let mut text = String::from("'");
    for (count, c) in token.chars().enumerate() {
        if count == MAX_CHARS {
            text.push('…');
            break;
        }
        if c.is_control() {
            text.extend(c.escape_default())
        } else {
            text.push(c)
        }
    }
    text.push('\'');
    text
}

/// Returns whether `name` is an identifier: `[A-Za-z_][A-Za-z0-9_]*`.
pub(crate) fn is_ident(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.bytes().all(fits)
        && name
            .bytes()
            .next()
            .is_some_and(|byte| !byte.is_ascii_digit())
}

/// Returns the error for a `word` at `span` that should be an identifier. `what` describes its role, for example "a
/// name".
#[cold]
pub(crate) fn not_ident(span: Span, word: &str, what: &str) -> Diagnostic {
    let help = format!("{what} is a letter or '_', then letters, digits and '_'");
    if word.is_empty() {
        let message = format!("expected {what}, found the end of the line");
        return Diagnostic::error(span, message).help(help);
    }
    let letters = word.trim_matches(['"', '“', '”', '\'', '‘', '’', ',']);
    if letters != word && is_ident(letters) {
        let message = format!("expected {what}, found {}", excerpt(word));
        let error = Diagnostic::error(span, message).code(Code(1002));
        return error.did_you_mean(letters);
    }
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (place, message) = match word.char_indices().find(|&(_, c)| !fits(c)) {
        Some((at, c)) => {
            let start = span.start + at as u32;
            let place = Span::new(start, start + c.len_utf8() as u32);
            (
                place,
                format!(
                    "illegal character {} in {}",
                    excerpt(c.encode_utf8(&mut [0; 4])),
                    excerpt(word)
                ),
            )
        }
        None => {
            let place = Span::new(span.start, span.start + 1);
            (
                place,
                format!("{} is not {what}: it starts with a digit", excerpt(word)),
            )
        }
    };
    Diagnostic::error(place, message)
        .code(Code(1002))
        .help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor(text: &str) -> Cursor<'_> {
        Cursor::new(text, 0, &Limits::none()).unwrap()
    }

    #[test]
    fn lines_end_at_newline_carriage_return_comment_or_end() {
        for text in ["", "\n", "\r\n", "\r", "# x", "#\n"] {
            assert!(cursor(text).at_line_end(), "{text:?}");
        }
        for text in ["x", "\0", "\rx\n", "\r\r\n"] {
            assert!(!cursor(text).at_line_end(), "{text:?}");
        }
    }

    #[test]
    fn integers_of_any_length_end_in_a_number_or_none() {
        assert_eq!(cursor("9223372036854775807").uint(), Some(i64::MAX as u64));
        assert_eq!(
            cursor("000000000000000000000000000000000007 ").uint(),
            Some(7)
        );
        assert_eq!(cursor("-9223372036854775808").int(), Some(i64::MIN));
        assert_eq!(cursor("9223372036854775808").int(), None);
        assert_eq!(cursor("18446744073709551616").uint(), None);
        assert_eq!(cursor("-").int(), None);
        assert_eq!(cursor("x").int(), None);
    }

    #[test]
    fn spans_never_leave_the_line_they_are_for() {
        let mut cursor = Cursor::new("ab\n\n cd", 100, &Limits::none()).unwrap();
        assert_eq!(cursor.word_span(0), Span::new(100, 102));
        assert_eq!(cursor.word_span(2), Span::new(101, 102));
        while cursor.next_line() {}
        assert_eq!(cursor.last_line_span(), Span::new(104, 107));
    }

    #[test]
    fn shown_words_are_short_and_printable() {
        assert_eq!(excerpt("a\0b"), "'a\\u{0}b'");
        assert_eq!(excerpt(&"(".repeat(1000)).chars().count(), 43);
    }

    #[test]
    fn a_byte_order_mark_is_not_text() {
        assert_eq!(cursor("\u{feff}mic@1").word(), b"mic@1");
    }
}
