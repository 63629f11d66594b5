//! Index of the rules of a run by the op of their root.

use std::hash::{Hash, Hasher};
use std::time::Duration;

use egg::Id;
use mind_ir::listener::Listener;

use super::egraph::{InEgraph, Match, search_at};
use super::fingerprint::OpBits;
use super::prefilter::Prefilter;
use super::view::View;
use crate::egraph::analysis::Eg;
use crate::egraph::language::Head;
use crate::report::RuleStats;
use mind_rules::Channels;
use mind_rules::FastMath;
use mind_rules::Phase;
use mind_rules::RuleSet;
use mind_rules::matching::matcher::Workspace;
use mind_rules::matching::pattern::Rule;

/// The forms of rules that are active in a run, by the op of their root.
pub(crate) struct RuleIndex<'s> {
    /// The forms in the order of the rule files, each with its prefilter.
    rules: Vec<(&'s Rule, Prefilter)>,
    by_root: Vec<Vec<Start>>,
    bits: OpBits,
    /// The largest [`Start::depth`] of a rewrite.
    pub(crate) depth: usize,
}

/// A form of a rule, with the first test whether a class can match it.
struct Start {
    /// The bits that the children of the class must have; see
    /// [`Fingerprint::below`](super::fingerprint::Fingerprint::below).
    below: u64,
    phase: Phase,
    /// The number of ops on the longest path from the root of its pattern to a value.
    depth: usize,
    /// Its index among the forms.
    form: usize,
}

/// A class at which rules are searched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Root {
    /// The canonical id of the class.
    pub(crate) class: Id,
    /// The number of e-nodes between this class and the nearest changed class below it. Patterns that are less deep
    /// have no new matches here.
    pub(crate) distance: usize,
}

impl Root {
    /// Returns a root for a class that changed itself, or at which all patterns are searched.
    pub(crate) fn changed(class: Id) -> Root {
        Root { class, distance: 0 }
    }
}

/// A match of a rule, with the number of its form.
#[derive(Clone)]
pub(crate) struct Hit<'s> {
    pub(crate) form: usize,
    pub(crate) rule: &'s Rule,
    pub(crate) found: Match,
}

/// Hits are equal if they have the same right side: the same form and bindings. Matched e-nodes are not compared,
/// because the right side does not depend on them.
impl PartialEq for Hit<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.form == other.form
            && self.found.registers == other.found.registers
            && self.found.slots == other.found.slots
    }
}

impl Eq for Hit<'_> {}

impl Hash for Hit<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.form.hash(state);
        self.found.registers.hash(state);
        self.found.slots.hash(state);
    }
}

/// The classes and rules of a search.
pub(crate) struct Query<'q> {
    /// The classes to search, in ascending order.
    pub(crate) roots: &'q [Root],
    /// The phases of the rules to search.
    pub(crate) phases: &'q [Phase],
    /// The most matches of one form.
    pub(crate) limit: usize,
}

impl<'s> RuleIndex<'s> {
    /// Indexes the forms of `set` of the allowed classes that are active in the e-graph, for a target with this layout
    /// of channels.
    pub(crate) fn new(set: &'s RuleSet, classes: FastMath, channels: Channels) -> RuleIndex<'s> {
        let acts = |rule: &&Rule| rule.engine.in_egraph() && classes.allows(rule.class);
        let mut bits = OpBits::new(set.ops());
        let mut by_root: Vec<Vec<Start>> = Vec::new();
        by_root.resize_with(set.ops().defs().len(), Vec::new);
        let mut rules: Vec<(&Rule, Prefilter)> = Vec::new();
        for rule in set.compiled().iter().filter(acts) {
            let Some(phase) = rule.phase.for_target(channels) else {
                continue;
            };
            let prefilter = Prefilter::of(rule, &mut bits);
            by_root[rule.pattern.root.index()].push(Start {
                below: prefilter.below(),
                phase,
                depth: rule.pattern.depth(),
                form: rules.len(),
            });
            rules.push((rule, prefilter));
        }
        let starts = by_root.iter().flatten();
        let rewrites = starts.filter(|start| start.phase != Phase::Fusion);
        let depth = rewrites.map(|start| start.depth).max();
        RuleIndex {
            depth: depth.unwrap_or(0),
            rules,
            by_root,
            bits,
        }
    }

    /// Returns whether the index has a rule of `phase`.
    pub(crate) fn has(&self, phase: Phase) -> bool {
        self.by_root
            .iter()
            .flatten()
            .any(|start| start.phase == phase)
    }

    /// Returns a view of the current classes of `egraph`.
    pub(crate) fn view<'a>(&self, egraph: &'a Eg<'_>) -> View<'a> {
        View::new(egraph, &self.bits)
    }

    /// Returns the matches of `query`, by root and then by form. A form with as many matches as the limit may have
    /// more. The time of each rule is added to `stats`.
    pub(crate) fn matches(
        &self,
        subject: InEgraph<'_, '_>,
        view: &View<'_>,
        query: &Query<'_>,
        stats: &mut [RuleStats],
        listener: &dyn Listener,
    ) -> Vec<Hit<'s>> {
        let subject = InEgraph {
            view: Some(view),
            ..subject
        };
        let mut workspace = Workspace::default();
        let mut left: Vec<usize> = vec![query.limit; self.rules.len()];
        let mut hits: Vec<Hit<'s>> = Vec::new();
        for &Root {
            class: root,
            distance,
        } in query.roots
        {
            let Some(class) = view.class(root) else {
                continue;
            };
            let fingerprint = view.fingerprint(root);
            let first = hits.len();
            for nodes in class.nodes.chunk_by(|a, b| a.head == b.head) {
                let Head::Op(op) = nodes[0].head else {
                    continue;
                };
                let starts = self.by_root[op.index()].iter();
                let starts = starts.filter(|start| {
                    distance <= start.depth
                        && fingerprint.below & start.below == start.below
                        && query.phases.contains(&start.phase)
                });
                for &Start { form, .. } in starts {
                    let (rule, prefilter) = &self.rules[form];
                    let admits = nodes
                        .iter()
                        .any(|node| prefilter.admits(view, fingerprint, node));
                    if !admits || left[form] == 0 {
                        continue;
                    }
                    let started = listener.now();
                    let found = search_at(subject, rule, root, left[form], &mut workspace);
                    let time = &mut stats[rule.name.index()].time;
                    time.matching += since(started, listener);
                    left[form] -= found.len();
                    hits.extend(found.into_iter().map(|found| Hit { form, rule, found }));
                }
            }
            hits[first..].sort_by_key(|hit| hit.form);
        }
        hits
    }
}

/// Returns the time since `started`; zero if rules are not timed.
pub(crate) fn since(started: Option<Duration>, listener: &dyn Listener) -> Duration {
    let passed = started
        .zip(listener.now())
        .map(|(started, now)| now.saturating_sub(started));
    passed.unwrap_or_default()
}
