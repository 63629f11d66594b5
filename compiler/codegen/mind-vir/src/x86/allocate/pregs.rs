//! Sets of physical registers.

use regalloc2::{MachineEnv, PReg, PRegSet, RegClass};

/// Registers of every class.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Pregs([u64; 3]);

impl Pregs {
    /// Returns the set of `pregs`.
    pub fn of<'p>(pregs: impl IntoIterator<Item = &'p PReg>) -> Pregs {
        let mut all = Pregs::default();
        pregs.into_iter().for_each(|&preg| all.add(preg));
        all
    }

    /// Returns the preferred registers.
    pub fn preferred(env: &MachineEnv) -> Pregs {
        Pregs::of(env.preferred_regs_by_class.iter().flatten())
    }

    /// Returns the allocatable registers.
    pub fn usable(env: &MachineEnv) -> Pregs {
        Pregs::of(env.non_preferred_regs_by_class.iter().flatten()) | Pregs::preferred(env)
    }

    #[inline]
    pub fn contains(&self, preg: PReg) -> bool {
        self.0[preg.class() as usize] >> preg.hw_enc() & 1 == 1
    }

    #[inline]
    pub fn add(&mut self, preg: PReg) {
        self.0[preg.class() as usize] |= 1 << preg.hw_enc();
    }

    #[inline]
    pub fn remove(&mut self, preg: PReg) {
        self.0[preg.class() as usize] &= !(1 << preg.hw_enc());
    }

    /// Returns the set difference of `self` and `other`.
    pub fn without(self, other: Pregs) -> Pregs {
        let of = |class: usize| self.0[class] & !other.0[class];
        Pregs([of(0), of(1), of(2)])
    }

    /// Returns the number of registers of a class.
    pub fn count(self, class: RegClass) -> usize {
        self.0[class as usize].count_ones() as usize
    }

    /// Returns the registers of a class in ascending order.
    pub fn all(self, class: RegClass) -> impl Iterator<Item = PReg> {
        let of = self.0[class as usize];
        let numbers = (0..64).filter(move |number| of >> number & 1 == 1);
        numbers.map(move |number| PReg::new(number, class))
    }

    /// Returns the lowest register of a class.
    pub fn first(self, class: RegClass) -> Option<PReg> {
        let of = self.0[class as usize];
        (of != 0).then(|| PReg::new(of.trailing_zeros() as usize, class))
    }
}

impl std::ops::BitOr for Pregs {
    type Output = Pregs;

    fn bitor(self, other: Pregs) -> Pregs {
        let of = |class: usize| self.0[class] | other.0[class];
        Pregs([of(0), of(1), of(2)])
    }
}

impl std::ops::BitAnd for Pregs {
    type Output = Pregs;

    fn bitand(self, other: Pregs) -> Pregs {
        let of = |class: usize| self.0[class] & other.0[class];
        Pregs([of(0), of(1), of(2)])
    }
}

impl From<PRegSet> for Pregs {
    fn from(set: PRegSet) -> Pregs {
        let mut all = Pregs::default();
        set.into_iter().for_each(|preg| all.add(preg));
        all
    }
}
