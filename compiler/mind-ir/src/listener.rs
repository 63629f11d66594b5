//! Observers of rewrites.
//!
//! Engines and passes that rewrite take a [`Listener`]. Tools implement it to count, limit, time and explain rewrites.

use std::time::Duration;

use mind_diag::{Diagnostic, Span};

use crate::{Graph, OpId, ValueId};

/// Observes rewrites and may veto them. The default methods allow every rewrite and record nothing.
pub trait Listener {
    /// Returns whether a rewrite by these rules would be allowed, without recording it.
    fn admits(&self, rules: &[&str]) -> bool {
        let _ = rules;
        true
    }

    /// Called before each rewrite; returns whether the rewrite is allowed. For each allowed rewrite,
    /// [`applied`](Listener::applied) is called afterwards, in the same order.
    fn admit(&mut self, rules: &[&str]) -> bool {
        self.admits(rules)
    }

    /// Called after each rewrite.
    fn applied(&mut self, g: &Graph, rewrite: &Rewrite<'_>) {
        let _ = (g, rewrite);
    }

    /// Returns whether [`missed`](Listener::missed) should be called for this rule. Engines ask because finding the
    /// reason may take time.
    fn observes_missed(&self, rule: &str) -> bool {
        let _ = rule;
        false
    }

    /// Called when a rule did not apply to the op at `span`, although the op has the kind of the rule's root.
    fn missed(&mut self, span: Span, rule: &str, reason: &str) {
        let _ = (span, rule, reason);
    }

    /// Called with a remark, for example that a search was cut short, or with a warning, for example that rules
    /// contradict each other.
    fn noted(&mut self, note: &Diagnostic) {
        let _ = note;
    }

    /// Called before the op at `span` is visited.
    fn visit(&mut self, span: Span) {
        let _ = span;
    }

    /// Returns the time since a fixed moment; `None` if rules are not timed.
    fn now(&self) -> Option<Duration> {
        None
    }

    /// Called with the time that a rule took.
    fn spent(&mut self, rule: &str, time: RuleTime) {
        let _ = (rule, time);
    }
}

/// A listener that allows every rewrite and records nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NoopListener;

impl Listener for NoopListener {}

/// The time that a rule took.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RuleTime {
    /// Time to search for matches.
    pub matching: Duration,
    /// Time to apply them.
    pub applying: Duration,
}

/// A rewrite that was applied.
#[derive(Clone, Copy, Debug)]
pub struct Rewrite<'a> {
    /// The op that was rewritten. If it was erased, its table entry, source location and results can still be read.
    pub op: OpId,
    /// The values that replace the op's results; the results themselves if the op was changed in place.
    pub values: &'a [ValueId],
    /// Other values that were created for the rewrite.
    pub helpers: &'a [ValueId],
    /// The rules or patterns that led to the rewrite, in order.
    pub steps: &'a [Step<'a>],
    /// The modelled cost of the ops that were optimised together.
    pub cost: Option<CostChange>,
}

/// A rule or pattern that led to a rewrite.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step<'a> {
    /// The name of the rule.
    pub rule: &'a str,
    /// The rule file and the line of the rule; `None` if it is built in.
    pub place: Option<(&'a str, usize)>,
    /// The name of its class of exactness.
    pub class: &'a str,
    /// Whether it was applied from right to left.
    pub reversed: bool,
    /// The source location of the op at which it matched.
    pub span: Span,
}

impl<'a> Step<'a> {
    /// Returns the step of a built-in pattern or pass, which is exact, at the op at `span`.
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
