//! Constants known while compiling, interned by their bits.

use std::hash::BuildHasher;

use mind_ir::Ty;
use mind_ir::scalar::Facts;
use mind_ir::tensor::Tensor;
use mind_rules::Constant;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

/// The number of a constant.
pub(crate) type ConstId = u32;

/// How many bytes of either end of a constant its hash depends on: constants that differ, differ there but for few.
const HASHED: usize = 256;

/// What the hash of a constant's bytes is made of; all of few.
fn ends(bytes: &[u8]) -> (&[u8], &[u8]) {
    let (first, rest) = bytes.split_at(bytes.len().min(HASHED));
    (first, &rest[rest.len().saturating_sub(HASHED)..])
}

/// The constants of one run. Equal type and bits mean equal number; +0 and -0 are two constants.
#[derive(Default, Debug)]
pub(crate) struct Constants {
    rows: Vec<Constant>,
    facts: Vec<Facts>,
    /// The numbers of the constants with a hash.
    numbers: FxHashMap<u64, SmallVec<[ConstId; 1]>>,
}

impl Constants {
    /// The constant of type `ty` with `element`, of rank 0, at every position.
    pub(crate) fn splat(&mut self, ty: Ty, element: Tensor) -> ConstId {
        self.intern(Constant::splat(ty, element))
    }

    /// The constant with the elements of `tensor`, of which `facts` hold; a splat where all have the same bits.
    pub(crate) fn tensor(&mut self, ty: Ty, tensor: Tensor, facts: Facts) -> ConstId {
        self.intern_with(Constant::of(ty, tensor), |_| facts)
    }

    /// The number of `constant`, whose type is of the scratch graph's table.
    pub(crate) fn intern(&mut self, constant: Constant) -> ConstId {
        self.intern_with(constant, |constant| Facts::of_tensor(&constant.data))
    }

    /// As [`intern`](Constants::intern), with what finds the facts of a new constant.
    fn intern_with(
        &mut self,
        constant: Constant,
        facts: impl FnOnce(&Constant) -> Facts,
    ) -> ConstId {
        let key = |constant: &Constant| (constant.ty, constant.splat);
        let bytes = constant.data.buffer().as_bytes();
        let hash = FxBuildHasher.hash_one((key(&constant), bytes.len(), ends(bytes)));
        let numbers = self.numbers.entry(hash).or_default();
        let is_equal = |&&number: &&ConstId| {
            let own = &self.rows[number as usize];
            key(own) == key(&constant) && own.data.buffer().as_bytes() == bytes
        };
        if let Some(&known) = numbers.iter().find(is_equal) {
            return known;
        }
        let number = self.rows.len() as ConstId;
        numbers.push(number);
        self.facts.push(facts(&constant));
        self.rows.push(constant);
        number
    }

    /// What holds for every element of the constant with this number.
    pub(crate) fn facts(&self, number: ConstId) -> Facts {
        self.facts[number as usize]
    }

    /// The constant with this number.
    pub(crate) fn get(&self, number: ConstId) -> &Constant {
        &self.rows[number as usize]
    }
}
