//! Attributes and payloads, interned for one run.

use std::hash::Hash;

use indexmap::IndexSet;
use mind_ir::Ty;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

/// Values stored once each, numbered in order of arrival.
#[derive(Debug)]
pub(crate) struct Interner<T>(IndexSet<T, FxBuildHasher>);

impl<T> Default for Interner<T> {
    fn default() -> Interner<T> {
        Interner(IndexSet::default())
    }
}

impl<T: Eq + Hash> Interner<T> {
    /// The number of `value`, new or known.
    pub(crate) fn intern(&mut self, value: T) -> u32 {
        self.0.insert_full(value).0 as u32
    }

    /// The value with this number.
    pub(crate) fn get(&self, number: u32) -> &T {
        &self.0[number as usize]
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
