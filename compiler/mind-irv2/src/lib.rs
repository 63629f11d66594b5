//! IR v2: documents that describe decoder models.
//!
//! [`Config`] is the description that everything else follows from.

mod config;

pub use config::{Biases, Config, ConfigError, Family, Parameters, Rope, RopeScaling, align};
