//! Numbers of rule files.

/// A number of a rule file, as exact as it can be kept.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Number {
    /// One without point and exponent.
    Int(i64),
    /// Any other.
    Float(f64),
}

impl Number {
    /// The number that `text` spells.
    pub fn parse(text: &str) -> Option<Number> {
        match text.parse() {
            Ok(value) => Some(Number::Int(value)),
            Err(_) => text.parse().ok().map(Number::Float),
        }
    }

    /// The number as a float.
    pub fn to_f64(self) -> f64 {
        match self {
            Number::Int(value) => value as f64,
            Number::Float(value) => value,
        }
    }
}
