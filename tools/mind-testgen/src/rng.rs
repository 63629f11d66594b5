//! Random choices from a seed.

use mind_ir::random::scale;

/// Choices whose draws are scaled instead of reduced: modules keep their seeds.
pub(crate) struct Rng(mind_ir::random::Rng);

impl Rng {
    pub(crate) fn new(seed: u64) -> Rng {
        Rng(mind_ir::random::Rng::new(seed))
    }

    /// A number from 0 to below `bound`, which is not 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        scale(self.0.bits(), bound as u64) as usize
    }

    /// True once in `of` draws.
    pub(crate) fn once_in(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }

    /// One of `all`, which is not empty.
    pub(crate) fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// Puts `all` into a random order.
    pub(crate) fn shuffle<T>(&mut self, all: &mut [T]) {
        for last in (1..all.len()).rev() {
            let other = self.below(last + 1);
            all.swap(last, other);
        }
    }
}
