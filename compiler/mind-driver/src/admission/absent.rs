//! What stands in the place of the checks of rules where the feature `egraph` is off: no rule of the user acts.

use mind_diag::{Diagnostic, Diagnostics, SourceFile, Span};
use mind_pass::RewriteOptions;

use crate::session::Session;

/// All files of rules: what this build cannot check does not act.
pub fn refusals(rewriting: &RewriteOptions, _: &Session) -> Vec<(SourceFile, Diagnostics)> {
    let refused = rewriting.rules.iter().map(|source| {
        let message = "rules are checked before they act, and this build cannot check them";
        let error = Diagnostic::error(Span::FILE, message).help("build with the feature `egraph`");
        let mut found = Diagnostics::new();
        found.push(error);
        (SourceFile::new(&source.name, &source.text), found)
    });
    refused.collect()
}
