//! Saturates a region: rounds of matching and applying rules, phase by phase.

use mind_ir::listener::{Listener, NoopListener};
use rustc_hash::FxHashSet;

use crate::egraph::rebuild::rebuild;
use crate::limits::Limits;
use crate::load::Loaded;
use crate::report::{KeptReason, RuleStats};
use crate::saturate::apply::{Outcome, Site, apply};
use crate::saturate::changed_classes::ChangedClasses;
use crate::saturate::class_nodes::ClassNodes;
use crate::saturate::merge::merge;
use crate::search::{Hit, InEgraph, Query, Root, RuleIndex, View, since};
use crate::solve::Goal;
use mind_rules::Phase;
use mind_rules::matching::pattern::Effect;

/// Computes the most rounds of a phase in a region.
type Rounds = fn(&Limits, &Loaded<'_>) -> usize;

/// The phases in order, each with its limit of rounds. The rules of earlier phases remain active in later ones. When
/// fusing, [`IDIOM`] comes after these, and then the fusions.
const PHASES: [(Phase, Rounds); 4] = [
    (Phase::Simplify, |limits, _| limits.simplify_rounds),
    (Phase::Layout, |limits, region| {
        if region.convolves() {
            limits.convolution_layout_rounds
        } else {
            limits.layout_rounds
        }
    }),
    (Phase::Merge, |limits, _| limits.merge_rounds),
    (Phase::Reassociate, |limits, _| limits.reassociate_rounds),
];

/// The last phase when fusing. Only its own rules are active, because only fusions read the forms that they make.
const IDIOM: [Phase; 1] = [Phase::Idiom];

/// Rewrites the region to a fixed point or until limits are reached. Returns the limits that were reached.
pub(crate) fn saturate(
    loaded: &mut Loaded<'_>,
    goal: Goal,
    index: &RuleIndex<'_>,
    limits: &Limits,
    stats: &mut [RuleStats],
    listener: &dyn Listener,
) -> Vec<KeptReason> {
    let mut search = Search {
        index,
        limits,
        stats,
        listener,
        changed: ChangedClasses::default(),
        known: FxHashSet::default(),
        tried: FxHashSet::default(),
        left_out: false,
        reasons: Vec::new(),
    };
    let phases = PHASES.map(|(phase, _)| phase);
    for (at, (phase, rounds)) in PHASES.into_iter().enumerate() {
        if !index.has(phase) || phase == Phase::Merge && !search.merge(loaded) {
            continue;
        }
        let rounds = rounds(limits, loaded);
        if !search.rounds(loaded, &phases[..=at], rounds) {
            return search.reasons;
        }
    }
    if goal == Goal::Fuse && index.has(Phase::Idiom) {
        search.rounds(loaded, &IDIOM, limits.idiom_rounds);
    }
    search.reasons
}

/// The search over one region.
struct Search<'s> {
    index: &'s RuleIndex<'s>,
    limits: &'s Limits,
    stats: &'s mut [RuleStats],
    listener: &'s dyn Listener,
    changed: ChangedClasses,
    /// The matches whose two sides are in one class already. They are found again, because a changed class is searched
    /// as a whole.
    known: FxHashSet<Hit<'s>>,
    /// All matches so far, in debug builds.
    tried: FxHashSet<Hit<'s>>,
    /// Whether a rule reached the limit of matches. The classes that were skipped are not reported as changed again.
    left_out: bool,
    reasons: Vec<KeptReason>,
}

impl<'s> Search<'s> {
    /// Applies the rules of `phases` to a fixed point, at most `rounds` times; returns false if the search must end.
    ///
    /// The last of `phases` is new: its rules are searched at every class first, those of the other phases only where
    /// something changed.
    fn rounds(&mut self, loaded: &mut Loaded<'_>, phases: &[Phase], rounds: usize) -> bool {
        let ops = loaded.ops.len().max(16);
        for round in 0..rounds {
            let Some((uses, hits)) = self.matches(loaded, phases, round == 0) else {
                return true;
            };
            if !self.apply(loaded, &uses, hits) {
                return true;
            }
            rebuild(&mut loaded.egraph);
            if loaded.egraph.analysis.contradiction.is_some() {
                return false;
            }
            let size = loaded.egraph.nodes().len();
            if size > self.limits.growth * ops {
                self.reasons.push(KeptReason::Nodes(size));
                return false;
            }
        }
        self.reasons.push(KeptReason::Rounds(rounds));
        true
    }

    /// Returns the matches of the rules of `phases` at changed classes, by root, and the number of readers of each
    /// class. If `everywhere`, the rules of the last phase are searched at every class. `None` if nothing changed.
    fn matches(
        &mut self,
        loaded: &Loaded<'_>,
        phases: &[Phase],
        everywhere: bool,
    ) -> Option<(Vec<u32>, Vec<Hit<'s>>)> {
        if everywhere && std::mem::take(&mut self.left_out) {
            self.changed = ChangedClasses::default();
        }
        let view = self.index.view(&loaded.egraph);
        let new = self
            .changed
            .since_last_call(&loaded.egraph, &view, self.index.depth);
        if new.is_empty() && !everywhere {
            return None;
        }
        let uses = loaded.uses();
        let subject = InEgraph {
            egraph: &loaded.egraph,
            uses: &uses,
            view: None,
        };
        let limit = self.limits.matches * loaded.ops.len().max(16);
        let all = if everywhere { view.roots() } else { Vec::new() };
        let begun = if everywhere {
            phases.len() - 1
        } else {
            phases.len()
        };
        let (known, begins) = phases.split_at(begun);
        let mut hits = Vec::new();
        for (roots, phases) in [(&all, begins), (&new, known)] {
            let query = Query {
                roots,
                phases,
                limit,
            };
            let stats = &mut *self.stats;
            hits.extend(
                self.index
                    .matches(subject, &view, &query, stats, self.listener),
            );
        }
        if everywhere {
            hits.sort_by_key(|hit: &Hit<'_>| (hit.found.registers[0], hit.form));
        }
        self.note_limit(&hits, limit);
        if cfg!(debug_assertions) && !self.left_out {
            let roots: Vec<Root> = new.iter().map(|root| Root::changed(root.class)).collect();
            let query = Query {
                roots: &roots,
                phases: known,
                limit,
            };
            self.check_complete(subject, &view, &query, &hits);
        }
        Some((uses, hits))
    }

    /// Checks that every match of `query` is in `hits` or was found before, so that skipping roots by distance lost
    /// nothing.
    fn check_complete(
        &mut self,
        subject: InEgraph<'_, '_>,
        view: &View<'_>,
        query: &Query<'_>,
        hits: &[Hit<'s>],
    ) {
        self.tried.extend(hits.iter().cloned());
        let mut stats = vec![RuleStats::default(); self.stats.len()];
        let all = (self.index).matches(subject, view, query, &mut stats, &NoopListener);
        let rewrites = |hit: &&Hit<'s>| matches!(hit.rule.effect, Effect::Rewrite(_));
        let mut all = all.iter().filter(rewrites);
        let missed = all.find(|hit| !self.tried.contains(*hit));
        if let Some(hit) = missed {
            panic!(
                "a match of form {} was not looked for: {:?}",
                hit.form, hit.found
            );
        }
    }

    /// Records the forms that reached the limit of matches.
    fn note_limit(&mut self, hits: &[Hit<'_>], limit: usize) {
        if hits.len() < limit {
            return;
        }
        let mut counts: Vec<usize> = Vec::new();
        for hit in hits {
            if counts.len() <= hit.form {
                counts.resize(hit.form + 1, 0);
            }
            counts[hit.form] += 1;
            let reason = KeptReason::Matches(hit.rule.name);
            if counts[hit.form] == limit && !self.reasons.contains(&reason) {
                self.reasons.push(reason);
            }
            self.left_out |= counts[hit.form] == limit;
        }
    }

    /// Applies the rules at their matches; returns whether the e-graph changed.
    fn apply(&mut self, loaded: &mut Loaded<'_>, uses: &[u32], hits: Vec<Hit<'s>>) -> bool {
        if hits.is_empty() {
            return false;
        }
        let class_nodes = ClassNodes::of(&loaded.egraph);
        let before = loaded.egraph.nodes().len();
        let mut united = false;
        for hit in hits {
            let Hit { rule, found, .. } = &hit;
            let Effect::Rewrite(template) = &rule.effect else {
                continue;
            };
            let stat = &mut self.stats[rule.name.index()];
            stat.matched += 1;
            if self.known.contains(&hit) {
                continue;
            }
            let started = self.listener.now();
            let site = Site {
                rule,
                uses,
                class_nodes: &class_nodes,
            };
            let outcome = apply(&mut loaded.egraph, site, template, found);
            stat.time.applying += since(started, self.listener);
            match outcome {
                Outcome::Applied => {
                    stat.applied += 1;
                    united = true;
                }
                Outcome::Refused => {
                    stat.refused += 1;
                    continue;
                }
                Outcome::Known => {}
            }
            self.known.insert(hit);
        }
        united || loaded.egraph.nodes().len() > before
    }

    /// Applies the merge rules; returns whether anything was merged.
    fn merge(&mut self, loaded: &mut Loaded<'_>) -> bool {
        let uses = loaded.uses();
        let mut hits = {
            let view = self.index.view(&loaded.egraph);
            let subject = InEgraph {
                egraph: &loaded.egraph,
                uses: &uses,
                view: None,
            };
            let query = Query {
                roots: &view.roots(),
                phases: &[Phase::Merge],
                limit: self.limits.matches * loaded.ops.len().max(16),
            };
            let stats = &mut *self.stats;
            self.index
                .matches(subject, &view, &query, stats, self.listener)
        };
        if hits.is_empty() {
            return false;
        }
        hits.sort_by_key(|hit| hit.form);
        let class_nodes = ClassNodes::of(&loaded.egraph);
        let mut hits = hits.into_iter().peekable();
        while let Some(Hit { form, rule, found }) = hits.next() {
            let mut all = vec![found];
            while let Some(hit) = hits.next_if(|hit| hit.form == form) {
                all.push(hit.found);
            }
            let Effect::Merge(template, join) = &rule.effect else {
                continue;
            };
            let started = self.listener.now();
            let stats = &mut self.stats[rule.name.index()];
            let site = Site {
                rule,
                uses: &uses,
                class_nodes: &class_nodes,
            };
            merge(loaded, site, (template, *join), all, stats);
            stats.time.applying += since(started, self.listener);
        }
        rebuild(&mut loaded.egraph);
        !loaded.merges.is_empty()
    }
}
