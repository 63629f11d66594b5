//! Writes the extracted program back into the module.

pub(crate) mod changes;
pub(crate) mod placement;
pub(crate) mod rewrite;
