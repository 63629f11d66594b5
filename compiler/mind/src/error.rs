//! Why a call of this crate failed.

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

/// Why a call failed. [`Display`](fmt::Display) shows diagnostics as the tools do, with the lines they are about.
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
    /// A file could not be read or written, or a Core ML package names no model.
    #[error(transparent)]
    File(#[from] FileError),
    /// A module, rule file, pipeline or type was refused.
    #[error(transparent)]
    Rejected(#[from] Rejected),
    /// A builder was given operands or attributes that the shape rule of the op refuses.
    #[error(transparent)]
    Op(#[from] Box<VerifyError>),
    /// An executable was given arrays that do not fit, or its run stopped.
    #[error(transparent)]
    Execution(#[from] ExecutionError),
    /// A module was not edited.
    #[error(transparent)]
    Patch(#[from] PatchError),
    /// The files of a decoder model could not be used.
    #[error(transparent)]
    Files(#[from] FolderError),
    /// A decoder model could not be made or run.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A text has no tokens, or tokens have no text.
    #[error(transparent)]
    Text(#[from] TextError),
}

/// As [`Display`](fmt::Display), so that a `main` that returns the error shows it legibly.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error {
    /// What was found, if a text or module was refused.
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

/// What was found in a text, and the text.
#[derive(Debug, thiserror::Error)]
pub struct Rejected {
    /// The findings. At least one is an error.
    pub diagnostics: Diagnostics,
    /// The text that their spans are in.
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

/// The error of a text that is in no file.
pub(crate) fn refused(name: &str, text: &str, found: impl Into<Diagnostics>) -> Error {
    Error::Rejected(Rejected {
        diagnostics: found.into(),
        file: Arc::new(SourceFile::new(name, text)),
    })
}

/// The error `message` about the whole of a text.
pub(crate) fn invalid(name: &str, text: &str, message: impl Into<String>) -> Error {
    refused(
        name,
        text,
        Diagnostic::error(mind_diag::Span::FILE, message),
    )
}
