//! Attribute values in constant expressions, for the defaults of op tables.

#![allow(non_snake_case)]

use super::{Attr, Padding};
use crate::types::Dim;

/// An integer.
pub const fn Int(value: i64) -> Attr<'static> {
    Attr::Int(value)
}

/// A truth value.
pub const fn Bool(value: bool) -> Attr<'static> {
    Attr::Bool(value)
}

/// A floating-point number.
pub const fn Float(value: f64) -> Attr<'static> {
    Attr::Float(value.to_bits())
}

/// A list of integers.
pub const fn Ints(value: &'static [i64]) -> Attr<'static> {
    Attr::Ints(value)
}

/// A list of extents.
pub const fn Dims(value: &'static [Dim]) -> Attr<'static> {
    Attr::Dims(value)
}

/// The padding of a window.
pub const fn Pad(value: Padding<'static>) -> Attr<'static> {
    Attr::Padding(value)
}
