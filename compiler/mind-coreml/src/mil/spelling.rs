//! How a text is spelled.

/// How a text is spelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spelling {
    /// As Apple's compilers print it.
    Compiler,
    /// As the primer for writing by hand spells it: halves as bits in hexadecimal, constants in calls.
    Primer,
}
