//! Replacement for the rule checks without the feature `egraph`: all rules of the user are refused.

use mind_diag::{Diagnostic, Diagnostics, SourceFile, Span};
use mind_pass::RewriteOptions;

use crate::session::Session;

/// Returns an error for each rule file, because this build cannot check rules.
pub fn refusals(rewriting: &RewriteOptions, _: &Session) -> Vec<(SourceFile, Diagnostics)> {
    let refused = rewriting.rules.iter().map(|source| {
        let message = "this build cannot check rules, so user rules are refused";
        let error = Diagnostic::error(Span::FILE, message).help("build with the feature `egraph`");
        let mut found = Diagnostics::new();
        found.push(error);
        (SourceFile::new(&source.name, &source.text), found)
    });
    refused.collect()
}
