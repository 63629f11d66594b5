//! Options and records of rewrites.

use clap::ArgMatches;
use mind_cli::bisect::Bisect;
use mind_diag::{Diagnostic, SourceFile, Span};
use mind_driver::explain::{Explain, Story};
use mind_driver::formats::Format;
use mind_driver::history::Record;
use mind_ir::Graph;
use mind_ir::listener::{Rewrite, RuleTime};
use mind_pass::{Drawing, RewriteOptions};

use super::remarks::Remarks;
use super::{egraph, report};

/// The time of a rule in a pass.
#[derive(Clone, Debug)]
pub(super) struct TimedRule {
    pub(super) pass: &'static str,
    pub(super) rule: String,
    pub(super) time: RuleTime,
}

/// Options and records of rewrites, for all parts of the input.
pub(super) struct Rewrites<'a> {
    file: &'a SourceFile,
    pub(super) bisect: Bisect,
    pub(super) remarks: Remarks,
    pub(super) explain: Option<Explain>,
    /// The e-graph to draw.
    pub(super) drawing: Option<Drawing>,
    /// Whether rules are timed.
    pub(super) timed: bool,
    /// Whether rewrites are recorded even if none has to be explained.
    pub(super) keeps: bool,
    /// The current pass.
    pub(super) pass: &'static str,
    /// The op that it visits.
    pub(super) at: Span,
    /// The rewrites of the current part of the input.
    pub(super) history: Vec<Record>,
    /// The times of rules by pass.
    pub(super) times: Vec<TimedRule>,
    /// The lines of `--opt-bisect-limit`.
    pub(super) listing: String,
    listed: u64,
}

impl<'a> Rewrites<'a> {
    /// Returns options that allow all rewrites and record none.
    pub(super) fn new(file: &'a SourceFile) -> Rewrites<'a> {
        Rewrites {
            file,
            bisect: Bisect::all(),
            remarks: Remarks::default(),
            explain: None,
            drawing: None,
            timed: false,
            keeps: false,
            pass: "",
            at: Span::FILE,
            history: Vec::new(),
            times: Vec::new(),
            listing: String::new(),
            listed: 0,
        }
    }

    /// Reads the options of the command line.
    ///
    /// # Errors
    ///
    /// Errors, in one line, if a value is invalid.
    pub(super) fn from_args(
        matches: &ArgMatches,
        file: &'a SourceFile,
        rewriting: &RewriteOptions,
    ) -> Result<Rewrites<'a>, String> {
        let word = |name: &str| matches.get_one::<String>(name).map(String::as_str);
        let mut rewrites = Rewrites::new(file);
        if let Some(text) = word("remarks") {
            rewrites.remarks =
                Remarks::parse(text).map_err(|error| format!("--remarks: {error}"))?;
        }
        if let Some(text) = word("opt-bisect-limit") {
            let bisect = Bisect::parse(text);
            rewrites.bisect = bisect.map_err(|error| format!("--opt-bisect-limit: {error}"))?;
        }
        rewrites.explain = word("explain").map(|text| Explain::parse(text, rewriting));
        rewrites.timed = word("timing").is_some();
        rewrites.keeps = report::path(matches).is_some() || rewrites.explain.is_some();
        rewrites.drawing = egraph::drawing(matches)?;
        Ok(rewrites)
    }

    /// Returns the rules named by flags, with the flags.
    pub(super) fn named(&self) -> Vec<(&'static str, String)> {
        let explained = self.explain.as_ref().and_then(Explain::rule);
        let explained = explained.map(|rule| ("--explain", rule.to_owned()));
        let counted = self.bisect.rule.clone();
        let counted = counted.map(|rule| ("--opt-bisect-limit", rule));
        explained.into_iter().chain(counted).collect()
    }

    /// Returns the output of `--explain`.
    ///
    /// # Errors
    ///
    /// Errors if the output lacks the value.
    pub(super) fn explanation(&self, g: &Graph, format: Format) -> Result<String, String> {
        let Some(explain) = &self.explain else {
            return Ok(String::new());
        };
        let story = Story::new(self.file, &self.history, g, format);
        story.explain(explain)
    }

    /// Called when a pass starts.
    pub(super) fn enter(&mut self, pass: &'static str) {
        self.pass = pass;
        self.at = Span::FILE;
    }

    /// Adds the time of a rule in the current pass.
    pub(super) fn spent(&mut self, rule: &str, time: RuleTime) {
        let pass = self.pass;
        let own = |timed: &&mut TimedRule| timed.pass == pass && timed.rule == rule;
        match self.times.iter_mut().find(own) {
            Some(timed) => {
                timed.time.matching += time.matching;
                timed.time.applying += time.applying;
            }
            None => self.times.push(TimedRule {
                pass,
                rule: rule.to_owned(),
                time,
            }),
        }
    }

    /// Records a rewrite.
    pub(super) fn applied(&mut self, g: &Graph, rewrite: &Rewrite<'_>) {
        let rules: Vec<&str> = rewrite.steps.iter().map(|step| step.rule).collect();
        let counted = self.bisect.counts(&rules);
        self.listed += u64::from(counted);
        let listed = counted && (self.bisect.lists || self.bisect.last() == Some(self.listed));
        if !listed && !self.remarks.shows_passed() && !self.keeps {
            return;
        }
        let record = Record::new(self.pass, g, rewrite);
        self.remarks.passed(&record);
        if listed {
            let line = record.line(self.file);
            self.listing
                .push_str(&format!("{:>6}  {line}\n", self.listed));
        }
        if self.keeps {
            self.history.push(record);
        }
    }

    /// Returns whether missed matches of `rule` have to be reported.
    pub(super) fn observes_missed(&self, rule: &str) -> bool {
        let explained = self
            .explain
            .as_ref()
            .is_some_and(|explain| explain.records_missed(rule));
        explained || self.remarks.shows_missed(rule)
    }

    /// Records a note of the current pass; warnings are always reported.
    pub(super) fn noted(&mut self, note: &Diagnostic) {
        let mut note = note.clone();
        note.message = format!("{}: {}", self.pass, note.message);
        self.remarks.noted(note);
    }

    /// Records that a rule did not fire.
    pub(super) fn missed(&mut self, span: Span, rule: &str, reason: &str) {
        if self.remarks.shows_missed(rule) {
            self.remarks.missed(self.pass, rule, span, reason);
        }
        if let Some(explain) = &mut self.explain {
            explain.missed(self.file, self.pass, rule, span, reason);
        }
    }
}
