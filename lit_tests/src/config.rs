//! What a run of the suite is told from outside.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mind_driver::host::Tool;

use crate::sandbox::Sandbox;
use crate::semantics::Semantics;
use crate::tool::capture;

/// The settings of a run.
#[derive(Debug, Clone)]
pub struct Config {
    /// The folder of test files; test names are paths relative to it.
    pub root: PathBuf,
    /// Where each test gets a folder of its own.
    pub scratch: PathBuf,
    /// The tools that RUN lines may call, by command name.
    pub tools: &'static [(&'static str, Tool)],
    /// What `REQUIRES:`, `UNSUPPORTED:`, `XFAIL:` and `%if` see.
    pub features: BTreeSet<String>,
    /// How input and output of a transforming command are compared, if at all.
    pub semantics: Option<Semantics>,
    /// Whether stale generated blocks are rewritten instead of reported.
    pub bless: bool,
    /// How long one test may take.
    pub time_limit: Duration,
}

/// The features that `mind-opt --lit-features` prints, so that `REQUIRES:` means the same in LLVM's lit.
pub fn features(tools: &[(&str, Tool)], scratch: &Path) -> BTreeSet<String> {
    let mind_opt = tools.iter().find(|(name, _)| *name == "mind-opt");
    let Some(&(_, mind_opt)) = mind_opt else {
        return BTreeSet::new();
    };
    let printed = capture(mind_opt, &["--lit-features"], "", &Sandbox::absent(scratch));
    printed
        .stdout
        .split_whitespace()
        .map(str::to_owned)
        .collect()
}

impl Config {
    /// The tool of that name.
    pub fn tool(&self, name: &str) -> Option<Tool> {
        self.tools
            .iter()
            .find(|(known, _)| *known == name)
            .map(|&(_, tool)| tool)
    }
}
