//! Source ranges.

/// A half-open range of byte offsets in a source file.
///
/// A span that ends at 0 represents the whole file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset just past the last byte.
    pub end: u32,
}

impl Span {
    /// The whole file, for diagnostics without a more specific location.
    pub const FILE: Span = Span { start: 0, end: 0 };

    /// Returns the range `start..end`.
    pub const fn new(start: u32, end: u32) -> Span {
        Span { start, end }
    }

    /// Whether the span represents the whole file.
    pub const fn is_file(self) -> bool {
        self.end == 0
    }
}
