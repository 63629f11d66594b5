//! How much input a parser takes.

use mind_diag::{Diagnostic, Span};

/// The most that a parser accepts; exactly the limit is still accepted.
///
/// Nothing that a parser allocates grows with a number written in the text, so these bound its memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Bytes of text.
    pub bytes: u64,
    /// Values: nodes, inputs included.
    pub nodes: usize,
    /// Dimensions of one shape.
    pub dims: usize,
    /// Different names and dimension symbols.
    pub strings: usize,
    /// Lines of text.
    pub lines: usize,
}

impl Default for Limits {
    /// The limits that the formats publish.
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
    /// The error for a shape of more dimensions than allowed, at the first of them.
    #[cold]
    pub(crate) fn rank_error(&self, span: Span) -> Diagnostic {
        let most = self.dims;
        Diagnostic::error(span, format!("more than {most} dimensions"))
            .help(format!("merge dimensions until at most {most} are left"))
    }

    /// No limit but the one of [`Span`], whose offsets are `u32`: for trusted input.
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
