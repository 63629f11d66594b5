//! Parsing of patterns: `{{regex}}`, `[[NAME:regex]]`, `[[NAME]]` and `[[#…]]` in literal text.

use crate::bytes;
use crate::directive::DirectiveKind;
use crate::ere;
use crate::numeric_block::{Dialect, leading_name, parse_block};
use crate::pattern::{Defined, Matching, NumberUse, Origin, Pattern, Piece};
use crate::syntax_error::SyntaxError;
use crate::variables::Variables;

/// The last back-reference: `\1` to `\9`.
const MAX_REFERENCE: usize = 9;

/// Why a pattern is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternError {
    /// A syntax error.
    Syntax(SyntaxError),
    /// A `]` without `[` inside a block, for which LLVM has a different exit code.
    StrayBracket(SyntaxError),
}

impl From<SyntaxError> for PatternError {
    fn from(error: SyntaxError) -> PatternError {
        PatternError::Syntax(error)
    }
}

/// Parses `text` to `pattern`, which already has its name, kind and origin, and declares the variables it names.
///
/// Error offsets are relative to the start of `text`.
pub fn parse_pattern(
    mut pattern: Pattern,
    text: &[u8],
    literal: bool,
    matching: Matching,
    variables: &mut Variables,
) -> Result<Pattern, PatternError> {
    let keep_blanks = matching.strict_whitespace && matching.full_lines;
    let text = if keep_blanks {
        text
    } else {
        bytes::trim_end(text)
    };
    match (pattern.kind, text) {
        (DirectiveKind::Empty, []) => return Ok(pattern),
        (DirectiveKind::Empty, _) => {
            return Err(SyntaxError::new(0, "this directive takes no text").into());
        }
        (_, []) => return Err(SyntaxError::new(0, "empty pattern").into()),
        _ => {}
    }
    pattern.written = text.to_vec();
    pattern.ignore_case = matching.ignore_case;
    if literal {
        pattern.pieces.push(Piece::Text(text.to_vec()));
        return Ok(pattern);
    }
    let full_line = matching.full_lines && pattern.kind != DirectiveKind::Not;
    let margin = if matching.strict_whitespace { "" } else { " *" };
    let line = match pattern.origin {
        Origin::File { line, .. } => Some(line),
        Origin::CommandLine => None,
    };
    let mut parser = Parser {
        text,
        at: 0,
        line,
        groups: 0,
        pattern,
        variables,
    };
    if full_line {
        parser.push_regex(format!("^{margin}"));
    }
    parser.pieces()?;
    if full_line {
        parser.push_regex(format!("{margin}$"));
    }
    Ok(parser.pattern)
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    line: Option<usize>,
    /// The number of groups of the regular expression so far.
    groups: usize,
    pattern: Pattern,
    variables: &'a mut Variables,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a [u8] {
        &self.text[self.at..]
    }

    fn error<T>(&self, message: impl Into<String>) -> Result<T, PatternError> {
        Err(SyntaxError::new(self.at, message).into())
    }

    fn push_regex(&mut self, source: impl Into<Vec<u8>>) {
        self.pattern.pieces.push(Piece::Regex(source.into()));
    }

    fn pieces(&mut self) -> Result<(), PatternError> {
        while !self.rest().is_empty() {
            if self.rest().starts_with(b"{{") {
                self.regex()?;
            } else if self.rest().starts_with(b"[[") && !self.rest().starts_with(b"[[[") {
                self.block()?;
            } else {
                let after_first = &self.rest()[1..];
                let next = [b"{{", b"[["]
                    .into_iter()
                    .filter_map(|opening| bytes::find(after_first, opening))
                    .min();
                let length = next.map_or(self.rest().len(), |next| next + 1);
                self.pattern
                    .pieces
                    .push(Piece::Text(self.rest()[..length].to_vec()));
                self.at += length;
            }
        }
        Ok(())
    }

    fn count_groups(&self, source: &[u8]) -> Result<usize, PatternError> {
        match ere::count_groups(source) {
            Ok(groups) => Ok(groups),
            Err(error) => self.error(format!("invalid regex: {}", error.0)),
        }
    }

    /// Parses `{{regex}}`. It becomes a group if a `|` occurs here or later, because LLVM numbers groups this way.
    fn regex(&mut self) -> Result<(), PatternError> {
        let Some(end) = bytes::find(self.rest(), b"}}") else {
            return self.error("found start of regex string with no end '}}'");
        };
        let source = &self.rest()[2..end];
        let groups = self.count_groups(source)?;
        if self.rest().contains(&b'|') {
            self.push_regex([b"(", source, b")"].concat());
            self.groups += 1;
        } else {
            self.push_regex(source);
        }
        self.groups += groups;
        self.at += end + 2;
        Ok(())
    }

    fn block(&mut self) -> Result<(), PatternError> {
        let length = self.block_length()?;
        let start = self.at + 2;
        let content = &self.text[start..start + length];
        if let Some(numeric) = content.strip_prefix(b"#") {
            self.numeric_block(numeric, Dialect::Numeric, start + 1)?;
        } else {
            self.text_block(content, start)?;
        }
        self.at = start + length + 2;
        Ok(())
    }

    /// Returns the length of the block's content, in which brackets are balanced.
    fn block_length(&self) -> Result<usize, PatternError> {
        let content = &self.rest()[2..];
        let mut depth = 0usize;
        let mut at = 0;
        while at < content.len() {
            match content[at] {
                b']' if depth == 0 && content.get(at + 1) == Some(&b']') => return Ok(at),
                b']' if depth == 0 => {
                    let error = SyntaxError::new(
                        self.at + 2 + at,
                        "missing closing \"]\" for regex variable",
                    );
                    return Err(PatternError::StrayBracket(error));
                }
                b']' => depth -= 1,
                b'[' => depth += 1,
                b'\\' => at += 1,
                _ => {}
            }
            at += 1;
        }
        self.error("invalid substitution block, no ]] found")
    }

    fn text_block(&mut self, content: &[u8], start: usize) -> Result<(), PatternError> {
        let colon = content.iter().position(|&byte| byte == b':');
        let head = &content[..colon.unwrap_or(content.len())];
        if let Some(blank) = head.iter().position(|&byte| bytes::is_blank(byte)) {
            return Err(SyntaxError::new(start + blank, "unexpected whitespace").into());
        }
        let name = leading_name(head).map_err(|error| error.shifted(start))?;
        if name.starts_with('@') && colon.is_none() {
            return self.numeric_block(content, Dialect::Line, start);
        }
        if name.len() != head.len() || name.starts_with('@') {
            return self.error("invalid name of a string variable");
        }
        match colon {
            Some(colon) => self.text_definition(name, &content[colon + 1..]),
            None => self.text_use(name),
        }
    }

    fn text_definition(&mut self, name: &str, source: &[u8]) -> Result<(), PatternError> {
        if let Err(message) = self.variables.declare_text(name) {
            return self.error(message);
        }
        let groups = if source.is_empty() {
            0
        } else {
            self.count_groups(source)?
        };
        self.define(Defined::Text(name.to_owned()));
        self.groups += groups;
        self.push_regex([b"(", source, b")"].concat());
        Ok(())
    }

    /// Makes the next group the definition of a variable. The last definition in a pattern counts.
    fn define(&mut self, defined: Defined) {
        self.groups += 1;
        self.pattern
            .defined
            .retain(|(earlier, _)| *earlier != defined);
        self.pattern.defined.push((defined, self.groups));
    }

    fn text_use(&mut self, name: &str) -> Result<(), PatternError> {
        let here = self
            .pattern
            .defined
            .iter()
            .find(|(defined, _)| matches!(defined, Defined::Text(text) if text == name));
        match here {
            Some(&(_, group)) if group > MAX_REFERENCE => self.error(format!(
                "can't back-reference more than {MAX_REFERENCE} variables"
            )),
            Some((_, group)) => {
                self.push_regex(format!("\\{group}"));
                Ok(())
            }
            None => {
                self.pattern.pieces.push(Piece::Variable(name.to_owned()));
                Ok(())
            }
        }
    }

    fn numeric_block(
        &mut self,
        content: &[u8],
        dialect: Dialect,
        start: usize,
    ) -> Result<(), PatternError> {
        let block = parse_block(content, dialect, self.line, self.variables)
            .map_err(|error| error.shifted(start))?;
        let wildcard = block.format.wildcard().into_bytes();
        let groups = if block.value.is_none() {
            self.count_groups(&wildcard)?
        } else {
            0
        };
        if let Some(id) = block.defines {
            self.define(Defined::Number(id));
            self.push_regex("(");
        }
        match block.value {
            Some(value) => {
                let written = bytes::display(content);
                self.pattern.pieces.push(Piece::Number(NumberUse {
                    written,
                    value,
                    format: block.format,
                }));
            }
            None => self.push_regex(wildcard),
        }
        if block.defines.is_some() {
            self.push_regex(")");
        }
        self.groups += groups;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Pattern, PatternError> {
        let pattern = Pattern::empty(
            "CHECK",
            DirectiveKind::Plain,
            Origin::File { offset: 0, line: 3 },
        );
        parse_pattern(
            pattern,
            text.as_bytes(),
            false,
            Matching::default(),
            &mut Variables::default(),
        )
    }

    fn source(text: &str) -> String {
        let pattern = parse(text).expect("valid");
        bytes::display(&pattern.expected(&Variables::default()))
    }

    #[test]
    fn pieces_become_one_expression() {
        assert_eq!(source("a{{b|c}}d{{e}}"), "a(b|c)de");
        assert_eq!(source("{{(a)}} [[X:b]] [[X]]"), "(a) (b) \\2");
        assert_eq!(source("[[[X:b]]]"), "[(b)]");
        assert_eq!(source("[[#%x,N:]]"), "([0-9a-f]+)");
        assert_eq!(
            source("[[#%.2u,N:]][[Y:b]][[Y]]"),
            "(([1-9][0-9]*)?[0-9]{2})(b)\\3"
        );
    }

    #[test]
    fn what_is_refused() {
        let invalid = [
            "{{a",
            "{{}}",
            "{{*}}",
            "[[X",
            "[[]]",
            "[[1]]",
            "[[$]]",
            "[[X-]]",
            "[[X Y]]",
            "[[X:*]]",
            "[[@LINE:a]]",
            "[[@LINE+1+1]]",
            "[[@FOO]]",
            "[[#X:]] [[#X]]",
            "[[X:a]] [[#X:]]",
            "[[#%.256u,X:]]",
        ];
        for text in invalid {
            assert!(
                matches!(parse(text), Err(PatternError::Syntax(_))),
                "{text}"
            );
        }
        assert!(matches!(
            parse("[[X:a]b]]"),
            Err(PatternError::StrayBracket(_))
        ));
    }
}
