//! Templates as tokens.

use crate::error::{Error, Result, Span};

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Token {
    /// Text between tags.
    Text(String),
    PrintBegin,
    PrintEnd,
    BlockBegin,
    BlockEnd,
    Name(String),
    String(String),
    Int(i64),
    Float(f64),
    /// An operator or a bracket.
    Sign(&'static str),
}

impl Token {
    /// Returns the token as messages show it.
    pub(crate) fn describe(&self) -> String {
        match self {
            Token::Text(_) => "text".to_owned(),
            Token::PrintBegin => "`{{`".to_owned(),
            Token::PrintEnd => "`}}`".to_owned(),
            Token::BlockBegin => "`{%`".to_owned(),
            Token::BlockEnd => "`%}`".to_owned(),
            Token::Name(own) => format!("`{own}`"),
            Token::String(_) => "a string".to_owned(),
            Token::Int(own) => format!("`{own}`"),
            Token::Float(own) => format!("`{own:?}`"),
            Token::Sign(own) => format!("`{own}`"),
        }
    }
}

/// Longer ones first.
const SIGNS: [&str; 27] = [
    "**", "//", "==", "!=", ">=", "<=", "+", "-", "*", "/", "%", "~", "(", ")", "[", "]", "{", "}",
    ">", "<", "=", ".", ":", "|", ",", ";", "!",
];

/// The tokens of `source`, with their places.
///
/// # Errors
///
/// A tag, a string or a comment without an end, an unknown character.
pub(crate) fn tokens(source: &str) -> Result<Vec<(Token, Span)>> {
    let mut lexer = Lexer {
        source,
        at: 0,
        starts_line: true,
        out: Vec::new(),
    };
    while lexer.at < source.len() {
        lexer.outside()?;
    }
    Ok(lexer.out)
}

struct Lexer<'s> {
    source: &'s str,
    at: usize,
    /// Whether the text that was read last ended with a line.
    starts_line: bool,
    out: Vec<(Token, Span)>,
}

/// The kind of the tag after a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tag {
    Print,
    Block,
    Comment,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.source[self.at..]
    }

    fn push(&mut self, token: Token, start: usize) {
        self.out.push((token, Span::new(start, self.at)));
    }

    /// Skips `len` bytes.
    fn advance(&mut self, len: usize) {
        self.at += len;
        self.starts_line = self.source[..self.at].ends_with('\n');
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        let len = rest.len() - rest.trim_start().len();
        if len > 0 {
            self.advance(len);
        }
    }

    /// Pushes the text up to `end` without the white space that the next tag strips, which depends on `sign` and on
    /// whether the tag is a block that starts its line.
    fn text(&mut self, end: usize, sign: Option<char>, prints: bool) {
        let start = self.at;
        let mut text = &self.source[start..end];
        if sign == Some('-') {
            text = text.trim_end();
        } else if sign != Some('+') && !prints {
            let line = text.rfind('\n').map_or(0, |at| at + 1);
            let is_blank = text[line..].chars().all(char::is_whitespace);
            if (line > 0 || self.starts_line) && is_blank {
                text = &text[..line];
            }
        }
        let own = text.to_owned();
        self.advance(end - start);
        if !own.is_empty() {
            self.push(Token::Text(own), start);
        }
    }

    /// Reads a text and the next tag.
    fn outside(&mut self) -> Result<()> {
        let Some((tag, start)) = next_tag(self.source, self.at) else {
            let end = self.source.len();
            // Nothing strips the end of a template.
            self.text(end, Some('+'), true);
            return Ok(());
        };
        let sign = self.source[start + 2..].chars().next();
        let sign = sign.filter(|own| matches!(own, '-' | '+'));
        let prints = tag == Tag::Print;
        // `{{+` adds; there is nothing to keep.
        let sign = sign.filter(|own| !prints || *own == '-');
        self.text(start, sign, prints);
        self.advance(2 + usize::from(sign.is_some()));
        match tag {
            Tag::Comment => self.comment(start),
            Tag::Print => {
                self.push(Token::PrintBegin, start);
                self.inside(Token::PrintEnd, start)
            }
            Tag::Block => match self.raw_begin() {
                Some(len) => {
                    self.advance(len);
                    self.raw(start)
                }
                None => {
                    self.push(Token::BlockBegin, start);
                    self.inside(Token::BlockEnd, start)
                }
            },
        }
    }

    fn comment(&mut self, start: usize) -> Result<()> {
        let Some(len) = self.rest().find("#}") else {
            return Err(Error::at(
                Span::new(start, start + 2),
                "the comment has no end, which is `#}`",
            ));
        };
        let sign = self.rest()[..len].chars().next_back();
        self.advance(len + 2);
        self.behind_tag(sign);
        Ok(())
    }

    /// Skips the white space that the end of a block or a comment strips: all of it after `-`, none after `+`, one line
    /// end otherwise.
    fn behind_tag(&mut self, sign: Option<char>) {
        match sign {
            Some('-') => self.skip_space(),
            Some('+') => {}
            _ if self.rest().starts_with('\n') => self.advance(1),
            _ => {}
        }
    }

    /// How long the rest of `{% raw %}` is, if that begins here.
    fn raw_begin(&self) -> Option<usize> {
        let rest = self.rest().trim_start().strip_prefix("raw")?;
        let rest = rest.trim_start();
        let rest = match rest.strip_prefix("-%}") {
            Some(rest) => rest.trim_start(),
            None => rest.strip_prefix("%}")?,
        };
        Some(self.rest().len() - rest.len())
    }

    fn raw(&mut self, start: usize) -> Result<()> {
        let mut from = self.at;
        while let Some(found) = self.source[from..].find("{%") {
            let open = from + found;
            let rest = &self.source[open + 2..];
            let sign = rest.chars().next().filter(|own| matches!(own, '-' | '+'));
            let rest = &rest[usize::from(sign.is_some())..];
            let end = rest
                .trim_start()
                .strip_prefix("endraw")
                .map(str::trim_start);
            let end = end.and_then(|rest| {
                let close = ["-%}", "+%}", "%}"]
                    .into_iter()
                    .find(|own| rest.starts_with(own))?;
                Some((self.source.len() - rest.len() + close.len(), close))
            });
            if let Some((end, close)) = end {
                self.text(open, sign, false);
                self.advance(end - open);
                self.behind_tag(close.strip_suffix("%}").and_then(|own| own.chars().next()));
                return Ok(());
            }
            from = open + 2;
        }
        Err(Error::at(
            Span::new(start, start + 2),
            "`raw` has no end, which is `{% endraw %}`",
        ))
    }

    /// Reads the tokens of a tag that begins at `start` up to `end`.
    fn inside(&mut self, end: Token, start: usize) -> Result<()> {
        let mut brackets: Vec<&'static str> = Vec::new();
        loop {
            self.skip_space();
            let at = self.at;
            if brackets.is_empty() && self.tag_end(&end, at) {
                return Ok(());
            }
            let Some(c) = self.rest().chars().next() else {
                let close = end.describe();
                return Err(Error::at(
                    Span::new(start, start + 2),
                    format!("the tag has no end, which is {close}"),
                ));
            };
            if c.is_ascii_digit() {
                self.number()?;
            } else if is_word(c) {
                let rest = self.rest();
                let len = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                let name = rest[..len].to_owned();
                self.advance(len);
                self.push(Token::Name(name), at);
            } else if c == '"' || c == '\'' {
                self.string(c)?;
            } else {
                let sign = SIGNS.into_iter().find(|own| self.rest().starts_with(own));
                let Some(sign) = sign.filter(|own| *own != "!") else {
                    let span = Span::new(at, at + c.len_utf8());
                    return Err(Error::at(span, format!("unexpected `{c}`")));
                };
                balance(&mut brackets, sign).map_err(|why| why.or_at(Span::new(at, at + 1)))?;
                self.advance(sign.len());
                self.push(Token::Sign(sign), at);
            }
        }
    }

    /// Returns whether the tag ends here, and skips its end with the white space that it strips.
    fn tag_end(&mut self, end: &Token, at: usize) -> bool {
        let rest = self.rest();
        let is_block = *end == Token::BlockEnd;
        let close = if is_block { "%}" } else { "}}" };
        let sign = rest
            .chars()
            .next()
            .filter(|own| *own == '-' || is_block && *own == '+');
        if !rest[usize::from(sign.is_some())..].starts_with(close) {
            return false;
        }
        self.advance(2 + usize::from(sign.is_some()));
        self.push(end.clone(), at);
        if is_block {
            self.behind_tag(sign);
        } else if sign == Some('-') {
            self.skip_space();
        }
        true
    }

    fn number(&mut self) -> Result<()> {
        let start = self.at;
        let rest = self.rest();
        if let Some(len) = float_length(rest) {
            let text: String = rest[..len].chars().filter(|c| *c != '_').collect();
            let value = text.parse::<f64>();
            self.advance(len);
            let span = Span::new(start, self.at);
            let value = value.map_err(|_| Error::at(span, "the number cannot be read"))?;
            self.push(Token::Float(value), start);
            return Ok(());
        }
        let (radix, skip) = match rest.get(..2).map(str::to_ascii_lowercase).as_deref() {
            Some("0x") => (16, 2),
            Some("0o") => (8, 2),
            Some("0b") => (2, 2),
            _ => (10, 0),
        };
        let is_digit = |c: char| c == '_' || c.is_digit(radix);
        let body = &rest[skip..];
        let len = body.find(|c| !is_digit(c)).unwrap_or(body.len());
        let digits: String = body[..len].chars().filter(|c| *c != '_').collect();
        let value = i64::from_str_radix(&digits, radix);
        self.advance(skip + len);
        let span = Span::new(start, self.at);
        let value = value.map_err(|_| Error::at(span, "the integer has more than 64 bits"))?;
        self.push(Token::Int(value), start);
        Ok(())
    }

    fn string(&mut self, quote: char) -> Result<()> {
        let start = self.at;
        let body = &self.source[start + 1..];
        let mut chars = body.char_indices();
        let end = loop {
            match chars.next() {
                Some((_, '\\')) => {
                    chars.next();
                }
                Some((at, c)) if c == quote => break at,
                Some(_) => {}
                None => {
                    let span = Span::new(start, start + 1);
                    return Err(Error::at(
                        span,
                        format!("the string has no end, which is {quote}"),
                    ));
                }
            }
        };
        let value = unescape(&body[..end]);
        self.advance(end + 2);
        let value = value.map_err(|why| why.or_at(Span::new(start, self.at)))?;
        self.push(Token::String(value), start);
        Ok(())
    }
}

/// Keeps track of open brackets.
fn balance(brackets: &mut Vec<&'static str>, sign: &'static str) -> Result<()> {
    let closes = match sign {
        "(" => Some(")"),
        "[" => Some("]"),
        "{" => Some("}"),
        _ => None,
    };
    if let Some(close) = closes {
        brackets.push(close);
    } else if matches!(sign, ")" | "]" | "}") {
        match brackets.pop() {
            Some(expected) if expected == sign => {}
            Some(expected) => {
                return Err(Error::new(format!("found `{sign}`, expected `{expected}`")));
            }
            None => return Err(Error::new(format!("`{sign}` closes nothing"))),
        }
    }
    Ok(())
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

fn next_tag(source: &str, from: usize) -> Option<(Tag, usize)> {
    let mut at = from;
    while let Some(found) = source[at..].find('{') {
        let start = at + found;
        let tag = match source.as_bytes().get(start + 1) {
            Some(b'{') => Some(Tag::Print),
            Some(b'%') => Some(Tag::Block),
            Some(b'#') => Some(Tag::Comment),
            _ => None,
        };
        if let Some(tag) = tag {
            return Some((tag, start));
        }
        at = start + 1;
    }
    None
}

/// How long a float at the beginning of `text` is, if one is there: digits, then a fraction, an exponent, or both.
fn float_length(text: &str) -> Option<usize> {
    let digits = |from: usize| {
        let rest = &text[from..];
        let is_digit = |c: char| c.is_ascii_digit() || c == '_';
        let len = rest.find(|c| !is_digit(c)).unwrap_or(rest.len());
        (rest.starts_with(|c: char| c.is_ascii_digit()) && len > 0).then_some(from + len)
    };
    let whole = digits(0)?;
    let fraction = text[whole..]
        .strip_prefix('.')
        .and_then(|_| digits(whole + 1));
    let end = fraction.unwrap_or(whole);
    let exponent = text[end..].strip_prefix(['e', 'E']).and_then(|rest| {
        let sign = usize::from(rest.starts_with(['+', '-']));
        digits(end + 1 + sign)
    });
    exponent.or(fraction)
}

/// The text of a string literal, with the escapes of Python.
fn unescape(text: &str) -> Result<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(c) = rest.chars().next() else { break };
        rest = &rest[c.len_utf8()..];
        match c {
            '\n' => {}
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'a' => out.push('\u{7}'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            'v' => out.push('\u{b}'),
            '\\' | '\'' | '"' => out.push(c),
            'x' => rest = code(rest, 2, &mut out)?,
            'u' => rest = code(rest, 4, &mut out)?,
            'U' => rest = code(rest, 8, &mut out)?,
            '0'..='7' => {
                let more = rest.chars().take(2).take_while(|c| c.is_digit(8)).count();
                let digits = format!("{c}{}", &rest[..more]);
                let value = u32::from_str_radix(&digits, 8).ok();
                out.extend(value.and_then(char::from_u32));
                rest = &rest[more..];
            }
            'N' => {
                return Err(Error::new(
                    "`\\N{...}` is not supported; write the character",
                ));
            }
            c => {
                out.push('\\');
                out.push(c);
            }
        }
    }
    out.push_str(rest);
    Ok(out)
}

/// Reads the character of `digits` hexadecimal digits, and returns the rest of the text.
fn code<'t>(text: &'t str, digits: usize, out: &mut String) -> Result<&'t str> {
    let own = text.get(..digits);
    let value = own.and_then(|own| u32::from_str_radix(own, 16).ok());
    match value.and_then(char::from_u32) {
        Some(c) => out.push(c),
        None => return Err(Error::new("an escape of the string is no character")),
    }
    Ok(&text[digits..])
}
