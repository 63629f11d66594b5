//! IR v2: documents that describe decoder models.
//!
//! [`Config`] is the description that everything else follows from: the tables of [`layout`] make of it the
//! dimensions, buffers and nodes of a [`Document`]. [`read`](fn@read) accepts both dialects of the format,
//! [`write`](fn@write) gives one. [`graph`] makes modules of a description.

pub mod checkpoint;
pub mod codes;
pub mod condition;
mod config;
mod factors;
pub mod graph;
pub mod hf;
pub mod layout;
mod meta;
mod read;
mod rope;
mod schema;
mod write;

pub use config::{
    Biases, Config, ConfigError, Family, MAX_COUNT, MAX_ELEMENTS, MAX_EXTENT, Parameters, Rope,
    RopeScaling, align,
};
pub use factors::{FrequencyFactors, MAX_FACTORS};
pub use read::{ReadOptions, is_document, read};
pub use schema::{Document, Foreign, WeightTypes};
pub use write::write;
