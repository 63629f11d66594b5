//! Statements and comments of a text.

use std::ops::Range;

/// The statements and comments of a text, each in text order.
#[derive(Default, Debug)]
pub(super) struct Split {
    pub(super) statements: Vec<Statement>,
    /// Positions of the comments, each up to the end of its line.
    pub(super) comments: Vec<Range<usize>>,
}

/// A line of the canonical form.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Statement {
    /// Its text without comments.
    pub(super) code: String,
    /// Its byte range in the text.
    pub(super) place: Range<usize>,
}
