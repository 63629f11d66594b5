//! Random choices from a seed.

use mind_ir::random::scale;

/// Random choices that are scaled instead of reduced modulo the bound, so that the modules of seeds stay the same.
pub(crate) struct Rng(mind_ir::random::Rng);

impl Rng {
    pub(crate) fn new(seed: u64) -> Rng {
        Rng(mind_ir::random::Rng::new(seed))
    }

    /// Returns a number below `bound`, which must not be 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        scale(self.0.bits(), bound as u64) as usize
    }

    /// Returns true with probability 1 / `of`.
    pub(crate) fn once_in(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }

    /// Returns an element of `all`, which must not be empty.
    pub(crate) fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// Shuffles `all`.
    pub(crate) fn shuffle<T>(&mut self, all: &mut [T]) {
        for last in (1..all.len()).rev() {
            let other = self.below(last + 1);
            all.swap(last, other);
        }
    }
}
