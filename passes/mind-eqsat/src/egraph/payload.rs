//! Interned attributes and payloads of one run.

use std::hash::Hash;

use indexmap::IndexSet;
use mind_ir::Ty;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

/// An interner: stores each value once, and numbers them in order of insertion.
#[derive(Debug)]
pub(crate) struct Interner<T>(IndexSet<T, FxBuildHasher>);

impl<T> Default for Interner<T> {
    fn default() -> Interner<T> {
        Interner(IndexSet::default())
    }
}

impl<T: Eq + Hash> Interner<T> {
    /// Returns the id of `value`, which is inserted if it is new.
    pub(crate) fn intern(&mut self, value: T) -> u32 {
        self.0.insert_full(value).0 as u32
    }

    /// Returns the value with this id.
    pub(crate) fn get(&self, number: u32) -> &T {
        &self.0[number as usize]
    }
}

/// The id of an attribute value.
pub(crate) type AttrId = u32;

/// The ids of an op's attributes.
pub(crate) type AttrIds = SmallVec<[AttrId; 4]>;

/// The attributes and result type of an e-node.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Payload {
    /// One attribute for each that the op declares, in that order.
    pub(crate) attrs: AttrIds,
    /// The result type, from the table of the scratch graph.
    pub(crate) ty: Ty,
}
