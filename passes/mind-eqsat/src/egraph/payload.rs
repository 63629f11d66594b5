//! Attributes and payloads, interned for one run.

use std::hash::Hash;

use mind_ir::attr::{Attr, Padding};
use mind_ir::types::Dim;
use mind_ir::{Sym, Ty};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// An attribute value that borrows nothing. Literals have none: ops that hold them are opaque.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum AttrValue {
    /// An integer.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// The bits of an `f64`.
    Float(u64),
    /// A name.
    Str(Sym),
    /// A list of integers.
    Ints(Box<[i64]>),
    /// A list of extents.
    Dims(Box<[Dim]>),
    /// A window that is not padded.
    Valid,
    /// A window padded for ceil(input / stride) positions.
    Same,
    /// A window's pads: top, bottom, left, right.
    Pads([i64; 4]),
}

impl AttrValue {
    /// A copy of `attr`; `None` for a literal.
    pub fn of(attr: Attr<'_>) -> Option<AttrValue> {
        Some(match attr {
            Attr::Int(value) => AttrValue::Int(value),
            Attr::Bool(value) => AttrValue::Bool(value),
            Attr::Float(bits) => AttrValue::Float(bits),
            Attr::Str(sym) => AttrValue::Str(sym),
            Attr::Ints(list) => AttrValue::Ints(list.into()),
            Attr::Dims(list) => AttrValue::Dims(list.into()),
            Attr::Padding(Padding::Valid) => AttrValue::Valid,
            Attr::Padding(Padding::Same) => AttrValue::Same,
            Attr::Padding(Padding::Custom(pads)) => AttrValue::Pads(*pads),
            Attr::Literal(_) => return None,
        })
    }

    /// The value as the IR borrows it.
    pub fn as_attr(&self) -> Attr<'_> {
        match self {
            AttrValue::Int(value) => Attr::Int(*value),
            AttrValue::Bool(value) => Attr::Bool(*value),
            AttrValue::Float(bits) => Attr::Float(*bits),
            AttrValue::Str(sym) => Attr::Str(*sym),
            AttrValue::Ints(list) => Attr::Ints(list),
            AttrValue::Dims(list) => Attr::Dims(list),
            AttrValue::Valid => Attr::Padding(Padding::Valid),
            AttrValue::Same => Attr::Padding(Padding::Same),
            AttrValue::Pads(pads) => Attr::Padding(Padding::Custom(pads)),
        }
    }
}

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
