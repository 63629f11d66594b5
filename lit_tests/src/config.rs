//! Settings of a run of the suite.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mind_cli::ToolInfo;
use mind_driver::host::Tool;

use crate::sandbox::Sandbox;
use crate::semantics::Semantics;
use crate::tool::capture;

/// All tools that command lines may call.
pub const TOOLS: &[ToolInfo] = &[
    mind_fmt::TOOL,
    mind_opt::TOOL,
    mind_reduce::TOOL,
    mind_run::TOOL,
    mind_translate::TOOL,
];

/// The settings of a run.
#[derive(Debug, Clone)]
pub struct Config {
    /// The folder of test files; test names are paths relative to it.
    pub root: PathBuf,
    /// The folder of the tests' scratch folders.
    pub scratch: PathBuf,
    /// The tools that RUN lines may call, by command name.
    pub tools: &'static [ToolInfo],
    /// The features for `REQUIRES:`, `UNSUPPORTED:`, `XFAIL:` and `%if`.
    pub features: BTreeSet<String>,
    /// How input and output of a transforming command are compared; `None` to skip the comparison.
    pub semantics: Option<Semantics>,
    /// Whether stale generated blocks are rewritten instead of reported.
    pub bless: bool,
    /// The time limit of a test.
    pub time_limit: Duration,
}

/// Returns the features that `mind-opt --lit-features` prints, so that `REQUIRES:` means the same in LLVM's lit.
pub fn features(tools: &[ToolInfo], scratch: &Path) -> BTreeSet<String> {
    let Some(mind_opt) = tools.iter().find(|tool| tool.name == "mind-opt") else {
        return BTreeSet::new();
    };
    let printed = capture(
        mind_opt.run,
        &["--lit-features"],
        "",
        &Sandbox::absent(scratch),
    );
    printed
        .stdout
        .split_whitespace()
        .map(str::to_owned)
        .collect()
}

impl Config {
    /// Returns the tool called `name`.
    pub fn tool(&self, name: &str) -> Option<Tool> {
        self.tools
            .iter()
            .find(|tool| tool.name == name)
            .map(|tool| tool.run)
    }
}
