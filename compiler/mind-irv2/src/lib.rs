//! IR v2: documents that describe models.
//!
//! All data of a document follow from a [`Config`]: the plan of its [`Family`] determines the buffers and nodes of a
//! [`Document`], which call the kernels of [`kernels`]. [`read`](fn@read) accepts both dialects of the format, and
//! [`write`](fn@write) emits one. [`graph`] builds modules of the core dialect.

mod attributes;
mod audio;
pub mod checkpoint;
pub mod codes;
pub mod condition;
mod config;
mod experts;
mod factors;
pub mod family;
pub mod graph;
pub mod hf;
mod image;
pub mod kernels;
pub mod layout;
mod meta;
mod read;
mod rope;
mod schema;
mod stacks;
mod write;

pub use attributes::{Activation, Attribute, Attributes, Layers};
pub use audio::Audio;
pub use config::{
    Biases, Config, ConfigError, MAX_COUNT, MAX_ELEMENTS, MAX_EXTENT, Parameters, Rope,
    RopeScaling, RotaryStyle, Yarn, align,
};
pub use experts::{Among, Experts};
pub use factors::{FrequencyFactors, MAX_FACTORS};
pub use family::{Architecture, Families, Family, FamilyError, FamilyFiles, Stack};
pub use image::Image;
pub use read::{ReadOptions, family as document_family, is_document, read};
pub use schema::{Document, Foreign, WeightTypes};
pub use stacks::EncoderSizes;
pub use write::write;
