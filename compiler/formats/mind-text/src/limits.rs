//! Limits on the size of a parser's input.

use mind_diag::{Diagnostic, Span};

/// Limits of a parser, inclusive.
///
/// They bound the memory of a parser, because no allocation grows with a number written in the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Bytes of text.
    pub bytes: u64,
    /// Values, including inputs.
    pub nodes: usize,
    /// Dimensions of one shape.
    pub dims: usize,
    /// Distinct names and dimension symbols.
    pub strings: usize,
    /// Lines of text.
    pub lines: usize,
}

impl Default for Limits {
    /// Returns the limits that the formats publish.
    fn default() -> Limits {
        Limits {
            bytes: 10 * 1024 * 1024,
            nodes: 100_000,
            dims: 32,
            strings: 100_000,
            lines: 1_000_000,
        }
    }
}

impl Limits {
    /// Returns the error for a shape whose dimension at `span` is the first above the limit.
    #[cold]
    pub(crate) fn rank_error(&self, span: Span) -> Diagnostic {
        let most = self.dims;
        Diagnostic::error(span, format!("more than {most} dimensions"))
            .help(format!("merge dimensions until at most {most} are left"))
    }

    /// Returns limits for trusted input. Only the limit of [`Span`] remains, because its offsets are `u32`.
    pub fn none() -> Limits {
        Limits {
            bytes: u64::from(u32::MAX),
            nodes: usize::MAX,
            dims: usize::MAX,
            strings: usize::MAX,
            lines: usize::MAX,
        }
    }
}
