//! Packages, read back.
//!
//! A program is read in one syntax alone, its text, so that its rules are checked in one place: [`text`] writes
//! the program in a model as MIL text, which whoever parses text takes from there. Large constants stay in the
//! weight file; the text names their places. [`model_path`] finds the model in a package.

mod error;
mod flexible;
mod manifest;
mod program;
mod value;
mod words;

pub use error::{ManifestError, UnpackError};
pub use manifest::model_path;
pub use program::text;
