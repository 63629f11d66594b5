//! The earliest time at which a class can be computed.

/// The earliest time at which a class can be computed: a position in the region, and a number of steps after it.
///
/// A class that the program computes has the position of its first op. An e-node is only chosen if its children rank
/// below its class, so a choice has no cycles and can always be scheduled.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Rank {
    pub(crate) position: u32,
    pub(crate) steps: u32,
}

impl Rank {
    /// The rank of a class that cannot be computed.
    pub(super) const NEVER: Rank = Rank {
        position: u32::MAX,
        steps: u32::MAX,
    };

    /// Returns the rank of a class that the program computes at `position`.
    pub(super) fn at(position: u32) -> Rank {
        Rank { position, steps: 0 }
    }
}
