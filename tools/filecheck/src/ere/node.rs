//! What a regular expression is made of.

use super::byte_set::ByteSet;
use std::ops::Range;

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
/// Group borders are nodes of the sequence they are in, not a level of nesting: which part of a sequence takes how
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
    /// How many `^` are written.
    pub line_starts: usize,
    /// How many `$` are written.
    pub line_ends: usize,
}
