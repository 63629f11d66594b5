//! Elements of dense attributes.

use super::syntax::TensorText;

/// The elements and their type.
#[derive(Clone, Debug)]
pub(crate) struct Dense<'t> {
    pub elements: Elements<'t>,
    pub ty: TensorText<'t>,
}

/// The notation of the elements.
#[derive(Clone, Debug)]
pub(crate) enum Elements<'t> {
    /// One for all of them.
    Splat(&'t str),
    /// Nested lists.
    List {
        shape: Vec<usize>,
        tokens: Vec<&'t str>,
    },
    /// Bytes in hexadecimal, starting with `0x`.
    Hex(&'t str),
    /// A resource after the module, by name.
    Resource(&'t str),
}
