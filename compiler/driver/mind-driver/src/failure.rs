//! Diagnostics of failed pipelines.

use mind_diag::{Diagnostic, Diagnostics, Span};
use mind_pass::{Failure, PassError};

/// Converts the failure of a pipeline to diagnostics.
pub fn diagnostics(failure: Failure) -> Diagnostics {
    match failure {
        Failure::Pass {
            pass,
            error: PassError::Rejected(mut diagnostic),
        } => {
            diagnostic.message = format!("`{pass}` failed: {}", diagnostic.message);
            (*diagnostic).into()
        }
        Failure::Pass {
            pass: _,
            error: PassError::Invalid(found),
        } => found,
        Failure::Pass { pass, error } => {
            Diagnostic::error(Span::FILE, format!("`{pass}` failed: {error}")).into()
        }
        Failure::Invalid { pass, mut found } => {
            let message = format!("`{pass}` produced an invalid module, with these errors");
            let help = "this is a bug of the compiler; please report it with the input";
            found.push(Diagnostic::error(Span::FILE, message).help(help));
            found.sort_by_place();
            found
        }
    }
}
