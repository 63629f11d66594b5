//! Parsing of numeric blocks, the part of `[[#…]]` after the `#`.

use crate::bytes;
use crate::cursor::Cursor;
use crate::numeric::{Expression, Format, Notation, NumberId, Operation, Term, from_digits};
use crate::syntax_error::SyntaxError;
use crate::variables::{LINE, Variables};

/// The maximal nesting depth of parentheses and calls.
const MAX_DEPTH: usize = 100;

/// A parsed block.
#[derive(Debug)]
pub struct NumericBlock {
    /// The format of its number.
    pub format: Format,
    /// The variable it defines.
    pub defines: Option<NumberId>,
    /// The expected value; `None` matches any number.
    pub value: Option<Expression>,
}

/// The syntax of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `[[#…]]`
    Numeric,
    /// `[[@LINE+1]]`: at most one addition of a decimal literal.
    Line,
}

/// Returns the name at the start of `text`, including its `$` or `@`.
pub fn leading_name(text: &[u8]) -> Result<&str, SyntaxError> {
    let sigil = usize::from(matches!(text.first(), Some(b'$' | b'@')));
    let continues = |byte: &&u8| **byte == b'_' || byte.is_ascii_alphanumeric();
    let length = sigil + text[sigil..].iter().take_while(continues).count();
    match text.get(sigil) {
        None => Err(SyntaxError::new(sigil, "empty variable name")),
        Some(&first) if first == b'_' || first.is_ascii_alphabetic() => {
            std::str::from_utf8(&text[..length])
                .map_err(|_| SyntaxError::new(0, "invalid variable name"))
        }
        Some(_) => Err(SyntaxError::new(0, "invalid variable name")),
    }
}

/// Parses a block of a directive on `line`, and declares the variables it names.
pub fn parse_block(
    text: &[u8],
    dialect: Dialect,
    line: Option<usize>,
    variables: &mut Variables,
) -> Result<NumericBlock, SyntaxError> {
    let position = |byte| text.iter().position(|&other| other == byte);
    let format_end =
        position(b',').filter(|&comma| position(b'(').is_none_or(|paren| comma < paren));
    let (stated, definition_start) = match format_end {
        Some(end) => (parse_format(&text[..end])?, end + 1),
        None => (StatedFormat::default(), 0),
    };
    let colon = text[definition_start..]
        .iter()
        .position(|&byte| byte == b':')
        .map(|colon| definition_start + colon);

    let mut parser = Parser {
        cursor: Cursor::new(
            bytes::trim_end(text),
            colon.map_or(definition_start, |colon| colon + 1),
        ),
        dialect,
        line,
        variables,
    };
    let value = parser.constraint()?;
    let format = stated
        .resolve(value.as_ref(), variables)
        .map_err(|message| SyntaxError::new(0, message))?;
    let defines = match colon {
        None => None,
        Some(colon) => {
            let definition = &text[definition_start..colon];
            let defined = parse_definition(definition, format, line, variables);
            Some(defined.map_err(|error| error.shifted(definition_start))?)
        }
    };
    Ok(NumericBlock {
        format,
        defines,
        value,
    })
}

#[derive(Default)]
struct StatedFormat {
    format: Option<Format>,
    precision: u32,
}

impl StatedFormat {
    fn resolve(
        &self,
        value: Option<&Expression>,
        variables: &Variables,
    ) -> Result<Format, &'static str> {
        if let Some(format) = self.format {
            return Ok(format);
        }
        let implied = match value {
            Some(value) => value.implied_format(|id| variables.format(id)),
            None => Ok(None),
        };
        let implied =
            implied.map_err(|_| "variables of different formats need an explicit format")?;
        Ok(implied.unwrap_or(Format {
            precision: self.precision,
            ..Format::UNSIGNED
        }))
    }
}

fn parse_format(text: &[u8]) -> Result<StatedFormat, SyntaxError> {
    let trimmed = bytes::trim_end(bytes::trim_start(text));
    let invalid = |message: &str| Err(SyntaxError::new(0, message));
    let Some(rest) = trimmed.strip_prefix(b"%") else {
        return invalid("invalid matching format in expression");
    };
    let (alternate, rest) = rest
        .strip_prefix(b"#")
        .map_or((false, rest), |rest| (true, rest));
    let (precision, rest) = match rest.strip_prefix(b".") {
        None => (0, rest),
        Some(rest) => {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            match bytes::display(&rest[..digits]).parse() {
                Ok(precision) => (precision, &rest[digits..]),
                Err(_) => return invalid("invalid precision in format"),
            }
        }
    };
    let (notation, rest) = match rest.split_first() {
        None => (None, rest),
        Some((b'u', rest)) => (Some(Notation::Unsigned), rest),
        Some((b'd', rest)) => (Some(Notation::Signed), rest),
        Some((b'x', rest)) => (Some(Notation::LowerHex), rest),
        Some((b'X', rest)) => (Some(Notation::UpperHex), rest),
        Some(_) => return invalid("invalid format in expression: expected u, d, x or X"),
    };
    if alternate && !matches!(notation, Some(Notation::LowerHex | Notation::UpperHex)) {
        return invalid("alternate form only supported for hex values");
    }
    if !rest.is_empty() {
        return invalid("invalid matching format in expression");
    }
    let format = notation.map(|notation| Format {
        notation,
        precision,
        alternate,
    });
    Ok(StatedFormat { format, precision })
}

fn parse_definition(
    text: &[u8],
    format: Format,
    line: Option<usize>,
    variables: &mut Variables,
) -> Result<NumberId, SyntaxError> {
    let trimmed = bytes::trim_start(text);
    let start = text.len() - trimmed.len();
    let name = leading_name(trimmed).map_err(|error| error.shifted(start))?;
    if name.starts_with('@') {
        return Err(SyntaxError::new(
            start,
            "definition of pseudo numeric variable unsupported",
        ));
    }
    if !bytes::trim_start(&trimmed[name.len()..]).is_empty() {
        return Err(SyntaxError::new(
            start + name.len(),
            "unexpected characters after numeric variable name",
        ));
    }
    variables
        .declare_number(name, format, line)
        .map_err(|message| SyntaxError::new(start, message))
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    dialect: Dialect,
    line: Option<usize>,
    variables: &'a mut Variables,
}

impl Parser<'_> {
    fn error<T>(&self, message: impl Into<String>) -> Result<T, SyntaxError> {
        Err(SyntaxError::new(self.cursor.at, message))
    }

    fn constraint(&mut self) -> Result<Option<Expression>, SyntaxError> {
        self.cursor.skip_blanks();
        let constrained = self.cursor.eat(b"==");
        self.cursor.skip_blanks();
        if self.cursor.peek().is_none() {
            return if constrained {
                self.error("empty numeric expression should not have a constraint")
            } else {
                Ok(None)
            };
        }
        let mut terms = Vec::new();
        if self.dialect == Dialect::Line {
            let name =
                leading_name(self.cursor.rest()).map_err(|error| error.shifted(self.cursor.at))?;
            self.cursor.at += name.len();
            self.variable(name, &mut terms)?;
            if self.operator_and_operand(0, &mut terms)? && self.cursor.peek().is_some() {
                return self.error("unexpected characters at end of expression");
            }
        } else {
            self.sum(0, &[], &mut terms)?;
        }
        Ok(Some(Expression::new(terms)))
    }

    /// Parses operands joined by `+` and `-`, up to one of `ends` or the end of the text.
    fn sum(&mut self, depth: usize, ends: &[u8], terms: &mut Vec<Term>) -> Result<(), SyntaxError> {
        self.operand(depth, terms)?;
        loop {
            self.cursor.skip_blanks();
            let ended = self.cursor.peek().is_none_or(|byte| ends.contains(&byte));
            if ended || !self.operator_and_operand(depth, terms)? {
                return Ok(());
            }
        }
    }

    /// Parses an operator and its operand. Returns false at the end of the text.
    fn operator_and_operand(
        &mut self,
        depth: usize,
        terms: &mut Vec<Term>,
    ) -> Result<bool, SyntaxError> {
        self.cursor.skip_blanks();
        let operation = match self.cursor.peek() {
            None => return Ok(false),
            Some(b'+') => Operation::Add,
            Some(b'-') => Operation::Subtract,
            Some(other) => {
                return self.error(format!("unsupported operation '{}'", char::from(other)));
            }
        };
        self.cursor.take();
        self.cursor.skip_blanks();
        if self.cursor.peek().is_none() {
            return self.error("missing operand in expression");
        }
        match self.dialect {
            Dialect::Numeric => self.operand(depth, terms)?,
            Dialect::Line => self.literal(terms)?,
        }
        terms.push(Term::Combine(operation));
        Ok(true)
    }

    fn operand(&mut self, depth: usize, terms: &mut Vec<Term>) -> Result<(), SyntaxError> {
        if depth > MAX_DEPTH {
            return self.error("expression nested too deeply");
        }
        if self.cursor.eat(b"(") {
            self.cursor.skip_blanks();
            self.sum(depth + 1, b")", terms)?;
            return if self.cursor.eat(b")") {
                Ok(())
            } else {
                self.error("missing ')' at end of nested expression")
            };
        }
        let Ok(name) = leading_name(self.cursor.rest()) else {
            return self.literal(terms);
        };
        let name_start = self.cursor.at;
        self.cursor.at += name.len();
        let name_end = self.cursor.at;
        self.cursor.skip_blanks();
        if self.cursor.eat(b"(") {
            return self.call(name, name_start, depth, terms);
        }
        self.cursor.at = name_end;
        self.variable(name, terms)
    }

    fn variable(&mut self, name: &str, terms: &mut Vec<Term>) -> Result<(), SyntaxError> {
        if name.starts_with('@') && name != LINE {
            return self.error(format!("invalid pseudo numeric variable '{name}'"));
        }
        let id = self.variables.number(name);
        if self.line.is_some() && self.variables.defined_on(id) == self.line {
            return self.error(format!(
                "numeric variable '{name}' defined earlier in the same directive"
            ));
        }
        terms.push(Term::Variable(id));
        Ok(())
    }

    fn call(
        &mut self,
        name: &str,
        name_start: usize,
        depth: usize,
        terms: &mut Vec<Term>,
    ) -> Result<(), SyntaxError> {
        let Some(operation) = Operation::by_name(name) else {
            return Err(SyntaxError::new(
                name_start,
                format!("call to undefined function '{name}'"),
            ));
        };
        for end in [b",", b")"] {
            self.cursor.skip_blanks();
            self.sum(depth + 1, b",)", terms)?;
            if !self.cursor.eat(end) {
                return self.error(format!(
                    "function '{name}' takes 2 arguments in parentheses"
                ));
            }
        }
        terms.push(Term::Combine(operation));
        Ok(())
    }

    /// Parses a literal: hexadecimal after `0x`, octal after `0`, and so on, but always decimal after `@LINE`.
    fn literal(&mut self, terms: &mut Vec<Term>) -> Result<(), SyntaxError> {
        let start = self.cursor.at;
        let negative = self.cursor.eat(b"-");
        let rest = self.cursor.rest();
        let (radix, marker) = match rest {
            _ if self.dialect == Dialect::Line => (10, 0),
            [b'0', b'x' | b'X', ..] => (16, 2),
            [b'0', b'b' | b'B', ..] => (2, 2),
            [b'0', b'o', ..] => (8, 2),
            [b'0', digit, ..] if digit.is_ascii_digit() => (8, 1),
            _ => (10, 0),
        };
        let digits = rest[marker..]
            .iter()
            .take_while(|&&byte| char::from(byte).is_digit(radix))
            .count();
        let digits = &rest[marker..marker + digits];
        let value = from_digits(digits, radix).filter(|_| !digits.is_empty());
        let Some(value) = value else {
            return Err(SyntaxError::new(start, "invalid operand format"));
        };
        self.cursor.at += marker + digits.len();
        terms.push(Term::Literal(if negative { -value } else { value }));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Integer;

    fn value(text: &str) -> Result<Integer, String> {
        let mut variables = Variables::default();
        variables.set_line(7);
        let block = parse_block(text.as_bytes(), Dialect::Numeric, Some(1), &mut variables)
            .map_err(|error| error.message)?;
        variables.evaluate(&block.value.ok_or("none")?)
    }

    #[test]
    fn values() {
        let cases = [
            ("1 + 2 - 3", 0),
            ("0x1f", 31),
            ("010", 8),
            ("0b11", 3),
            ("(4 - (1+1)) + 1", 3),
            ("@LINE+1", 8),
            ("add(1, mul(2,3))", 7),
            ("max (1,2)", 2),
            ("div(7,min(2,9))", 3),
            ("%x, 10", 10),
            ("X: == 5", 5),
            ("sub(1+1,2)", 0),
            ("%.3u,X: 4", 4),
        ];
        for (text, expected) in cases {
            assert_eq!(value(text), Ok(Integer::from(expected)), "{text}");
        }
        assert_eq!(value("-3"), Ok(-Integer::from(3)));
    }

    #[test]
    fn errors() {
        let invalid = [
            "1*2",
            "1+",
            "1++1",
            "(1",
            "add(1)",
            "add(1,2",
            "add(1,2,3)",
            "foo(1,2)",
            "@FOO",
            "%z,1",
            "x,1",
            "%#u,1",
            "%.u,1",
            "==",
            "1 2",
            "X Y:",
            "@LINE:",
            "1:",
            "%xx,1",
            "add(,1)",
            "div(1,0)",
            "Y",
            "0x",
            "09",
        ];
        for text in invalid {
            assert!(value(text).is_err(), "{text}");
        }
        assert!(value(&"(".repeat(100_000)).is_err());
    }
}
