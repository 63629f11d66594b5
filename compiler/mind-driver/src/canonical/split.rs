//! What a text is cut into.

use std::ops::Range;

/// A text in its statements and comments, each in the order of the text.
#[derive(Default, Debug)]
pub(super) struct Split {
    pub(super) statements: Vec<Statement>,
    /// Where the comments stand, each up to the end of its line.
    pub(super) comments: Vec<Range<usize>>,
}

/// What canonical text has on a line of its own.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Statement {
    /// What it says, without comments.
    pub(super) code: String,
    /// From its first byte to its last.
    pub(super) place: Range<usize>,
}
