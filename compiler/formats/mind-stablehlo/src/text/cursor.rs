//! Cursor into a text, with the parsers of tokens and types.

use std::borrow::Cow;

use mind_diag::{Diagnostic, Span};

use super::syntax::{Label, TensorText, Type, Use};

/// A parsed item or a syntax error.
pub(crate) type Parsed<T> = Result<T, Box<Diagnostic>>;

/// Maximum nesting depth of brackets.
const DEPTH_LIMIT: usize = 64;

/// A position in a text.
pub(crate) struct Cursor<'t> {
    pub text: &'t str,
    pub at: usize,
    depth: usize,
}

impl<'t> Cursor<'t> {
    pub fn new(text: &'t str) -> Cursor<'t> {
        let at = text.len() - text.trim_start_matches('\u{feff}').len();
        Cursor { text, at, depth: 0 }
    }

    fn bytes(&self) -> &'t [u8] {
        &self.text.as_bytes()[self.at..]
    }

    /// Skips whitespace and comments.
    pub fn skip(&mut self) {
        loop {
            let rest = self.bytes();
            let blanks = rest.iter().take_while(|byte| byte.is_ascii_whitespace());
            self.at += blanks.count();
            if !self.bytes().starts_with(b"//") {
                return;
            }
            let line = self.bytes().iter().take_while(|byte| **byte != b'\n');
            self.at += line.count();
        }
    }

    pub fn is_at_end(&mut self) -> bool {
        self.skip();
        self.at >= self.text.len()
    }

    /// Returns the next byte that is not whitespace.
    pub fn peek(&mut self) -> Option<u8> {
        self.skip();
        self.bytes().first().copied()
    }

    pub fn span(&self, start: usize) -> Span {
        Span::new(start as u32, self.at as u32)
    }

    pub fn error(&self, span: Span, message: impl Into<String>) -> Box<Diagnostic> {
        Box::new(Diagnostic::error(span, message))
    }

    /// Returns the error for the token found here, where `expected` was expected.
    pub fn unexpected(&mut self, expected: &str) -> Box<Diagnostic> {
        self.skip();
        let start = self.at;
        let rest = &self.text[start..];
        let word = rest.find(|own: char| !(own.is_alphanumeric() || "_.$%@#".contains(own)));
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let length = word.unwrap_or(rest.len()).max(first);
        let found = &rest[..length];
        let shown: String = found.chars().take(40).collect();
        let span = Span::new(start as u32, (start + length) as u32);
        let message = match found {
            "" => format!("expected {expected}, found the end of the text"),
            _ => format!("expected {expected}, found `{shown}`"),
        };
        self.error(span, message)
    }

    pub fn eat(&mut self, mark: &str) -> bool {
        self.skip();
        let is_here = self.bytes().starts_with(mark.as_bytes());
        if is_here {
            self.at += mark.len();
        }
        is_here
    }

    pub fn expect(&mut self, mark: &str) -> Parsed<()> {
        match self.eat(mark) {
            true => Ok(()),
            false => Err(self.unexpected(&format!("`{mark}`"))),
        }
    }

    /// Returns the word here, if there is one: letters, digits, `_`, `$` and `.`, not starting with a digit.
    pub fn peek_word(&mut self) -> Option<&'t str> {
        self.skip();
        let rest = self.bytes();
        let first = rest.first()?;
        if !(first.is_ascii_alphabetic() || *first == b'_') {
            return None;
        }
        let length = rest.iter().take_while(|byte| is_word(**byte)).count();
        Some(&self.text[self.at..self.at + length])
    }

    pub fn word(&mut self, expected: &str) -> Parsed<&'t str> {
        let Some(word) = self.peek_word() else {
            return Err(self.unexpected(expected));
        };
        self.at += word.len();
        Ok(word)
    }

    /// Consumes `word` if it is next and not the prefix of a longer word.
    pub fn keyword(&mut self, word: &str) -> bool {
        let is_here = self.peek_word() == Some(word);
        if is_here {
            self.at += word.len();
        }
        is_here
    }

    /// Parses `%name` or `%name#1`.
    pub fn value(&mut self) -> Parsed<Use<'t>> {
        let (name, start) = self.value_name()?;
        let mut index = 0;
        if self.bytes().first() == Some(&b'#') {
            self.at += 1;
            let digits = self.digits();
            index = digits.parse().map_err(|_| {
                let span = self.span(start);
                self.error(span, "a result is named by its number")
            })?;
        }
        let span = self.span(start);
        Ok(Use { name, index, span })
    }

    /// Parses `%name` and returns it with its start offset.
    pub fn value_name(&mut self) -> Parsed<(&'t str, usize)> {
        if self.peek() != Some(b'%') {
            return Err(self.unexpected("a value, `%name`"));
        }
        let start = self.at;
        self.at += 1;
        let rest = self.bytes();
        let length = rest
            .iter()
            .take_while(|byte| is_word(**byte) || **byte == b'-');
        self.at += length.count();
        if self.at == start + 1 {
            return Err(self.unexpected("the name of a value"));
        }
        Ok((&self.text[start + 1..self.at], start))
    }

    fn digits(&mut self) -> &'t str {
        let start = self.at;
        let digits = self.bytes().iter().take_while(|byte| byte.is_ascii_digit());
        self.at += digits.count();
        &self.text[start..self.at]
    }

    /// Parses `@name` or `@"name"`.
    pub fn symbol(&mut self) -> Parsed<(&'t str, Span)> {
        if self.peek() != Some(b'@') {
            return Err(self.unexpected("a name, `@name`"));
        }
        let start = self.at;
        self.at += 1;
        let name = if self.bytes().first() == Some(&b'"') {
            let inside = self.at + 1;
            self.string()?;
            &self.text[inside..self.at - 1]
        } else {
            self.word("a name")?
        };
        Ok((name, self.span(start)))
    }

    /// Parses a quoted string and resolves its escapes.
    pub fn string(&mut self) -> Parsed<(Cow<'t, str>, Span)> {
        if self.peek() != Some(b'"') {
            return Err(self.unexpected("a text in quotes"));
        }
        let start = self.at;
        let mut end = start + 1;
        let bytes = self.text.as_bytes();
        let mut is_plain = true;
        loop {
            match bytes.get(end) {
                Some(b'"') => break,
                Some(b'\\') => {
                    is_plain = false;
                    end += 2;
                }
                Some(_) => end += 1,
                None => {
                    let span = Span::new(start as u32, start as u32 + 1);
                    return Err(self.error(span, "this text has no end"));
                }
            }
        }
        self.at = end + 1;
        let inside = &self.text[start + 1..end];
        let inside = match is_plain {
            true => Cow::Borrowed(inside),
            false => Cow::Owned(unescaped(inside)),
        };
        Ok((inside, self.span(start)))
    }

    /// Runs `parse` one bracket deeper.
    pub fn deeper<T>(&mut self, parse: impl FnOnce(&mut Cursor<'t>) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= DEPTH_LIMIT {
            let message = format!("more than {DEPTH_LIMIT} brackets are inside of each other");
            let span = Span::new(self.at as u32, self.at as u32);
            return Err(self.error(span, message));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    /// Skips to the bracket that closes the one here and returns the text inside.
    pub fn balanced(&mut self) -> Parsed<&'t str> {
        self.skip();
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut open: Vec<u8> = Vec::new();
        let unclosed = |c: &Cursor<'t>| {
            let span = Span::new(start as u32, start as u32 + 1);
            c.error(span, "this bracket is not closed")
        };
        loop {
            let Some(&byte) = bytes.get(self.at) else {
                return Err(unclosed(self));
            };
            match byte {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'(' => open.push(b')'),
                b'[' => open.push(b']'),
                b'{' => open.push(b'}'),
                b'<' => open.push(b'>'),
                b'-' if bytes.get(self.at + 1) == Some(&b'>') => self.at += 1,
                b')' | b']' | b'}' | b'>' if open.pop() != Some(byte) => {
                    return Err(unclosed(self));
                }
                _ => {}
            }
            self.at += 1;
            if open.is_empty() {
                return Ok(&self.text[start + 1..self.at - 1]);
            }
        }
    }

    /// Parses an optional `loc(..)`.
    pub fn location(&mut self) -> Parsed<Option<Label<'t>>> {
        if !self.keyword("loc") {
            return Ok(None);
        }
        if self.peek() != Some(b'(') {
            return Err(self.unexpected("`(`"));
        }
        let inside = self.balanced()?.trim();
        let label = match inside.as_bytes() {
            [b'#', ..] => Label::Alias(&inside[1..]),
            [b'"', name @ .., b'"'] if !name.contains(&b'"') => {
                Label::Name(unescaped(&inside[1..inside.len() - 1]))
            }
            _ => Label::Place,
        };
        Ok(Some(label))
    }

    /// Parses a type.
    pub fn ty(&mut self) -> Parsed<Type<'t>> {
        self.skip();
        let start = self.at;
        if self.keyword("tensor") && self.bytes().first() == Some(&b'<') {
            let inside = self.balanced()?;
            return Ok(Type::Tensor(tensor(inside)));
        }
        let _ = self.eat("!");
        self.word("a type")?;
        if self.bytes().first() == Some(&b'<') {
            self.balanced()?;
        }
        Ok(Type::Other(&self.text[start..self.at]))
    }

    /// Parses types in parentheses, or a single one without.
    pub fn types(&mut self) -> Parsed<Vec<Type<'t>>> {
        if !self.eat("(") {
            return Ok(vec![self.ty()?]);
        }
        let mut types = Vec::new();
        while !self.eat(")") {
            types.push(self.ty()?);
            if !self.eat(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok(types)
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.')
}

/// Returns the dimensions and the element type in `tensor<..>`.
fn tensor(inside: &str) -> TensorText<'_> {
    let (mut shape, mut rest) = (Vec::new(), inside.trim());
    loop {
        let digits = rest.len()
            - rest
                .trim_start_matches(|own: char| own.is_ascii_digit())
                .len();
        let (extent, length) = match rest.as_bytes().first() {
            Some(b'?') => (None, 1),
            Some(_) if digits > 0 => (rest[..digits].parse().ok(), digits),
            Some(_) | None => break,
        };
        let Some(behind) = rest[length..].strip_prefix('x') else {
            break;
        };
        // An extent that overflows makes the type invalid, which the remaining element type reports.
        if extent.is_none() && length > 0 && !rest.starts_with('?') {
            break;
        }
        shape.push(extent);
        rest = behind;
    }
    TensorText {
        shape,
        element: rest,
    }
}

/// Resolves the escapes of a string: `\n`, `\t`, `\\`, `\"`, and two hexadecimal digits.
fn unescaped(text: &str) -> String {
    let (mut plain, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let [first, behind @ ..] = rest {
        rest = behind;
        if *first != b'\\' {
            plain.push(*first);
            continue;
        }
        let hex = |byte: u8| (byte as char).to_digit(16);
        match behind {
            [a, b, behind @ ..] if hex(*a).is_some() && hex(*b).is_some() => {
                let value = hex(*a).unwrap_or(0) * 16 + hex(*b).unwrap_or(0);
                plain.push(value as u8);
                rest = behind;
            }
            [own, behind @ ..] => {
                plain.push(match own {
                    b'n' => b'\n',
                    b't' => b'\t',
                    own => *own,
                });
                rest = behind;
            }
            [] => {}
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}
