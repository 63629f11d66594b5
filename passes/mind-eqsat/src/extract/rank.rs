//! When a class can be computed.

/// When a class can be computed at the earliest: a position in the region, and steps after it.
///
/// The classes that the program computes have the position of their first op. What a class is computed
/// from ranks below it, so that no choice of e-nodes has a cycle, and every choice can be put in place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Rank {
    pub(crate) position: u32,
    pub(crate) steps: u32,
}

impl Rank {
    /// The rank of what cannot be computed.
    pub(super) const NEVER: Rank = Rank {
        position: u32::MAX,
        steps: u32::MAX,
    };

    /// The rank of what the program computes at `position`.
    pub(super) fn at(position: u32) -> Rank {
        Rank { position, steps: 0 }
    }
}
