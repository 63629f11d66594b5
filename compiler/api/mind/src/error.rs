//! Errors of this crate.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use mind_diag::{Diagnostic, Diagnostics, SourceFile, render_text};
use mind_driver::executable::ExecutionError;
use mind_driver::input::FileError;
use mind_driver::load;
use mind_driver::patch::PatchError;
use mind_ir::verify::VerifyError;
use mind_model::{FolderError, ModelError, TextError};

/// An error. [`Display`](fmt::Display) shows diagnostics with their source lines, as the tools do.
///
/// ```
/// let error = mind::Module::parse("mic@2\nT0 f32 4\na x T0\nm 0\nO 1").unwrap_err();
/// let shown = "\
/// error[E2007]: 'm' needs 2 inputs, found 1
///  --> <text>:4:1
///   |
/// 4 | m 0
///   | ^^^";
/// assert!(error.to_string().starts_with(shown), "{error}");
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written, or the manifest of a Core ML package does not name a model.
    #[error(transparent)]
    File(#[from] FileError),
    /// A module, rule file, pipeline or type is invalid.
    #[error(transparent)]
    Rejected(#[from] Rejected),
    /// A builder's operands or attributes violate the op's shape rule.
    #[error(transparent)]
    Op(#[from] Box<VerifyError>),
    /// Arrays do not match an executable, or its run failed.
    #[error(transparent)]
    Execution(#[from] ExecutionError),
    /// A module could not be edited.
    #[error(transparent)]
    Patch(#[from] PatchError),
    /// The files of a model could not be used.
    #[error(transparent)]
    Files(#[from] FolderError),
    /// A model could not be compiled or run.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A text could not be encoded, or tokens could not be decoded.
    #[error(transparent)]
    Text(#[from] TextError),
}

/// As [`Display`](fmt::Display), because a `main` that returns the error prints it with `Debug`.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error {
    /// Returns the diagnostics, if a text or module was invalid.
    pub fn diagnostics(&self) -> Option<&Diagnostics> {
        match self {
            Error::Rejected(rejected) => Some(&rejected.diagnostics),
            Error::Execution(ExecutionError::Compile(found)) => Some(found),
            Error::Patch(PatchError::Invalid(found)) => Some(found),
            Error::Files(FolderError::Rejected(found)) => Some(found),
            Error::File(_)
            | Error::Op(_)
            | Error::Execution(_)
            | Error::Patch(_)
            | Error::Files(_)
            | Error::Model(_)
            | Error::Text(_) => None,
        }
    }
}

/// Diagnostics of a text, and the text.
#[derive(Debug, thiserror::Error)]
pub struct Rejected {
    /// The diagnostics; at least one is an error.
    pub diagnostics: Diagnostics,
    /// The text that their spans refer to.
    pub file: Arc<SourceFile>,
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = render_text(&self.diagnostics, &self.file, false);
        f.write_str(text.trim_end())
    }
}

impl From<Box<load::Rejected>> for Error {
    fn from(rejected: Box<load::Rejected>) -> Error {
        Error::Rejected(Rejected {
            diagnostics: rejected.diagnostics,
            file: Arc::new(rejected.file),
        })
    }
}

impl From<Infallible> for Error {
    fn from(never: Infallible) -> Error {
        match never {}
    }
}

/// Returns an error about a text that is not in a file.
pub(crate) fn refused(name: &str, text: &str, found: impl Into<Diagnostics>) -> Error {
    Error::Rejected(Rejected {
        diagnostics: found.into(),
        file: Arc::new(SourceFile::new(name, text)),
    })
}

/// Returns an error with `message` about a text as a whole.
pub(crate) fn invalid(name: &str, text: &str, message: impl Into<String>) -> Error {
    refused(
        name,
        text,
        Diagnostic::error(mind_diag::Span::FILE, message),
    )
}
