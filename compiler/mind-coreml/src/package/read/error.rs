//! Why a package cannot be read.

use thiserror::Error;

/// Why a manifest leads to no model.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ManifestError {
    /// It is no JSON.
    #[error("the manifest is no JSON: {0}")]
    Json(String),
    /// An entry that leads to the model is missing or no text.
    #[error("the manifest has no `{0}`")]
    Missing(&'static str),
    /// The model stands outside of the package.
    #[error("the manifest leads out of the package: `{0}`")]
    Path(String),
}

/// Why a model holds no program that can be read.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum UnpackError {
    /// The bytes are no message, or it nests too deeply.
    #[error("the model is no message of Core ML: {0}")]
    Message(String),
    /// A model of another kind, such as a neural network of an older generation.
    #[error("the model is no ML program; models from specification version 6 on can be")]
    NoProgram,
    /// A message lacks what its meaning hangs on.
    #[error("{place} has no {what}")]
    Missing {
        /// Where: a function, an op or a value.
        place: String,
        /// What is missing.
        what: &'static str,
    },
    /// Something called by what is no name, and could be taken for syntax.
    #[error("{what} is called `{found}`; names are letters, digits and `_`")]
    Name {
        /// What is called so.
        what: &'static str,
        /// The name, control characters escaped.
        found: String,
    },
    /// Text that MIL's own text cannot hold.
    #[error("{place} holds text with quotes, backslashes or control characters")]
    Text {
        /// Where.
        place: String,
    },
    /// A type that values cannot have here.
    #[error("{place} is {found}; values are tensors and states")]
    Type {
        /// Where.
        place: String,
        /// What it is.
        found: String,
    },
    /// Elements that are not those of the type beside them.
    #[error("the elements of {place} are not those of its type")]
    Elements {
        /// Where.
        place: String,
    },
    /// An opset that is not known.
    #[error("function `{function}` is written in opset `{found}`; known are CoreML5 to CoreML9")]
    Opset {
        /// The function.
        function: String,
        /// What it names.
        found: String,
    },
}

/// A name of a message as an error shows it: escaped, and not too long.
pub(super) fn shown(name: &str) -> String {
    name.escape_default().take(80).collect()
}
