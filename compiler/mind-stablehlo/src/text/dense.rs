//! Elements that a text writes out.

use super::syntax::TensorText;

/// Elements and their type.
#[derive(Clone, Debug)]
pub(crate) struct Dense<'t> {
    pub elements: Elements<'t>,
    pub ty: TensorText<'t>,
}

/// How elements are written.
#[derive(Clone, Debug)]
pub(crate) enum Elements<'t> {
    /// One for all.
    Splat(&'t str),
    /// Nested lists.
    List {
        shape: Vec<usize>,
        tokens: Vec<&'t str>,
    },
    /// Bytes in hexadecimal, `0x` before them.
    Hex(&'t str),
    /// Bytes behind the module, by their name.
    Resource(&'t str),
}
