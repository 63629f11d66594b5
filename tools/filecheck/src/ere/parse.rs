//! Parsing of POSIX extended regular expressions.

use super::bracket::parse_bracket;
use super::byte_set::ByteSet;
use super::error::RegexError;
use super::node::{Assertion, Expression, Node, NodeKind, Sequence};
use crate::cursor::Cursor;

/// The maximal nesting depth of groups and alternatives.
const MAX_DEPTH: usize = 100;
/// The maximal number of nodes. Bounded repetitions are expanded.
const MAX_NODES: usize = 50_000;
/// The largest count in `{m,n}`.
const MAX_REPEAT: usize = 255;
/// The last back-reference: `\1` to `\9`.
const REFERABLE: usize = 9;

/// Options of the parser.
#[derive(Clone, Copy, Debug, Default)]
pub struct Syntax {
    /// Letters match both cases.
    pub ignore_case: bool,
}

/// Parses `source` as an extended regular expression.
pub fn parse(source: &[u8], syntax: Syntax) -> Result<Expression, RegexError> {
    let mut parser = Parser {
        cursor: Cursor::new(source, 0),
        syntax,
        nodes: 0,
        groups: 0,
        closed: [const { None }; REFERABLE + 1],
        referenced: Vec::new(),
        line_starts: 0,
        line_ends: 0,
    };
    let sequence = parser.alternatives(0, None)?;
    Ok(Expression {
        sequence,
        groups: parser.groups,
        referenced: parser.referenced,
        line_starts: parser.line_starts,
        line_ends: parser.line_ends,
    })
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    syntax: Syntax,
    nodes: usize,
    groups: usize,
    closed: [Option<Sequence>; REFERABLE + 1],
    referenced: Vec<usize>,
    line_starts: usize,
    line_ends: usize,
}

impl Parser<'_> {
    /// Counts `count` new nodes.
    fn grow(&mut self, count: usize) -> Result<(), RegexError> {
        self.nodes = self.nodes.saturating_add(count);
        if self.nodes > MAX_NODES {
            Err(RegexError("expression too large"))
        } else {
            Ok(())
        }
    }

    fn alternatives(&mut self, depth: usize, stop: Option<u8>) -> Result<Sequence, RegexError> {
        if depth > MAX_DEPTH {
            return Err(RegexError("groups nested too deeply"));
        }
        let mut branches = Vec::new();
        loop {
            let mut branch = Vec::new();
            while self
                .cursor
                .peek()
                .is_some_and(|byte| byte != b'|' && Some(byte) != stop)
            {
                self.repeated_atom(depth, &mut branch)?;
            }
            if branch.is_empty() {
                return Err(RegexError("empty (sub)expression"));
            }
            branches.push(branch);
            if !self.cursor.eat(b"|") {
                break;
            }
        }
        match branches.len() {
            1 => Ok(branches.remove(0)),
            _ => Ok(vec![NodeKind::Either(branches).into()]),
        }
    }

    fn repeated_atom(&mut self, depth: usize, out: &mut Sequence) -> Result<(), RegexError> {
        let is_caret = self.cursor.peek() == Some(b'^');
        let groups_before = self.groups;
        let atom = self.atom(depth)?;
        self.grow(atom.len())?;
        if !self.sees_repetition() {
            out.extend(atom);
            return Ok(());
        }
        if is_caret {
            return Err(RegexError("repetition-operator operand invalid"));
        }
        match self.cursor.peek() {
            Some(b'*') => out.push(NodeKind::Star(atom).into()),
            Some(b'+') => out.push(NodeKind::Plus(atom).into()),
            Some(b'?') => out.push(optional(atom)),
            _ => {
                self.cursor.take();
                return self.bounded(atom, groups_before, out);
            }
        }
        self.cursor.take();
        self.refuse_second_repetition()
    }

    /// Returns whether a repetition comes next. `{` is one only before a digit; otherwise it is an ordinary byte.
    fn sees_repetition(&self) -> bool {
        match self.cursor.peek() {
            Some(b'*' | b'+' | b'?') => true,
            Some(b'{') => self
                .cursor
                .peek_second()
                .is_some_and(|byte| byte.is_ascii_digit()),
            _ => false,
        }
    }

    fn refuse_second_repetition(&self) -> Result<(), RegexError> {
        if self.sees_repetition() {
            Err(RegexError("repetition-operator operand invalid"))
        } else {
            Ok(())
        }
    }

    fn bounded(
        &mut self,
        atom: Sequence,
        groups_before: usize,
        out: &mut Sequence,
    ) -> Result<(), RegexError> {
        let least = self.count()?;
        let most = match self.cursor.eat(b",") {
            false => Some(least),
            true if self.cursor.peek().is_some_and(|byte| byte.is_ascii_digit()) => {
                Some(self.count()?)
            }
            true => None,
        };
        if most.is_some_and(|most| most < least) {
            return Err(RegexError("invalid repetition count(s)"));
        }
        if !self.cursor.eat(b"}") {
            return Err(RegexError("braces not balanced"));
        }
        self.grow(size(&atom).saturating_mul(most.unwrap_or(least) + 1))?;
        match (least, most) {
            (0, Some(0)) => {
                // The atom is removed, so its groups cannot be referred to.
                let dropped = (groups_before + 1).min(REFERABLE + 1);
                self.closed[dropped..].fill(None);
            }
            (0, most) => out.push(optional(write_out(atom, 1, most))),
            (least, most) => out.extend(write_out(atom, least, most)),
        }
        self.refuse_second_repetition()
    }

    fn count(&mut self) -> Result<usize, RegexError> {
        let digits = self.cursor.take_while(|byte| byte.is_ascii_digit());
        let add = |count: usize, digit: &u8| count * 10 + usize::from(digit - b'0');
        let count = digits.iter().try_fold(0, |count, digit| {
            Some(add(count, digit)).filter(|&count| count <= MAX_REPEAT)
        });
        count.ok_or(RegexError("invalid repetition count(s)"))
    }

    fn atom(&mut self, depth: usize) -> Result<Sequence, RegexError> {
        let Some(byte) = self.cursor.take() else {
            return Err(RegexError("empty (sub)expression"));
        };
        let kind = match byte {
            b'(' => return self.group(depth),
            b')' => return Err(RegexError("parentheses not balanced")),
            b'*' | b'+' | b'?' => return Err(RegexError("repetition-operator operand invalid")),
            b'{' if self.cursor.peek().is_some_and(|byte| byte.is_ascii_digit()) => {
                return Err(RegexError("repetition-operator operand invalid"));
            }
            b'^' => {
                self.line_starts += 1;
                NodeKind::Assert(Assertion::LineStart)
            }
            b'$' => {
                self.line_ends += 1;
                NodeKind::Assert(Assertion::LineEnd)
            }
            b'.' => NodeKind::Set(ByteSet::any_in_line()),
            b'[' => parse_bracket(&mut self.cursor, self.syntax.ignore_case)?,
            b'\\' => {
                let Some(escaped) = self.cursor.take() else {
                    return Err(RegexError("trailing backslash (\\)"));
                };
                match escaped {
                    b'1'..=b'9' => self.reference(usize::from(escaped - b'0'))?,
                    _ => self.ordinary(escaped),
                }
            }
            _ => self.ordinary(byte),
        };
        Ok(vec![kind.into()])
    }

    fn ordinary(&self, byte: u8) -> NodeKind {
        if !self.syntax.ignore_case || !byte.is_ascii_alphabetic() {
            return NodeKind::Byte(byte);
        }
        let mut set = ByteSet::default();
        set.insert(byte);
        NodeKind::Set(set.with_both_cases())
    }

    fn group(&mut self, depth: usize) -> Result<Sequence, RegexError> {
        self.groups += 1;
        let number = self.groups;
        let body = if self.cursor.peek() == Some(b')') {
            Vec::new()
        } else {
            self.alternatives(depth + 1, Some(b')'))?
        };
        if !self.cursor.eat(b")") {
            return Err(RegexError("parentheses not balanced"));
        }
        if number <= REFERABLE {
            self.grow(size(&body))?;
            self.closed[number] = Some(body.clone());
        }
        let mut atom = vec![NodeKind::Open(number).into()];
        atom.extend(body);
        atom.push(NodeKind::Close(number).into());
        Ok(atom)
    }

    fn reference(&mut self, group: usize) -> Result<NodeKind, RegexError> {
        let Some(shape) = self.closed[group].clone() else {
            return Err(RegexError("invalid backreference number"));
        };
        self.grow(size(&shape))?;
        if let Err(place) = self.referenced.binary_search(&group) {
            self.referenced.insert(place, group);
        }
        Ok(NodeKind::Reference { group, shape })
    }
}

fn optional(body: Sequence) -> Node {
    NodeKind::Either(vec![body, Vec::new()]).into()
}

/// Returns `atom` repeated `least` (at least 1) to `most` times; optional copies come before the last, mandatory one.
fn write_out(atom: Sequence, least: usize, most: Option<usize>) -> Sequence {
    let mut out = Sequence::new();
    for _ in 1..least {
        out.extend(atom.iter().cloned());
    }
    match most {
        None => out.push(NodeKind::Plus(atom).into()),
        Some(most) => {
            out.extend((least..most).map(|_| optional(atom.clone())));
            out.extend(atom);
        }
    }
    out
}

fn size(sequence: &[Node]) -> usize {
    let below = |node: &Node| match &node.kind {
        NodeKind::Either(branches) => branches.iter().map(|branch| size(branch)).sum(),
        NodeKind::Plus(body) | NodeKind::Star(body) | NodeKind::Reference { shape: body, .. } => {
            size(body)
        }
        _ => 0,
    };
    sequence.iter().map(|node| 1 + below(node)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(source: &str) -> Option<&'static str> {
        parse(source.as_bytes(), Syntax::default())
            .err()
            .map(|error| error.0)
    }

    #[test]
    fn accepts() {
        let valid = [
            "a{b",
            "a{,3}",
            "{a",
            "()",
            "(a)\\1",
            "a$*",
            "[]abc]",
            "[^]-]",
            "[[:digit:]x-]",
            "a{2}b",
            "[a-]",
            "[[:<:]]a",
            "\\d",
            "a{0}b",
            "[[.a.]]",
            "[[=a=]]",
            "(^)*",
            "x{255}",
        ];
        for source in valid {
            assert_eq!(error(source), None, "{source}");
        }
    }

    #[test]
    fn refuses() {
        let invalid = [
            "",
            "a**",
            "*a",
            "a|",
            "|a",
            "(|a)",
            "a||b",
            "(a",
            "a)",
            "(?:a)",
            "^*",
            "a{2}{3}",
            "a{3,2}",
            "a{256}",
            "a{1",
            "{1}",
            "a+?",
            "\\",
            "\\1",
            "(a\\1)",
            "[a",
            "[[:foo:]]",
            "[b-a]",
            "[a-c-e]",
            "[--/]",
            "[[.ab.]]",
            "(a{0})",
            "(a){0}b\\1",
        ];
        for source in invalid {
            assert!(error(source).is_some(), "{source}");
        }
    }

    #[test]
    fn size_and_depth_are_bounded() {
        assert_eq!(
            error(&"(".repeat(100_000)),
            Some("groups nested too deeply")
        );
        assert_eq!(
            error("((((a{255}){255}){255}){255})b"),
            Some("expression too large")
        );
        let doubling = (1..9).fold("(a{200})".to_owned(), |out, i| {
            out + &format!("(\\{i}\\{i})")
        });
        assert_eq!(error(&doubling), Some("expression too large"));
    }
}
