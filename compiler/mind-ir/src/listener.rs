//! What is asked before rewrites and told of them.
//!
//! Engines and passes that rewrite take a [`Listener`]; tools implement it to count, limit, time and
//! explain rewrites.

use std::time::Duration;

use mind_diag::{Diagnostic, Span};

use crate::{Graph, OpId, ValueId};

/// Hears of rewrites and may hold them back. Every method has a default that lets all pass unheard.
pub trait Listener {
    /// Whether a rewrite by these rules would be let through.
    fn admits(&self, rules: &[&str]) -> bool {
        let _ = rules;
        true
    }

    /// Lets a rewrite by these rules through, or not. One that is let through is then made, and
    /// [`applied`](Listener::applied) called for it, in the same order.
    fn admit(&mut self, rules: &[&str]) -> bool {
        self.admits(rules)
    }

    /// A rewrite was made.
    fn applied(&mut self, g: &Graph, rewrite: &Rewrite<'_>) {
        let _ = (g, rewrite);
    }

    /// Whether [`missed`](Listener::missed) is to be called for this rule: the reason may cost time.
    fn hears_missed(&self, rule: &str) -> bool {
        let _ = rule;
        false
    }

    /// A rule did not act on the op at `span`, which is of the kind that it starts from.
    fn missed(&mut self, span: Span, rule: &str, reason: &str) {
        let _ = (span, rule, reason);
    }

    /// Called with a remark on a search that was cut, or with a warning, for example that rules contradict each other.
    fn noted(&mut self, note: &Diagnostic) {
        let _ = note;
    }

    /// What stands at `span` is looked at next.
    fn visit(&mut self, span: Span) {
        let _ = span;
    }

    /// The time since some fixed moment, where rules are to be timed.
    fn now(&self) -> Option<Duration> {
        None
    }

    /// A rule took this long.
    fn spent(&mut self, rule: &str, time: RuleTime) {
        let _ = (rule, time);
    }
}

/// A listener that lets every rewrite pass and records none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NoopListener;

impl Listener for NoopListener {}

/// How long a rule took.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RuleTime {
    /// Looking for places where it acts.
    pub matching: Duration,
    /// Acting on them.
    pub applying: Duration,
}

/// A rewrite that was made.
#[derive(Clone, Copy, Debug)]
pub struct Rewrite<'a> {
    /// The op that was rewritten. It may be erased: its row, place and results are still to be read.
    pub op: OpId,
    /// What readers of the op's results read now; the results themselves where it changed in place.
    pub values: &'a [ValueId],
    /// Other values that were made for it.
    pub helpers: &'a [ValueId],
    /// What led there, in order.
    pub steps: &'a [Step<'a>],
    /// The modelled cost of what was optimised together.
    pub cost: Option<CostChange>,
}

/// A rule or pattern that led to a rewrite.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step<'a> {
    /// Its name.
    pub rule: &'a str,
    /// Where it is written: a rule file and the line there.
    pub place: Option<(&'a str, usize)>,
    /// The words of its class.
    pub class: &'a str,
    /// Whether it was read from right to left.
    pub reversed: bool,
    /// Where the op stands at which it matched.
    pub span: Span,
}

impl<'a> Step<'a> {
    /// A pattern or pass that keeps every bit and stands in no rule file, at the op at `span`.
    pub fn built_in(rule: &'a str, span: Span) -> Step<'a> {
        Step {
            rule,
            place: None,
            class: "exact",
            reversed: false,
            span,
        }
    }
}

/// A modelled cost before and after a rewrite, in picoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CostChange {
    /// The cost before.
    pub before: u64,
    /// The cost after.
    pub after: u64,
}
