//! The two ways in which an expression can fail.

/// Why an expression is not valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegexError(pub &'static str);

/// A search took more steps than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooComplex;
