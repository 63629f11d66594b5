//! The verifier: types every value and checks every rule.

mod error;
mod infer;
mod module;
mod profile;

pub use error::VerifyError;
pub use infer::{ArgumentsResult, InferManyResult, InferResult, infer_op};
pub use module::{VerifyConfig, verify};
pub use profile::Profile;
