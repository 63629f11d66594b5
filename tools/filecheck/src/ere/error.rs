//! Errors of regular expressions.

/// Why an expression is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegexError(pub &'static str);

/// A search exceeded the maximal number of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooComplex;
