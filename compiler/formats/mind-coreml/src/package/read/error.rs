//! Errors of reading packages.

use mind_diag::{Code, Diagnostic, Span};
use mind_mil::check::is_name;
use thiserror::Error;

use crate::mil::Parsed;
use crate::mil::syntax::Name;

/// Why the model of a package cannot be found.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ManifestError {
    /// The manifest is not JSON.
    #[error("the manifest is not JSON: {0}")]
    Json(String),
    /// An entry on the way to the model is missing or not text.
    #[error("the manifest has no `{0}`")]
    Missing(&'static str),
    /// The path of the model leads out of the package.
    #[error("the manifest leads out of the package: `{0}`")]
    Path(String),
}

/// Returns a name of a message for an error: escaped, and truncated if it is long.
pub(super) fn shown(name: &str) -> String {
    name.escape_default().take(80).collect()
}

/// Returns whether text can represent a word in quotes.
pub(super) fn is_text(word: &str) -> bool {
    !word.contains(['"', '\\']) && !word.chars().any(char::is_control)
}

/// Returns the error `message` at `span`.
pub(super) fn refused(span: Span, code: u16, message: String, help: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(span, message).code(Code(code)).help(help))
}

/// Checks the name of a `what`, for example of an operation, and returns it.
///
/// # Errors
///
/// E4112 if the name contains syntax.
pub(super) fn named<'m>(what: &str, name: &'m str, span: Span) -> Parsed<Name<'m>> {
    if is_name(name) {
        return Ok(Name { text: name, span });
    }
    let message = format!("{what} is called `{}`", shown(name));
    let help = "names are letters, digits and `_`, and begin with no digit";
    Err(refused(span, 4112, message, help))
}
