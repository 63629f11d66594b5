//! Attributes and payloads, interned for one run.

use std::hash::Hash;

use mind_ir::Ty;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Values stored once each, numbered in order of arrival.
#[derive(Debug)]
pub(crate) struct Interner<T> {
    values: Vec<T>,
    numbers: FxHashMap<T, u32>,
}

impl<T> Default for Interner<T> {
    fn default() -> Interner<T> {
        Interner {
            values: Vec::new(),
            numbers: FxHashMap::default(),
        }
    }
}

impl<T: Clone + Eq + Hash> Interner<T> {
    /// The number of `value`, new or known.
    pub(crate) fn intern(&mut self, value: T) -> u32 {
        if let Some(&known) = self.numbers.get(&value) {
            return known;
        }
        let number = self.values.len() as u32;
        self.values.push(value.clone());
        self.numbers.insert(value, number);
        number
    }

    /// The value with this number.
    pub(crate) fn get(&self, number: u32) -> &T {
        &self.values[number as usize]
    }
}

/// The number of an attribute value.
pub(crate) type AttrId = u32;

/// The attributes of an op, by number.
pub(crate) type AttrIds = SmallVec<[AttrId; 4]>;

/// What an e-node says besides op and children.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Payload {
    /// One attribute per row of the table entry.
    pub(crate) attrs: AttrIds,
    /// The result type, in the scratch graph's table.
    pub(crate) ty: Ty,
}
