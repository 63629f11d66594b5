//! Metadata in the headers of weight files.

use std::fmt;

/// A metadata value.
#[derive(Clone, PartialEq, Debug)]
pub enum MetaValue {
    /// An unsigned integer.
    Unsigned(u64),
    /// A signed integer.
    Signed(i64),
    /// A floating-point number.
    Real(f64),
    /// A boolean.
    Bool(bool),
    /// A string.
    Text(String),
    /// An array. Its elements are skipped.
    Array {
        /// The number of elements.
        count: u64,
    },
}

impl fmt::Display for MetaValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MetaValue::Unsigned(value) => write!(f, "{value}"),
            MetaValue::Signed(value) => write!(f, "{value}"),
            MetaValue::Real(value) => write!(f, "{value:?}"),
            MetaValue::Bool(value) => write!(f, "{value}"),
            MetaValue::Text(text) => write!(f, "{text:?}"),
            MetaValue::Array { count } => write!(f, "an array of {count} elements"),
        }
    }
}

impl MetaValue {
    /// Returns the string.
    pub fn text(&self) -> Option<&str> {
        match self {
            MetaValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns an integer that is not negative.
    pub fn natural(&self) -> Option<u64> {
        match *self {
            MetaValue::Unsigned(value) => Some(value),
            MetaValue::Signed(value) => u64::try_from(value).ok(),
            _ => None,
        }
    }

    /// Returns the boolean.
    pub fn truth(&self) -> Option<bool> {
        match *self {
            MetaValue::Bool(truth) => Some(truth),
            _ => None,
        }
    }

    /// Returns a number of any type.
    pub fn real(&self) -> Option<f64> {
        match *self {
            MetaValue::Real(value) => Some(value),
            MetaValue::Unsigned(value) => Some(value as f64),
            MetaValue::Signed(value) => Some(value as f64),
            _ => None,
        }
    }
}
