//! Attribute values that are owned instead of borrowed from a graph.

use mind_ir::Sym;
use mind_ir::attr::{Attr, Padding};
use mind_ir::types::{DType, Dim};

/// An owned attribute value. Literals are not represented, because ops that hold them are opaque to rules.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum AttrValue {
    /// An integer.
    Int(i64),
    /// A boolean.
    Bool(bool),
    /// The bits of an `f64`.
    Float(u64),
    /// An interned string.
    Str(Sym),
    /// A list of integers.
    Ints(Box<[i64]>),
    /// A list of extents.
    Dims(Box<[Dim]>),
    /// The padding `valid`: the window is not padded.
    Valid,
    /// The padding `same`: the window has ceil(input / stride) positions.
    Same,
    /// Explicit padding: top, bottom, left, right.
    Pads([i64; 4]),
    /// A dtype.
    DType(DType),
    /// An enumerator of a closed set.
    Word(&'static str),
}

impl AttrValue {
    /// Returns a copy of `attr`; `None` for a literal.
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
            Attr::DType(dtype) => AttrValue::DType(dtype),
            Attr::Word(word) => AttrValue::Word(word),
            Attr::Literal(_) => return None,
        })
    }

    /// Returns the value in its borrowed form.
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
            AttrValue::DType(dtype) => Attr::DType(*dtype),
            AttrValue::Word(word) => Attr::Word(word),
        }
    }
}
