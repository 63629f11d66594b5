//! Rewriting a region: rounds of matching and applying, phase by phase.

use std::time::Duration;

use egg::Id;
use mind_ir::listener::Listener;

use crate::apply::{Outcome, Site, apply};
use crate::egraph::analysis::{Data, Eg};
use crate::egraph::language::Head;
use crate::fast_math::FastMath;
use crate::limits::Limits;
use crate::load::Loaded;
use crate::members::Members;
use crate::merge::merge;
use crate::pattern::{Effect, Rule};
use crate::report::{KeptReason, RuleStats};
use crate::rule_info::Phase;
use crate::ruleset::RuleSet;
use crate::search::{InEgraph, search};

/// Rewrites the region until nothing changes or a limit is reached, which is returned.
pub(crate) fn saturate(
    loaded: &mut Loaded<'_>,
    rules: &RuleSet,
    classes: FastMath,
    limits: &Limits,
    stats: &mut [RuleStats],
    listener: &dyn Listener,
) -> Vec<KeptReason> {
    let depth = rules
        .rules
        .iter()
        .map(|rule| rule.pattern.depth())
        .max()
        .unwrap_or(0);
    let mut search = Search {
        rules,
        limits,
        depth,
        stats,
        listener,
        reasons: Vec::new(),
    };
    let phases = [
        (Phase::Simplify, limits.simplify_rounds),
        (Phase::Layout, limits.layout_rounds),
        (Phase::Merge, limits.merge_rounds),
        (Phase::Reassociate, limits.reassociate_rounds),
    ];
    for (phase, rounds) in phases {
        let acts = |rule: &&Rule| rule.engine.in_egraph() && classes.allows(rule.class);
        let active: Vec<&Rule> = rules.rules.iter().filter(acts).collect();
        let own = active.iter().any(|rule| rule.phase == phase);
        if !own || phase == Phase::Merge && !search.merge(loaded, &active) {
            continue;
        }
        let earlier =
            |rule: &&Rule| rule.phase <= phase && matches!(rule.effect, Effect::Rewrite(_));
        let active: Vec<&Rule> = active.into_iter().filter(earlier).collect();
        if !search.rounds(loaded, &active, rounds) {
            break;
        }
    }
    search.reasons
}

/// A search over one region.
struct Search<'s> {
    rules: &'s RuleSet,
    limits: &'s Limits,
    /// How many ops lie on the longest way from the root of a pattern.
    depth: usize,
    stats: &'s mut [RuleStats],
    listener: &'s dyn Listener,
    reasons: Vec<KeptReason>,
}

impl Search<'_> {
    /// Applies `active` until nothing changes, at most `rounds` times; false where the search is to end.
    fn rounds(&mut self, loaded: &mut Loaded<'_>, active: &[&Rule], rounds: usize) -> bool {
        let ops = loaded.ops.len().max(16);
        let mut changed = Changed::everything(&loaded.egraph);
        for _ in 0..rounds {
            let uses = loaded.uses();
            let members = Members::of(&loaded.egraph);
            let roots = roots_by_op(&loaded.egraph, self.rules, &changed.classes);
            let limit = self.limits.matches * ops;
            let present = present(&loaded.egraph, roots.len());
            let mut all = Vec::new();
            for &rule in active {
                let roots = &roots[rule.pattern.root.index()];
                if roots.is_empty() || !rule.pattern.ops().all(|op| present[op.index()]) {
                    continue;
                }
                let started = self.listener.now();
                let subject = InEgraph {
                    egraph: &loaded.egraph,
                    uses: &uses,
                };
                let found = search(subject, rule, roots, limit);
                self.stats[rule.name.index()].time.matching += since(started, self.listener);
                let reason = KeptReason::Matches(rule.name);
                if found.len() >= limit && !self.reasons.contains(&reason) {
                    self.reasons.push(reason);
                }
                all.extend(found.into_iter().map(|found| (rule, found)));
            }
            all.sort_by_key(|(_, found)| found.registers[0]);
            for (rule, found) in all {
                let Effect::Rewrite(template) = &rule.effect else {
                    continue;
                };
                let stat = &mut self.stats[rule.name.index()];
                stat.matched += 1;
                let started = self.listener.now();
                let outcome = {
                    let site = Site {
                        rule,
                        uses: &uses,
                        members: &members,
                    };
                    apply(&mut loaded.egraph, site, template, &found)
                };
                stat.time.applying += since(started, self.listener);
                match outcome {
                    Outcome::Applied => stat.applied += 1,
                    Outcome::Refused => stat.refused += 1,
                    Outcome::Known => {}
                }
            }
            loaded.egraph.rebuild();
            changed = changed.next(&loaded.egraph, self.depth);
            if loaded.egraph.analysis.contradiction {
                return false;
            }
            if changed.classes.is_empty() {
                break;
            }
            let size = loaded.egraph.nodes().len();
            if size > self.limits.growth * ops {
                self.reasons.push(KeptReason::Nodes(size));
                return false;
            }
        }
        true
    }

    /// Merges the matches of the rules that do so; whether there was something to merge.
    fn merge(&mut self, loaded: &mut Loaded<'_>, active: &[&Rule]) -> bool {
        let uses = loaded.uses();
        let members = Members::of(&loaded.egraph);
        let roots = roots_by_op(&loaded.egraph, self.rules, &all_classes(&loaded.egraph));
        let limit = self.limits.matches * loaded.ops.len().max(16);
        for &rule in active {
            let Effect::Merge(template, join) = &rule.effect else {
                continue;
            };
            let roots = &roots[rule.pattern.root.index()];
            let subject = InEgraph {
                egraph: &loaded.egraph,
                uses: &uses,
            };
            let started = self.listener.now();
            let found = search(subject, rule, roots, limit);
            let searched = self.listener.now();
            let stats = &mut self.stats[rule.name.index()];
            stats.time.matching += since(started, self.listener);
            let site = Site {
                rule,
                uses: &uses,
                members: &members,
            };
            merge(loaded, site, (template, *join), found, stats);
            stats.time.applying += since(searched, self.listener);
        }
        loaded.egraph.rebuild();
        !loaded.merges.is_empty()
    }
}

/// Which of the `ops` ops stand in the e-graph.
fn present(egraph: &Eg<'_>, ops: usize) -> Vec<bool> {
    let mut present = vec![false; ops];
    for node in egraph.nodes() {
        if let Head::Op(op) = node.head {
            present[op.index()] = true;
        }
    }
    present
}

/// The time since `started`; zero where rules are not timed.
pub(crate) fn since(started: Option<Duration>, listener: &dyn Listener) -> Duration {
    let passed = started
        .zip(listener.now())
        .map(|(started, now)| now.saturating_sub(started));
    passed.unwrap_or_default()
}

/// The classes of `classes` that hold an e-node of each op, ascending.
pub(crate) fn roots_by_op(egraph: &Eg<'_>, rules: &RuleSet, classes: &[Id]) -> Vec<Vec<Id>> {
    let mut roots = vec![Vec::new(); rules.ops.defs().len()];
    for &class in classes {
        for node in &egraph[class].nodes {
            let Head::Op(op) = node.head else { continue };
            let list: &mut Vec<Id> = &mut roots[op.index()];
            if list.last() != Some(&class) {
                list.push(class);
            }
        }
    }
    roots
}

/// Every class, ascending.
pub(crate) fn all_classes(egraph: &Eg<'_>) -> Vec<Id> {
    (0..egraph.nodes().len())
        .map(Id::from)
        .filter(|&id| egraph.find(id) == id)
        .collect()
}

/// The classes at which a rule may match that did not before.
struct Changed {
    classes: Vec<Id>,
    /// What each id stood for and what its class knew.
    seen: Vec<(Id, Data)>,
}

impl Changed {
    fn everything(egraph: &Eg<'_>) -> Changed {
        Changed {
            classes: all_classes(egraph),
            seen: Changed::look(egraph),
        }
    }

    fn look(egraph: &Eg<'_>) -> Vec<(Id, Data)> {
        let known = |id: usize| {
            let class = egraph.find(Id::from(id));
            (class, egraph[class].data)
        };
        (0..egraph.nodes().len()).map(known).collect()
    }

    /// The classes that changed since, and those that read them over up to `depth` e-nodes.
    fn next(self, egraph: &Eg<'_>, depth: usize) -> Changed {
        let seen = Changed::look(egraph);
        let mut marked = vec![false; seen.len()];
        let mut frontier: Vec<Id> = Vec::new();
        for (id, now) in seen.iter().enumerate() {
            if self.seen.get(id) != Some(now)
                && !std::mem::replace(&mut marked[usize::from(now.0)], true)
            {
                frontier.push(now.0);
            }
        }
        let mut classes = frontier.clone();
        for _ in 1..depth {
            let mut above = Vec::new();
            for class in frontier {
                for parent in egraph[class].parents() {
                    let parent = egraph.find(parent);
                    if !std::mem::replace(&mut marked[usize::from(parent)], true) {
                        above.push(parent);
                    }
                }
            }
            classes.extend(&above);
            frontier = above;
        }
        classes.sort_unstable();
        Changed { classes, seen }
    }
}
