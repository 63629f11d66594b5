//! E-graphs over any op table.

pub(crate) mod analysis;
pub(crate) mod constants;
pub(crate) mod language;
pub(crate) mod payload;
pub(crate) mod provenance;
pub(crate) mod rebuild;
pub(crate) mod scratch;
pub(crate) mod store;
