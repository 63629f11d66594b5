//! The greedy driver: fold, drop and rewrite until nothing changes.

use std::collections::VecDeque;
use std::time::Duration;

use indexmap::IndexMap;
use mind_ir::builder::Builder;
use mind_ir::listener::{Listener, Rewrite, RuleTime, Step};
use mind_ir::opdef::{Folded, Trait};
use mind_ir::tensor::Tensor;
use mind_ir::{Graph, OpId, ValueId};
use rustc_hash::FxBuildHasher;

use crate::candidates::Candidates;
use crate::worklist::Worklist;
use crate::{ConstantLimit, PatternSet, Rewriter, fold_to_constants};

/// Name under which folds by an op's own fold hook are reported.
pub const FOLD: &str = "fold-op";

/// Name under which evaluations of ops with constant operands are reported.
pub const EVALUATE: &str = "evaluate";

/// Configuration of the greedy driver.
#[derive(Clone, Copy)]
pub struct GreedyConfig {
    /// Creates a constant op from a tensor.
    pub constant: fn(&mut Builder<'_>, &Tensor) -> ValueId,
    /// Whether ops with constant operands are evaluated.
    pub evaluate: bool,
    /// Limit on the size of folded constants.
    pub constant_limit: ConstantLimit,
    /// Bound on the number of rewrites per op of the input; exceeding it is an error.
    pub rewrites_per_op: usize,
}

impl GreedyConfig {
    /// Returns the default bounds; `constant` creates constant ops.
    pub fn new(constant: fn(&mut Builder<'_>, &Tensor) -> ValueId) -> GreedyConfig {
        GreedyConfig {
            constant,
            evaluate: true,
            constant_limit: ConstantLimit::default(),
            rewrites_per_op: 64,
        }
    }
}

/// Statistics of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GreedyReport {
    /// Ops replaced by their own fold hook.
    pub folded: usize,
    /// Ops evaluated to constants.
    pub evaluated: usize,
    /// Dead ops dropped.
    pub erased: usize,
    /// Applications of each pattern, by name, in order of first application.
    pub applied: IndexMap<String, usize, FxBuildHasher>,
}

impl GreedyReport {
    /// Returns whether the module changed.
    pub fn changed(&self) -> bool {
        self.folded + self.evaluated + self.erased > 0 || !self.applied.is_empty()
    }

    /// Adds the statistics of another run on the same module.
    pub fn add(&mut self, other: GreedyReport) {
        self.folded += other.folded;
        self.evaluated += other.evaluated;
        self.erased += other.erased;
        for (name, count) in other.applied {
            *self.applied.entry(name).or_default() += count;
        }
    }

    fn count(&mut self, name: &str) {
        match self.applied.get_mut(name) {
            Some(count) => *count += 1,
            None => _ = self.applied.insert(name.to_owned(), 1),
        }
    }
}

/// Rewriting exceeded its bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotConverged {
    /// The number of rewrites.
    pub rewrites: usize,
    /// The last patterns that were applied, latest last.
    pub last: Vec<String>,
}

/// Rewrites every op of `g`, in every block, to a fixed point: evaluates ops with constant operands, folds ops, erases
/// dead ones and applies patterns. `listener` observes each rewrite and each declined pattern; erasing a dead op does
/// not count as a rewrite.
///
/// # Errors
///
/// Errors if the number of rewrites exceeds the configured bound.
pub fn apply(
    g: &mut Graph,
    patterns: &PatternSet,
    config: &GreedyConfig,
    listener: &mut dyn Listener,
) -> Result<GreedyReport, NotConverged> {
    let mut worklist = Worklist::default();
    let ops: Vec<OpId> = g.walk().collect();
    ops.iter().rev().for_each(|&op| worklist.push(op));
    let bound = config.rewrites_per_op * ops.len() + 1024;
    let mut report = GreedyReport::default();
    let (mut rewrites, mut last) = (0, VecDeque::new());
    let mut observed = Observed::new(patterns, listener);
    let mut candidates = Candidates::new(patterns);
    while let Some(op) = worklist.pop() {
        if g.parent(op).is_none() {
            continue;
        }
        listener.visit(g.span(op));
        let mut rw = Rewriter::new(g, &mut worklist, config.constant);
        if is_dead(&rw, op) {
            rw.erase(op);
            report.erased += 1;
            continue;
        }
        let step = step(
            &mut rw,
            op,
            &mut candidates,
            config,
            listener,
            &mut observed,
            &mut report,
        );
        let Some(acted) = step else { continue };
        let (values, helpers) = rw.into_values(op);
        notify(g, op, &acted, &values, &helpers, listener);
        rewrites += 1;
        last.push_back(acted.name);
        if last.len() > 8 {
            last.pop_front();
        }
        if rewrites > bound {
            return Err(NotConverged {
                rewrites,
                last: last.into_iter().map(str::to_owned).collect(),
            });
        }
    }
    observed.report(listener);
    Ok(report)
}

/// The pattern or fold that changed an op.
struct Acted<'p> {
    name: &'p str,
    /// Its rule file and line, if it has one.
    place: Option<(&'p str, usize)>,
    class: &'p str,
}

impl<'p> Acted<'p> {
    fn built_in(name: &'p str) -> Acted<'p> {
        Acted {
            name,
            place: None,
            class: "exact",
        }
    }
}

fn notify(
    g: &Graph,
    op: OpId,
    acted: &Acted<'_>,
    values: &[ValueId],
    helpers: &[ValueId],
    listener: &mut dyn Listener,
) {
    let admitted = listener.admit(&[acted.name]);
    debug_assert!(admitted, "only what is admitted was tried");
    let step = Step {
        rule: acted.name,
        place: acted.place,
        class: acted.class,
        reversed: false,
        span: g.span(op),
    };
    let rewrite = Rewrite {
        op,
        values,
        helpers,
        steps: &[step],
        cost: None,
    };
    listener.applied(g, &rewrite);
}

/// Tries to change `op`; returns the pattern or fold that did.
fn step<'p>(
    rw: &mut Rewriter<'_>,
    op: OpId,
    candidates: &mut Candidates<'p>,
    config: &GreedyConfig,
    listener: &mut dyn Listener,
    observed: &mut Observed<'p>,
    report: &mut GreedyReport,
) -> Option<Acted<'p>> {
    let def = rw.def(op);
    if let Some(fold) = def.fold
        && listener.admits(&[FOLD])
        && let Some(folded) = fold(op, rw)
    {
        let value = match folded {
            Folded::Value(value) => value,
            Folded::Number(number) => rw.constant(op, &Tensor::scalar(number)),
        };
        if rw.replace(op, value).is_ok() {
            report.folded += 1;
            return Some(Acted::built_in(FOLD));
        }
    }
    if config.evaluate
        && listener.admits(&[EVALUATE])
        && let Some(tensors) = fold_to_constants(rw, op, config.constant_limit)
        && let [tensor] = tensors.as_slice()
    {
        let value = rw.constant(op, tensor);
        if rw.replace(op, value).is_ok() {
            report.evaluated += 1;
            return Some(Acted::built_in(EVALUATE));
        }
    }
    let patterns = candidates.patterns;
    for &index in candidates.of(rw, op, |index| observed.is_explained(index)) {
        let pattern = patterns.get(index);
        let name = pattern.name();
        if !listener.admits(&[name]) {
            continue;
        }
        let started = listener.now();
        let result = pattern.rewrite(op, rw);
        observed.add(name, started, listener);
        match result {
            Ok(()) => {
                report.count(name);
                return Some(Acted {
                    name,
                    place: pattern.place(),
                    class: pattern.class(),
                });
            }
            Err(miss) if observed.is_explained(index) => listener.missed(rw.span(op), name, miss.0),
            Err(_) => {}
        }
    }
    None
}

/// The listener's interests, by pattern.
struct Observed<'p> {
    /// Whether the listener wants reasons for failed matches, by pattern number.
    explained: Vec<bool>,
    /// Time spent in each pattern, in order of first use.
    times: IndexMap<&'p str, RuleTime, FxBuildHasher>,
}

impl<'p> Observed<'p> {
    fn new(patterns: &PatternSet, listener: &dyn Listener) -> Observed<'p> {
        let explained = patterns.names().map(|name| listener.observes_missed(name));
        Observed {
            explained: explained.collect(),
            times: IndexMap::default(),
        }
    }

    /// Returns whether the listener wants reasons for failed matches of this pattern.
    fn is_explained(&self, pattern: u32) -> bool {
        self.explained[pattern as usize]
    }

    /// Adds the time since `started` to that of `name`. Matching and applying a pattern are not timed separately.
    fn add(&mut self, name: &'p str, started: Option<Duration>, listener: &dyn Listener) {
        let (Some(started), Some(now)) = (started, listener.now()) else {
            return;
        };
        self.times.entry(name).or_default().matching += now.saturating_sub(started);
    }

    fn report(self, listener: &mut dyn Listener) {
        for (name, time) in self.times {
            listener.spent(name, time);
        }
    }
}

/// Returns whether `op` is pure and its results are unused.
fn is_dead(g: &Graph, op: OpId) -> bool {
    g.def(op).has(Trait::Pure) && g.results(op).iter().all(|value| g.uses(value).is_empty())
}

/// Erases every dead op, in every block; returns their number.
pub fn erase_dead(g: &mut Graph) -> usize {
    let mut ops: Vec<OpId> = g.walk().collect();
    let mut erased = 0;
    while let Some(op) = ops.pop() {
        if g.parent(op).is_some() && is_dead(g, op) {
            g.erase(op);
            erased += 1;
        }
    }
    erased
}
