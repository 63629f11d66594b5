//! Attributes: the compile-time parameters of an op.

mod defaults;
mod kind;
mod literal;

pub use kind::{
    AttrKind, AttrType, Bool, Dims, ElementType, Float, Int, Ints, LiteralData, Pad, Str,
};
pub use literal::Literal;

use crate::entity::Sym;
use crate::types::{DType, Dim};

/// The kinds of attribute that op tables name without a path.
#[doc(hidden)]
pub mod kinds {
    pub use super::{Bool, Dims, ElementType, Float, Int, Ints, LiteralData, Pad, Str};
}

/// An attribute value, borrowing what does not fit into it.
///
/// Floats compare and hash by their bits, so that `-0.0` and `0.0` are two attributes and a NaN
/// equals itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Attr<'a> {
    /// An integer.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// The bits of an `f64`.
    Float(u64),
    /// A name.
    Str(Sym),
    /// A list of integers.
    Ints(&'a [i64]),
    /// A list of extents; -1 among them means "whatever is left".
    Dims(&'a [Dim]),
    /// The elements of a constant.
    Literal(&'a Literal<'a>),
    /// The padding of a window.
    Padding(Padding<'a>),
    /// A dtype.
    DType(DType),
    /// A word of the closed set that the op's table entry names.
    Word(&'static str),
}

impl Attr<'_> {
    /// A float attribute.
    pub fn float(value: f64) -> Attr<'static> {
        Attr::Float(value.to_bits())
    }
}

/// How a window's input is padded along its spatial axes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Padding<'a> {
    /// Not at all.
    Valid,
    /// So that the output has ceil(input / stride) positions, the odd element at the end.
    Same,
    /// By before and after pairs: top, bottom, left, right.
    Custom(&'a [i64; 4]),
}

/// An open end of a slice: up to the end of the axis.
pub const OPEN_END: i64 = i64::MAX;
