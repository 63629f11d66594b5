//! What stands in the place of `--report` where the feature `report` is off: the tool has no such option.

use std::time::Duration;

use clap::{Arg, ArgMatches};
use mind_diag::SourceFile;
use mind_driver::formats::Formats;
use mind_driver::history::Record;
use mind_ir::Graph;
use mind_pass::Changed;
use mind_rules::RuleSet;

/// No arguments.
pub(super) fn args() -> Vec<Arg> {
    Vec::new()
}

/// None, since there is no such argument.
pub(super) fn path(_: &ArgMatches) -> Option<&String> {
    None
}

/// Nothing is recorded.
pub(super) enum Recording {}

/// No recording, since no page is asked for.
pub(super) fn recording(_: &ArgMatches) -> Option<Recording> {
    None
}

impl Recording {
    /// Never called.
    pub(super) fn before(&mut self, _: &str, _: &Formats, _: &Graph, _: usize) {
        match *self {}
    }

    /// Never called.
    pub(super) fn after(&mut self, _: &Formats, _: &Graph, _: Changed, _: Duration, _: usize) {
        match *self {}
    }

    /// Never called.
    pub(super) fn finish(&mut self, _: &Formats, _: &Graph) {
        match *self {}
    }
}

/// What a page would be about.
#[expect(dead_code, reason = "no page tells it")]
pub(super) struct Subject<'a> {
    pub(super) file: &'a SourceFile,
    pub(super) pipeline: String,
    pub(super) recording: &'a Recording,
    pub(super) rewrites: &'a [Record],
    pub(super) rules: Option<&'a RuleSet>,
    pub(super) now: &'a dyn Fn() -> Duration,
}

/// Never called.
pub(super) fn page(subject: &Subject<'_>) -> String {
    match *subject.recording {}
}
