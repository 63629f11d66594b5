//! Contents of the page.

use std::time::Duration;

use mind_diag::SourceFile;
use mind_driver::history::Record;
use mind_rules::RuleSet;

use super::recording::Recording;

/// The data that a page shows.
pub(crate) struct Subject<'a> {
    pub(crate) file: &'a SourceFile,
    pub(crate) pipeline: String,
    pub(crate) recording: &'a Recording,
    /// The rewrites of all passes.
    pub(crate) rewrites: &'a [Record],
    /// The enabled rules, for justifications.
    pub(crate) rules: Option<&'a RuleSet>,
    /// The time since an arbitrary epoch.
    #[cfg_attr(not(feature = "jit"), expect(dead_code, reason = "nothing is run"))]
    pub(crate) now: &'a dyn Fn() -> Duration,
}
