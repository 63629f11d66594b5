//! Implements `--report`, a page about a compilation.

mod costs;
#[cfg(feature = "jit")]
mod kernels;
mod page;
#[cfg(feature = "jit")]
mod programs;
mod recording;
mod rewrites;
mod sections;
mod subject;

use clap::{Arg, ArgMatches};

pub(super) use page::page;
pub(super) use recording::Recording;
pub(super) use subject::Subject;

pub(super) fn args() -> Vec<Arg> {
    let page = mind_cli::value(
        "report",
        "FILE",
        "write a page: the graph before and after every pass, rules, groups, \
                 kernels, times",
    );
    vec![page.conflicts_with("split-input-file")]
}

/// Returns the path of the page, if requested.
pub(super) fn path(matches: &ArgMatches) -> Option<&String> {
    matches.get_one("report")
}

/// Returns an empty recording, if a page is requested.
pub(super) fn recording(matches: &ArgMatches) -> Option<Recording> {
    path(matches).map(|_| Recording::default())
}
