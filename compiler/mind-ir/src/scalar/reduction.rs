//! Reductions of many elements to one.

/// How elements become one, in the order of docs/numerics.md.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reduction {
    /// Their sum.
    Sum,
    /// Their sum, divided by their number.
    Mean,
    /// The largest; NaN if any is.
    Max,
}

impl Reduction {
    /// Every kind.
    pub const ALL: [Reduction; 3] = [Reduction::Sum, Reduction::Mean, Reduction::Max];

    /// The word for it in an attribute `kind`.
    pub const fn name(self) -> &'static str {
        match self {
            Reduction::Sum => "sum",
            Reduction::Mean => "mean",
            Reduction::Max => "max",
        }
    }

    /// The kind that a word names.
    pub fn parse(word: &str) -> Option<Reduction> {
        Reduction::ALL.into_iter().find(|kind| kind.name() == word)
    }
}
