//! What headers say besides the tensors.

use std::fmt;

/// A value of the header.
#[derive(Clone, PartialEq, Debug)]
pub enum MetaValue {
    /// A number without sign.
    Unsigned(u64),
    /// A number with a sign.
    Signed(i64),
    /// A real number.
    Real(f64),
    /// A truth value.
    Bool(bool),
    /// A text.
    Text(String),
    /// An array, whose elements are not kept.
    Array {
        /// How many elements it has.
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
    /// The text.
    pub fn text(&self) -> Option<&str> {
        match self {
            MetaValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// An integer that is not negative.
    pub fn natural(&self) -> Option<u64> {
        match *self {
            MetaValue::Unsigned(value) => Some(value),
            MetaValue::Signed(value) => u64::try_from(value).ok(),
            _ => None,
        }
    }

    /// The truth value.
    pub fn truth(&self) -> Option<bool> {
        match *self {
            MetaValue::Bool(truth) => Some(truth),
            _ => None,
        }
    }

    /// A number of any kind.
    pub fn real(&self) -> Option<f64> {
        match *self {
            MetaValue::Real(value) => Some(value),
            MetaValue::Unsigned(value) => Some(value as f64),
            MetaValue::Signed(value) => Some(value as f64),
            _ => None,
        }
    }
}
