//! Patterns and their search.

use crate::bytes;
use crate::directive::DirectiveKind;
use crate::ere::{self, Regex, Syntax};
use crate::numeric::{Expression, Format, NumberId};
use crate::variables::Variables;
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

/// Options for matching all patterns of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Matching {
    /// `--ignore-case`
    pub ignore_case: bool,
    /// `--match-full-lines`
    pub full_lines: bool,
    /// `--strict-whitespace`
    pub strict_whitespace: bool,
}

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Literal text.
    Text(Vec<u8>),
    /// A regular expression, or a part of one.
    Regex(Vec<u8>),
    /// The value of a text variable.
    Variable(String),
    /// The value of an expression.
    Number(NumberUse),
}

/// A numeric substitution of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberUse {
    /// The source text of the block.
    pub written: String,
    /// The expression.
    pub value: Expression,
    /// The format of its value.
    pub format: Format,
}

/// A variable that a match of the pattern defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Defined {
    /// A text.
    Text(String),
    /// A number.
    Number(NumberId),
}

/// The origin of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// At this offset of the check file, on this line.
    File { offset: usize, line: usize },
    /// In an option.
    CommandLine,
}

/// The pattern of a directive.
#[derive(Debug)]
pub struct Pattern {
    /// The name of the directive, for example `CHECK-NEXT`.
    pub name: String,
    /// The kind of the directive.
    pub kind: DirectiveKind,
    /// The number of consecutive matches it needs.
    pub count: u32,
    /// Its origin.
    pub origin: Origin,
    /// Its source text.
    pub written: Vec<u8>,
    /// Its parts.
    pub pieces: Vec<Piece>,
    /// The variables it defines, by group number of the regular expression.
    pub defined: Vec<(Defined, usize)>,
    /// Whether letters match both cases.
    pub ignore_case: bool,
    /// The last compiled expression, with its source.
    pub compiled: RefCell<Option<(Vec<u8>, Rc<Regex>)>>,
}

/// The reasons why a pattern cannot be searched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable(pub Vec<String>);

impl Pattern {
    /// Returns the pattern that matches only at the end of the input.
    pub fn end_of_input() -> Pattern {
        Pattern::empty("end of input", DirectiveKind::End, Origin::CommandLine)
    }

    /// Returns a pattern without pieces.
    pub fn empty(name: impl Into<String>, kind: DirectiveKind, origin: Origin) -> Pattern {
        Pattern {
            name: name.into(),
            kind,
            count: 1,
            origin,
            written: Vec::new(),
            pieces: Vec::new(),
            defined: Vec::new(),
            ignore_case: false,
            compiled: RefCell::new(None),
        }
    }

    /// Returns whether it uses or defines variables.
    pub fn has_variables(&self) -> bool {
        !self.defined.is_empty() || self.has_substitutions()
    }

    fn has_substitutions(&self) -> bool {
        self.pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Variable(_) | Piece::Number(_)))
    }

    /// Returns the first match in `text`, and sets the variables that the pattern defines.
    pub fn find(
        &self,
        text: &[u8],
        variables: &mut Variables,
    ) -> Result<Option<Range<usize>>, Unusable> {
        match self.kind {
            DirectiveKind::End => return Ok(Some(text.len()..text.len())),
            DirectiveKind::Empty => return Ok(find_empty_line(text)),
            DirectiveKind::Plain
            | DirectiveKind::Next
            | DirectiveKind::Same
            | DirectiveKind::Label
            | DirectiveKind::Not
            | DirectiveKind::Dag => {}
        }
        if let [Piece::Text(literal)] = &self.pieces[..] {
            return Ok(self.find_literal(text, literal));
        }
        if let (Origin::File { line, .. }, true) = (self.origin, self.has_substitutions()) {
            variables.set_line(line);
        }
        let values = self.values(variables)?;
        if !self
            .pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Regex(_)))
        {
            let literal: Vec<u8> = values.concat();
            if !literal.is_empty() {
                return Ok(self.find_literal(text, &literal));
            }
        }
        let regex = self.compile(&values)?;
        let too_complex = |_| {
            Unusable(vec![
                "the regular expression takes too long to match".to_owned(),
            ])
        };
        if self.defined.is_empty() {
            return regex.find(text).map_err(too_complex);
        }
        let Some(groups) = regex.find_groups(text).map_err(too_complex)? else {
            return Ok(None);
        };
        self.define(text, &groups, variables)?;
        Ok(groups[0].clone())
    }

    fn find_literal(&self, text: &[u8], literal: &[u8]) -> Option<Range<usize>> {
        let find = if self.ignore_case {
            bytes::find_ignoring_case
        } else {
            bytes::find
        };
        find(text, literal).map(|start| start..start + literal.len())
    }

    /// Returns the text of each piece: the values of variables, and the sources of regular expressions.
    fn values(&self, variables: &Variables) -> Result<Vec<Vec<u8>>, Unusable> {
        let mut values = Vec::new();
        let mut reasons = Vec::new();
        for piece in &self.pieces {
            match value(piece, variables) {
                Ok(value) => values.push(value),
                Err(reason) => reasons.push(reason),
            }
        }
        if reasons.is_empty() {
            Ok(values)
        } else {
            Err(Unusable(reasons))
        }
    }

    fn compile(&self, values: &[Vec<u8>]) -> Result<Rc<Regex>, Unusable> {
        let mut source = Vec::new();
        for (piece, value) in self.pieces.iter().zip(values) {
            match piece {
                Piece::Regex(_) => source.extend_from_slice(value),
                Piece::Text(_) | Piece::Variable(_) | Piece::Number(_) => {
                    ere::escape_into(value, &mut source)
                }
            }
        }
        if let Some((_, regex)) = self
            .compiled
            .borrow()
            .as_ref()
            .filter(|(compiled, _)| *compiled == source)
        {
            return Ok(Rc::clone(regex));
        }
        let regex = Regex::new(
            &source,
            Syntax {
                ignore_case: self.ignore_case,
            },
        );
        let regex = regex.map_err(|error| {
            Unusable(vec![format!(
                "the parts are valid, but not together: {}: `{}`",
                error.0,
                bytes::display(&source)
            )])
        })?;
        let regex = Rc::new(regex);
        self.compiled.replace(Some((source, Rc::clone(&regex))));
        Ok(regex)
    }

    fn define(
        &self,
        text: &[u8],
        groups: &ere::Groups,
        variables: &mut Variables,
    ) -> Result<(), Unusable> {
        for (defined, group) in &self.defined {
            let matched = groups[*group].clone().map_or(&[][..], |range| &text[range]);
            match defined {
                Defined::Text(name) => variables.set_text(name, matched),
                Defined::Number(id) => {
                    let number = variables.format(*id).read(matched);
                    let number = number.ok_or_else(|| {
                        Unusable(vec![format!(
                            "not a number of the right format: `{}`",
                            bytes::display(matched)
                        )])
                    })?;
                    variables.set_number(*id, number);
                }
            }
        }
        Ok(())
    }

    /// Returns its text, with values substituted for known variables.
    pub fn expected(&self, variables: &Variables) -> Vec<u8> {
        let known = |piece: &Piece| value(piece, variables).unwrap_or_default();
        self.pieces.iter().flat_map(known).collect()
    }

    /// Returns the text variables it defines, with their values.
    pub fn defined_values(&self, variables: &Variables) -> Vec<(String, String)> {
        let text = |(defined, _): &(Defined, usize)| match defined {
            Defined::Text(name) => Some((name.clone(), bytes::display(variables.text(name)?))),
            Defined::Number(_) => None,
        };
        self.defined.iter().filter_map(text).collect()
    }

    /// Returns the variables it uses that have a value, with their values.
    pub fn known_values(&self, variables: &Variables) -> Vec<(String, String)> {
        let known = |piece: &Piece| {
            let name = match piece {
                Piece::Variable(name) => name.clone(),
                Piece::Number(number) => number.written.clone(),
                Piece::Text(_) | Piece::Regex(_) => return None,
            };
            Some((name, bytes::display(&value(piece, variables).ok()?)))
        };
        self.pieces.iter().filter_map(known).collect()
    }
}

fn value(piece: &Piece, variables: &Variables) -> Result<Vec<u8>, String> {
    match piece {
        Piece::Text(text) | Piece::Regex(text) => Ok(text.clone()),
        Piece::Variable(name) => match variables.text(name) {
            Some(value) => Ok(value.to_vec()),
            None => Err(format!("undefined variable: {name}")),
        },
        Piece::Number(number) => {
            let value = variables.evaluate(&number.value)?;
            let rendered = number.format.render(&value).map(String::into_bytes);
            rendered.ok_or_else(|| "the value cannot be written in the format asked for".to_owned())
        }
    }
}

/// Returns the start of the first empty line after a newline.
fn find_empty_line(text: &[u8]) -> Option<Range<usize>> {
    let is_before_empty =
        |i: usize| text[i] == b'\n' && matches!(text.get(i + 1), None | Some(b'\n'));
    (0..text.len())
        .find(|&i| is_before_empty(i))
        .map(|i| i + 1..i + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(pieces: Vec<Piece>) -> Pattern {
        Pattern {
            pieces,
            ..Pattern::empty("CHECK", DirectiveKind::Plain, Origin::CommandLine)
        }
    }

    #[test]
    fn values_are_plain_text() {
        let mut variables = Variables::default();
        variables.set_text("X", b"a.c");
        let regex = pattern(vec![
            Piece::Variable("X".to_owned()),
            Piece::Regex(b"d*".to_vec()),
        ]);
        assert_eq!(regex.find(b"abcd a.cdd", &mut variables), Ok(Some(5..10)));
        let literal = pattern(vec![
            Piece::Text(b"<".to_vec()),
            Piece::Variable("X".to_owned()),
        ]);
        assert_eq!(literal.find(b"a.c<a.c", &mut variables), Ok(Some(3..7)));
        assert_eq!(literal.find(b"<abc", &mut variables), Ok(None));
    }

    #[test]
    fn an_undefined_variable_is_not_just_absent() {
        let undefined = pattern(vec![Piece::Variable("X".to_owned())]);
        assert!(undefined.find(b"abc", &mut Variables::default()).is_err());
    }

    #[test]
    fn empty_lines() {
        let find = |text: &[u8]| find_empty_line(text).map(|range| range.start);
        assert_eq!(
            (
                find(b"a\n\nb"),
                find(b"a\n"),
                find(b"\na"),
                find(b"a\n b\n")
            ),
            (Some(2), Some(2), None, Some(5))
        );
    }
}
