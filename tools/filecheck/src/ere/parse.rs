//! The syntax of POSIX extended regular expressions.

use super::byte_set::ByteSet;
use std::ops::Range;

/// Groups and alternatives may be nested this deep.
const MAX_DEPTH: usize = 100;
/// Bounded repetitions are written out; an expression may grow to this many nodes.
const MAX_NODES: usize = 50_000;
/// The largest count in `{m,n}`.
const MAX_REPEAT: usize = 255;
/// `\1` to `\9`.
const REFERABLE: usize = 9;

/// What to read beside the source itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Syntax {
    /// Letters match both cases.
    pub ignore_case: bool,
}

/// Why an expression is not valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegexError(pub &'static str);

/// A place between two bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assertion {
    /// `^`
    LineStart,
    /// `$`
    LineEnd,
    /// `[[:<:]]`
    WordStart,
    /// `[[:>:]]`
    WordEnd,
}

/// One step of a sequence.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it matches.
    pub kind: NodeKind,
    /// Its instructions, once a program is laid out.
    pub code: Range<usize>,
}

/// Nodes to be matched one after another.
pub type Sequence = Vec<Node>;

/// The kinds of [`Node`].
///
/// Group borders are nodes of the sequence they stand in, not a level of nesting: which part of a sequence takes how
/// much text is settled from left to right through all groups.
#[derive(Clone, Debug)]
pub enum NodeKind {
    /// This byte.
    Byte(u8),
    /// One byte of a set.
    Set(ByteSet),
    /// Nothing, at a certain place.
    Assert(Assertion),
    /// Start of a group, numbered from 1.
    Open(usize),
    /// End of a group.
    Close(usize),
    /// One of several sequences, in order of preference.
    Either(Vec<Sequence>),
    /// One or more times.
    Plus(Sequence),
    /// Zero or more times.
    Star(Sequence),
    /// The text a group matched. `shape` is what the group was made of: a bound on what it can match.
    Reference { group: usize, shape: Sequence },
}

impl From<NodeKind> for Node {
    fn from(kind: NodeKind) -> Node {
        Node { kind, code: 0..0 }
    }
}

/// A parsed expression.
#[derive(Clone, Debug)]
pub struct Expression {
    /// The whole.
    pub sequence: Sequence,
    /// How many groups it has.
    pub groups: usize,
    /// The groups that back-references name, in ascending order.
    pub referenced: Vec<usize>,
}

/// Reads `source` as an extended regular expression.
pub fn parse(source: &[u8], syntax: Syntax) -> Result<Expression, RegexError> {
    let mut parser = Parser {
        source,
        at: 0,
        syntax,
        nodes: 0,
        groups: 0,
        closed: [const { None }; REFERABLE + 1],
        referenced: Vec::new(),
    };
    let sequence = parser.alternatives(0, None)?;
    Ok(Expression {
        sequence,
        groups: parser.groups,
        referenced: parser.referenced,
    })
}

struct Parser<'a> {
    source: &'a [u8],
    at: usize,
    syntax: Syntax,
    nodes: usize,
    groups: usize,
    closed: [Option<Sequence>; REFERABLE + 1],
    referenced: Vec<usize>,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.source.get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let eaten = self.peek() == Some(byte);
        self.at += usize::from(eaten);
        eaten
    }

    fn sees(&self, text: &[u8]) -> bool {
        self.source[self.at..].starts_with(text)
    }

    fn eat_all(&mut self, text: &[u8]) -> bool {
        let eaten = self.sees(text);
        self.at += if eaten { text.len() } else { 0 };
        eaten
    }

    /// Accounts for `count` new nodes.
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
                .peek()
                .is_some_and(|byte| byte != b'|' && Some(byte) != stop)
            {
                self.repeated_atom(depth, &mut branch)?;
            }
            if branch.is_empty() {
                return Err(RegexError("empty (sub)expression"));
            }
            branches.push(branch);
            if !self.eat(b'|') {
                break;
            }
        }
        match branches.len() {
            1 => Ok(branches.remove(0)),
            _ => Ok(vec![NodeKind::Either(branches).into()]),
        }
    }

    fn repeated_atom(&mut self, depth: usize, out: &mut Sequence) -> Result<(), RegexError> {
        let is_caret = self.peek() == Some(b'^');
        let atom = self.atom(depth)?;
        self.grow(atom.len())?;
        if !self.sees_repetition() {
            out.extend(atom);
            return Ok(());
        }
        if is_caret {
            return Err(RegexError("repetition-operator operand invalid"));
        }
        match self.peek() {
            Some(b'*') => out.push(NodeKind::Star(atom).into()),
            Some(b'+') => out.push(NodeKind::Plus(atom).into()),
            Some(b'?') => out.push(optional(atom)),
            _ => {
                self.at += 1;
                return self.bounded(atom, out);
            }
        }
        self.at += 1;
        self.refuse_second_repetition()
    }

    /// `{` repeats only before a digit; otherwise it is an ordinary byte.
    fn sees_repetition(&self) -> bool {
        match self.peek() {
            Some(b'*' | b'+' | b'?') => true,
            Some(b'{') => self.source.get(self.at + 1).is_some_and(u8::is_ascii_digit),
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

    fn bounded(&mut self, atom: Sequence, out: &mut Sequence) -> Result<(), RegexError> {
        let least = self.count()?;
        let most = match self.eat(b',') {
            false => Some(least),
            true if self.peek().is_some_and(|byte| byte.is_ascii_digit()) => Some(self.count()?),
            true => None,
        };
        if most.is_some_and(|most| most < least) {
            return Err(RegexError("invalid repetition count(s)"));
        }
        if !self.eat(b'}') {
            return Err(RegexError("braces not balanced"));
        }
        self.grow(size(&atom).saturating_mul(most.unwrap_or(least) + 1))?;
        match (least, most) {
            (0, Some(0)) => {}
            (0, most) => out.push(optional(write_out(atom, 1, most))),
            (least, most) => out.extend(write_out(atom, least, most)),
        }
        self.refuse_second_repetition()
    }

    fn count(&mut self) -> Result<usize, RegexError> {
        let mut count = 0;
        while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
            count = count * 10 + usize::from(digit - b'0');
            self.at += 1;
            if count > MAX_REPEAT {
                return Err(RegexError("invalid repetition count(s)"));
            }
        }
        Ok(count)
    }

    fn atom(&mut self, depth: usize) -> Result<Sequence, RegexError> {
        let Some(byte) = self.peek() else {
            return Err(RegexError("empty (sub)expression"));
        };
        self.at += 1;
        let kind = match byte {
            b'(' => return self.group(depth),
            b')' => return Err(RegexError("parentheses not balanced")),
            b'*' | b'+' | b'?' => return Err(RegexError("repetition-operator operand invalid")),
            b'{' if self.peek().is_some_and(|byte| byte.is_ascii_digit()) => {
                return Err(RegexError("repetition-operator operand invalid"));
            }
            b'^' => NodeKind::Assert(Assertion::LineStart),
            b'$' => NodeKind::Assert(Assertion::LineEnd),
            b'.' => NodeKind::Set(ByteSet::any_in_line()),
            b'[' => self.bracket()?,
            b'\\' => {
                let Some(escaped) = self.peek() else {
                    return Err(RegexError("trailing backslash (\\)"));
                };
                self.at += 1;
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
        let body = if self.peek() == Some(b')') {
            Vec::new()
        } else {
            self.alternatives(depth + 1, Some(b')'))?
        };
        if !self.eat(b')') {
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

    fn bracket(&mut self) -> Result<NodeKind, RegexError> {
        if self.eat_all(b"[:<:]]") {
            return Ok(NodeKind::Assert(Assertion::WordStart));
        }
        if self.eat_all(b"[:>:]]") {
            return Ok(NodeKind::Assert(Assertion::WordEnd));
        }
        let mut set = ByteSet::default();
        let negated = self.eat(b'^');
        if self.eat(b']') {
            set.insert(b']');
        } else if self.eat(b'-') {
            set.insert(b'-');
        }
        while self.peek().is_some_and(|byte| byte != b']') && !self.sees(b"-]") {
            self.bracket_item(&mut set)?;
        }
        if self.eat(b'-') {
            set.insert(b'-');
        }
        if !self.eat(b']') {
            return Err(RegexError("brackets ([ ]) not balanced"));
        }
        if self.syntax.ignore_case {
            set = set.with_both_cases();
        }
        Ok(NodeKind::Set(if negated {
            set.inverted_in_line()
        } else {
            set
        }))
    }

    fn bracket_item(&mut self, set: &mut ByteSet) -> Result<(), RegexError> {
        if self.eat_all(b"[:") {
            let name_start = self.at;
            while self.peek().is_some_and(|byte| byte.is_ascii_alphabetic()) {
                self.at += 1;
            }
            let known = set.insert_class(&self.source[name_start..self.at]);
            return if known && self.eat_all(b":]") {
                Ok(())
            } else {
                Err(RegexError("invalid character class"))
            };
        }
        if self.eat_all(b"[=") {
            set.insert(self.collating_element(b"=]")?);
            return Ok(());
        }
        if self.peek() == Some(b'-') {
            return Err(RegexError("invalid character range"));
        }
        let first = self.bracket_symbol()?;
        let is_range = self.peek() == Some(b'-')
            && self
                .source
                .get(self.at + 1)
                .is_some_and(|&byte| byte != b']');
        if !is_range {
            set.insert(first);
            return Ok(());
        }
        self.at += 1;
        let last = if self.eat(b'-') {
            b'-'
        } else {
            self.bracket_symbol()?
        };
        if set.insert_range(first, last) {
            Ok(())
        } else {
            Err(RegexError("invalid character range"))
        }
    }

    fn bracket_symbol(&mut self) -> Result<u8, RegexError> {
        if self.eat_all(b"[.") {
            return self.collating_element(b".]");
        }
        let Some(byte) = self.peek() else {
            return Err(RegexError("brackets ([ ]) not balanced"));
        };
        self.at += 1;
        Ok(byte)
    }

    /// Only single characters: the named elements of POSIX (`[.hyphen.]`) are refused.
    fn collating_element(&mut self, end: &[u8]) -> Result<u8, RegexError> {
        let Some(byte) = self.peek() else {
            return Err(RegexError("brackets ([ ]) not balanced"));
        };
        self.at += 1;
        if self.eat_all(end) {
            Ok(byte)
        } else {
            Err(RegexError("invalid collating element"))
        }
    }
}

fn optional(body: Sequence) -> Node {
    NodeKind::Either(vec![body, Vec::new()]).into()
}

/// `atom` between `least` (at least 1) and `most` times; optional copies stand before the last, mandatory one.
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
