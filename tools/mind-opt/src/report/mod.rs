//! `--report`: a compilation as one page.

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

/// Where the page goes, if one is asked for.
pub(super) fn path(matches: &ArgMatches) -> Option<&String> {
    matches.get_one("report")
}

/// What keeps the states of the module for the page, if one is asked for.
pub(super) fn recording(matches: &ArgMatches) -> Option<Recording> {
    path(matches).map(|_| Recording::default())
}
