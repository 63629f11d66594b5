//! Status bits that a call returns.

/// The outcome of a call, as a word of bits.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Status(pub u64);

impl Status {
    /// Nothing to report.
    pub const OK: Status = Status(0);
    /// An integer was divided by zero.
    pub const ZERO_DIVISOR: Status = Status(1);
    /// The smallest integer was divided by -1.
    pub const QUOTIENT_OVERFLOW: Status = Status(2);

    /// Returns whether all bits of `other` are set.
    pub const fn contains(self, other: Status) -> bool {
        self.0 & other.0 == other.0
    }

    /// The bits of both.
    #[must_use]
    pub const fn with(self, other: Status) -> Status {
        Status(self.0 | other.0)
    }
}
