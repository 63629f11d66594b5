//! IR v2: documents that describe decoder models.
//!
//! [`Config`] is the description that everything else follows from; [`graph`] makes modules of it.

mod config;
pub mod graph;

pub use config::{Biases, Config, ConfigError, Family, Parameters, Rope, RopeScaling, align};
