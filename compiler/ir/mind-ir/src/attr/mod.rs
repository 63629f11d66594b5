//! Attributes: the compile-time parameters of ops.

mod defaults;
mod kind;
mod literal;

pub use kind::{
    AttrKind, AttrType, Bool, Dims, ElementType, Float, Int, Ints, LiteralData, Pad, Str,
};
pub use literal::Literal;

use crate::entity::Sym;
use crate::types::{DType, Dim};

/// The attribute kinds that op tables use without a path.
#[doc(hidden)]
pub mod kinds {
    pub use super::{Bool, Dims, ElementType, Float, Int, Ints, LiteralData, Pad, Str};
}

/// An attribute value, which borrows lists and literals.
///
/// Floats are compared and hashed by their bits, so that `-0.0` and `0.0` are different and a NaN equals itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Attr<'a> {
    /// An integer.
    Int(i64),
    /// A boolean.
    Bool(bool),
    /// The bits of an `f64`.
    Float(u64),
    /// A name.
    Str(Sym),
    /// A list of integers.
    Ints(&'a [i64]),
    /// A list of extents, in which -1 is inferred from the number of elements.
    Dims(&'a [Dim]),
    /// The elements of a constant.
    Literal(&'a Literal<'a>),
    /// The padding of a window.
    Padding(Padding<'a>),
    /// A dtype.
    DType(DType),
    /// A word of the closed set in the op's table entry.
    Word(&'static str),
}

impl Attr<'_> {
    /// Returns a float attribute.
    pub fn float(value: f64) -> Attr<'static> {
        Attr::Float(value.to_bits())
    }
}

/// The padding of a window's input along its spatial axes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Padding<'a> {
    /// No padding.
    Valid,
    /// Padded so that the output has ceil(input / stride) positions. An odd element is added at the end.
    Same,
    /// Explicit padding before and after each axis: top, bottom, left, right.
    Custom(&'a [i64; 4]),
}

/// The open end of a slice, which extends to the end of the axis.
pub const OPEN_END: i64 = i64::MAX;
