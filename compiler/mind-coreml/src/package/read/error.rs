//! Why a package cannot be read.

use mind_diag::{Code, Diagnostic, Span};
use mind_mil::check::is_name;
use thiserror::Error;

use crate::mil::Parsed;
use crate::mil::syntax::Name;

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

/// A name of a message as an error shows it: escaped, and not too long.
pub(super) fn shown(name: &str) -> String {
    name.escape_default().take(80).collect()
}

/// Whether text can write a word in quotes.
pub(super) fn is_text(word: &str) -> bool {
    !word.contains(['"', '\\']) && !word.chars().any(char::is_control)
}

/// The error `message` at a place.
pub(super) fn refused(span: Span, code: u16, message: String, help: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(span, message).code(Code(code)).help(help))
}

/// The name of a `what`.
///
/// # Errors
///
/// E4112 for one that could be taken for syntax.
pub(super) fn named<'m>(what: &str, name: &'m str, span: Span) -> Parsed<Name<'m>> {
    if is_name(name) {
        return Ok(Name { text: name, span });
    }
    let message = format!("{what} is called `{}`", shown(name));
    let help = "names are letters, digits and `_`, and begin with no digit";
    Err(refused(span, 4112, message, help))
}
