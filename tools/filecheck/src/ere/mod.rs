//! POSIX extended regular expressions over bytes: leftmost-longest, with back-references.
//!
//! `^` and `$` match at line boundaries; `.` and negated sets never match a newline. A `{` that is not followed by a
//! digit is an ordinary byte. The number of steps of a search is bounded: see [`TooComplex`].

mod backtrack;
mod bracket;
mod byte_set;
mod dissect;
mod error;
mod node;
mod parse;
mod program;
mod simulate;

pub use dissect::Groups;
pub use error::{RegexError, TooComplex};
pub use parse::Syntax;

use crate::bytes;
use program::Program;
use simulate::Simulation;
use std::ops::Range;

/// The bytes with a special meaning.
const META: &[u8] = b"()^$|*+?.[]\\{}";

/// Appends `text` to `source`, escaped.
pub fn escape_into(text: &[u8], source: &mut Vec<u8>) {
    for &byte in text {
        if META.contains(&byte) {
            source.push(b'\\');
        }
        source.push(byte);
    }
}

/// Returns the number of groups in `source`.
pub fn count_groups(source: &[u8]) -> Result<usize, RegexError> {
    parse::parse(source, Syntax::default()).map(|expression| expression.groups)
}

/// A compiled expression.
#[derive(Debug)]
pub struct Regex {
    program: Program,
}

impl Regex {
    /// Compiles `source`.
    pub fn new(source: &[u8], syntax: Syntax) -> Result<Regex, RegexError> {
        parse::parse(source, syntax).map(|expression| Regex {
            program: Program::new(expression),
        })
    }

    fn has_references(&self) -> bool {
        !self.program.expression.referenced.is_empty()
    }

    /// Returns the first match in `text`.
    pub fn find(&self, text: &[u8]) -> Result<Option<Range<usize>>, TooComplex> {
        if self.has_references() {
            return Ok(self.find_groups(text)?.and_then(|groups| groups[0].clone()));
        }
        match bytes::find(text, &self.program.required) {
            Some(_) => Simulation::new(&self.program, text).leftmost_longest(0),
            None => Ok(None),
        }
    }

    /// Returns the groups of the first match in `text`.
    pub fn find_groups(&self, text: &[u8]) -> Result<Option<Groups>, TooComplex> {
        if bytes::find(text, &self.program.required).is_none() {
            return Ok(None);
        }
        let mut simulation = Simulation::new(&self.program, text);
        let mut from = 0;
        while let Some(bound) = simulation.leftmost_longest(from)? {
            if !self.has_references() {
                return dissect::dissect(&mut simulation, bound).map(Some);
            }
            for end in simulation
                .ends(self.program.whole(), bound.start, bound.end)?
                .into_iter()
                .rev()
            {
                let groups = backtrack::backtrack(&mut simulation, bound.start..end)?;
                if groups.is_some() {
                    return Ok(groups);
                }
            }
            if bound.start == text.len() {
                break;
            }
            from = bound.start + 1;
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(source: &str, text: &str) -> Option<Range<usize>> {
        Regex::new(source.as_bytes(), Syntax::default())
            .expect("valid")
            .find(text.as_bytes())
            .expect("short")
    }

    #[test]
    fn back_references_are_searched_on() {
        assert_eq!(find("([a-z])\\1", "abccd"), Some(2..4));
        assert_eq!(find("([a-z]+) \\1", "xab ab"), Some(1..6));
        assert_eq!(find("(a)\\1", "aba"), None);
    }

    #[test]
    fn case_is_ignored_but_in_references() {
        let regex = Regex::new(b"([a-c])X\\1", Syntax { ignore_case: true }).expect("valid");
        assert_eq!(regex.find(b"Axa bxb"), Ok(Some(4..7)));
    }

    #[test]
    fn escaped_text_matches_itself() {
        let text = b"a(b)^$|*+?.[]\\{}\0c";
        let mut source = Vec::new();
        escape_into(text, &mut source);
        assert_eq!(
            Regex::new(&source, Syntax::default())
                .expect("valid")
                .find(text),
            Ok(Some(0..text.len()))
        );
    }
}
