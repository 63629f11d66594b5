//! Compile-time constants, interned by their bits.

use std::hash::BuildHasher;

use mind_ir::Ty;
use mind_ir::scalar::Facts;
use mind_ir::tensor::Tensor;
use mind_rules::Constant;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

/// The id of a constant.
pub(crate) type ConstId = u32;

/// The number of bytes at either end of a constant that are hashed. Different constants rarely agree in all of them.
const HASHED: usize = 256;

/// Returns the bytes of a constant that are hashed: both ends, or all bytes of a short one.
fn ends(bytes: &[u8]) -> (&[u8], &[u8]) {
    let (first, rest) = bytes.split_at(bytes.len().min(HASHED));
    (first, &rest[rest.len().saturating_sub(HASHED)..])
}

/// The constants of one run. Constants of equal type and bits have the same id; +0 and -0 are two constants.
#[derive(Default, Debug)]
pub(crate) struct Constants {
    rows: Vec<Constant>,
    facts: Vec<Facts>,
    /// The ids of the constants with each hash.
    numbers: FxHashMap<u64, SmallVec<[ConstId; 1]>>,
}

impl Constants {
    /// Interns the splat of type `ty` with `element`, a tensor of rank 0.
    pub(crate) fn splat(&mut self, ty: Ty, element: Tensor) -> ConstId {
        self.intern(Constant::splat(ty, element))
    }

    /// Interns the constant with the elements of `tensor`, of which `facts` hold, as a splat if all elements have the
    /// same bits.
    pub(crate) fn tensor(&mut self, ty: Ty, tensor: Tensor, facts: Facts) -> ConstId {
        self.intern_with(Constant::of(ty, tensor), |_| facts)
    }

    /// Returns the id of `constant`, whose type is from the table of the scratch graph.
    pub(crate) fn intern(&mut self, constant: Constant) -> ConstId {
        self.intern_with(constant, |constant| Facts::of_tensor(&constant.data))
    }

    /// Like [`intern`](Constants::intern); `facts` computes the facts of a new constant.
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

    /// Returns the facts that hold for every element of a constant.
    pub(crate) fn facts(&self, number: ConstId) -> Facts {
        self.facts[number as usize]
    }

    /// Returns the constant with this id.
    pub(crate) fn get(&self, number: ConstId) -> &Constant {
        &self.rows[number as usize]
    }
}
