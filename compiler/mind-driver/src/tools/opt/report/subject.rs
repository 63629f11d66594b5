//! What the page tells.

use mind_diag::SourceFile;
use mind_eqsat::RuleSet;

use super::recording::Recording;
use crate::tools::opt::history::Record;

/// What a page is about.
pub(in crate::tools::opt) struct Subject<'a> {
    pub(in crate::tools::opt) file: &'a SourceFile,
    pub(in crate::tools::opt) pipeline: String,
    pub(in crate::tools::opt) recording: &'a Recording,
    /// The rewrites of all passes.
    pub(in crate::tools::opt) rewrites: &'a [Record],
    /// The rules in force, to say why they hold.
    pub(in crate::tools::opt) rules: Option<&'a RuleSet>,
}
