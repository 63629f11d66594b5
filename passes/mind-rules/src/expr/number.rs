//! Numbers of rule files.

/// A number of a rule file; integers are kept exactly.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Number {
    /// A number without point or exponent that fits in 64 bits.
    Int(i64),
    /// Any other number.
    Float(f64),
}

impl Number {
    /// Parses a number.
    pub fn parse(text: &str) -> Option<Number> {
        match text.parse() {
            Ok(value) => Some(Number::Int(value)),
            Err(_) => text.parse().ok().map(Number::Float),
        }
    }

    /// Returns the number as a float.
    pub fn to_f64(self) -> f64 {
        match self {
            Number::Int(value) => value as f64,
            Number::Float(value) => value,
        }
    }
}
