//! Replacement for `--report` without the feature `report`: the option does not exist.

use std::time::Duration;

use clap::{Arg, ArgMatches};
use mind_diag::SourceFile;
use mind_driver::formats::Formats;
use mind_driver::history::Record;
use mind_ir::Graph;
use mind_pass::Changed;
use mind_rules::RuleSet;

/// Returns no arguments.
pub(super) fn args() -> Vec<Arg> {
    Vec::new()
}

/// Returns `None`, because the argument does not exist.
pub(super) fn path(_: &ArgMatches) -> Option<&String> {
    None
}

/// The uninhabited type of recordings.
pub(super) enum Recording {}

/// Returns `None`, because no page is requested.
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

/// The contents of a page.
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
