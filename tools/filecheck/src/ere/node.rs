//! The syntax tree of regular expressions.

use super::byte_set::ByteSet;
use std::ops::Range;

/// A condition on the position between two bytes.
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

/// An element of a sequence.
#[derive(Clone, Debug)]
pub struct Node {
    /// The kind of the node.
    pub kind: NodeKind,
    /// Its instructions, once the program is generated.
    pub code: Range<usize>,
}

/// Nodes that match one after another.
pub type Sequence = Vec<Node>;

/// The kinds of [`Node`].
///
/// Group boundaries are nodes of their sequence, not a level of nesting, because the parts of a sequence are extended
/// from left to right across groups.
#[derive(Clone, Debug)]
pub enum NodeKind {
    /// A byte.
    Byte(u8),
    /// One byte of a set.
    Set(ByteSet),
    /// The empty string, at certain positions.
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
    /// The text of a group. `shape` is the content of the group, which over-approximates the text.
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
    /// All nodes.
    pub sequence: Sequence,
    /// The number of groups.
    pub groups: usize,
    /// The groups of back-references, in ascending order.
    pub referenced: Vec<usize>,
    /// The number of `^` in the source.
    pub line_starts: usize,
    /// The number of `$` in the source.
    pub line_ends: usize,
}
