//! A stretch of a source file.

/// A half-open range of byte offsets into one source file.
///
/// The empty span at 0 stands for the file as a whole.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset just past the last byte.
    pub end: u32,
}

impl Span {
    /// The span of what has no place of its own: the file as a whole.
    pub const FILE: Span = Span { start: 0, end: 0 };

    /// The range `start..end`.
    pub const fn new(start: u32, end: u32) -> Span {
        Span { start, end }
    }

    /// Whether this names the file as a whole.
    pub const fn is_file(self) -> bool {
        self.end == 0
    }
}
