//! Constant attribute values, for the defaults of op tables.

use super::{Attr, Bool, Dims, ElementType, Float, Int, Ints, Pad, Padding};
use crate::types::{DType, Dim};

macro_rules! defaults {
    ($($kind:ident: $value:ident: $ty:ty => $attr:expr;)*) => {$(
        impl $kind {
            /// Returns the attribute with this value.
            pub const fn attr($value: $ty) -> Attr<'static> {
                $attr
            }
        }
    )*};
}

defaults! {
    Int: value: i64 => Attr::Int(value);
    Bool: value: bool => Attr::Bool(value);
    Float: value: f64 => Attr::Float(value.to_bits());
    Ints: list: &'static [i64] => Attr::Ints(list);
    Dims: list: &'static [Dim] => Attr::Dims(list);
    ElementType: dtype: DType => Attr::DType(dtype);
    Pad: padding: Padding<'static> => Attr::Padding(padding);
}
