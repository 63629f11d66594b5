//! What the page tells.

use std::time::Duration;

use mind_diag::SourceFile;
use mind_driver::history::Record;
use mind_rules::RuleSet;

use super::recording::Recording;

/// What a page is about.
pub(crate) struct Subject<'a> {
    pub(crate) file: &'a SourceFile,
    pub(crate) pipeline: String,
    pub(crate) recording: &'a Recording,
    /// The rewrites of all passes.
    pub(crate) rewrites: &'a [Record],
    /// The rules in force, to say why they hold.
    pub(crate) rules: Option<&'a RuleSet>,
    /// The time since some fixed moment.
    #[cfg_attr(not(feature = "jit"), expect(dead_code, reason = "nothing is run"))]
    pub(crate) now: &'a dyn Fn() -> Duration,
}
