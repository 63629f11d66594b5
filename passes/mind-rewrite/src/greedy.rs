//! The greedy driver: fold, drop and rewrite until nothing changes.

use std::collections::VecDeque;

use mind_diag::{Diagnostic, Diagnostics, Severity};
use mind_ir::builder::Builder;
use mind_ir::opdef::{Folded, Trait};
use mind_ir::tensor::Tensor;
use mind_ir::{Graph, OpId, ValueId};

use crate::worklist::Worklist;
use crate::{ConstantLimit, PatternSet, Rewriter, fold_to_constants};

/// How the greedy driver works.
#[derive(Clone, Copy)]
pub struct GreedyConfig {
    /// Makes a constant from a tensor.
    pub constant: fn(&mut Builder<'_>, &Tensor) -> ValueId,
    /// Whether ops with constant operands are evaluated.
    pub evaluate: bool,
    /// How large a folded constant may grow.
    pub constant_limit: ConstantLimit,
    /// How many rewrites there may be per op of the input; more is an error.
    pub rewrites_per_op: usize,
}

impl GreedyConfig {
    /// The usual bounds, with a way to make constants.
    pub fn new(constant: fn(&mut Builder<'_>, &Tensor) -> ValueId) -> GreedyConfig {
        GreedyConfig {
            constant,
            evaluate: true,
            constant_limit: ConstantLimit::default(),
            rewrites_per_op: 64,
        }
    }
}

/// What a run did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GreedyReport {
    /// Ops whose own fold rule replaced them.
    pub folded: usize,
    /// Ops evaluated to constants.
    pub evaluated: usize,
    /// Dead ops dropped.
    pub erased: usize,
    /// How often each pattern acted, by name, in the order in which they first did.
    pub applied: Vec<(String, usize)>,
}

impl GreedyReport {
    /// Whether the module is different.
    pub fn changed(&self) -> bool {
        self.folded + self.evaluated + self.erased > 0 || !self.applied.is_empty()
    }

    fn count(&mut self, name: &str) {
        match self.applied.iter_mut().find(|(own, _)| own == name) {
            Some((_, count)) => *count += 1,
            None => self.applied.push((name.to_owned(), 1)),
        }
    }
}

/// Rewriting that went on past its bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotConverged {
    /// How many rewrites were made.
    pub rewrites: usize,
    /// The last patterns that acted, latest last.
    pub last: Vec<String>,
}

/// Rewrites every op of `g`, in every block, until no pattern acts; ops with constant operands are
/// evaluated, ops that fold are replaced, dead ones dropped. What a pattern declined goes to `missed`.
///
/// Errors: more rewrites than the configuration allows.
pub fn apply(
    g: &mut Graph,
    patterns: &PatternSet,
    config: &GreedyConfig,
    mut missed: Option<&mut Diagnostics>,
) -> Result<GreedyReport, NotConverged> {
    let mut worklist = Worklist::default();
    let ops: Vec<OpId> = g.walk().collect();
    ops.iter().rev().for_each(|&op| worklist.push(op));
    let bound = config.rewrites_per_op * ops.len() + 1024;
    let mut report = GreedyReport::default();
    let (mut rewrites, mut last) = (0, VecDeque::new());
    while let Some(op) = worklist.pop() {
        if g.parent(op).is_none() {
            continue;
        }
        let mut rw = Rewriter::new(g, &mut worklist, config.constant);
        if is_dead(&rw, op) {
            rw.erase(op);
            report.erased += 1;
            continue;
        }
        let Some(name) = step(
            &mut rw,
            op,
            patterns,
            config,
            missed.as_deref_mut(),
            &mut report,
        ) else {
            continue;
        };
        rewrites += 1;
        last.push_back(name);
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
    Ok(report)
}

/// The name of what changed `op`, if anything did.
fn step<'p>(
    rw: &mut Rewriter<'_>,
    op: OpId,
    patterns: &'p PatternSet,
    config: &GreedyConfig,
    mut missed: Option<&mut Diagnostics>,
    report: &mut GreedyReport,
) -> Option<&'p str> {
    let def = rw.def(op);
    if let Some(Folded::Value(value)) = def.fold.and_then(|fold| fold(op, rw))
        && rw.replace(op, value).is_ok()
    {
        report.folded += 1;
        return Some("fold");
    }
    if config.evaluate
        && let Some(tensors) = fold_to_constants(rw, op, config.constant_limit)
        && let [tensor] = tensors.as_slice()
    {
        let value = rw.constant(op, tensor);
        if rw.replace(op, value).is_ok() {
            report.evaluated += 1;
            return Some("evaluate");
        }
    }
    for &index in patterns.of(def) {
        let pattern = patterns.get(index);
        match pattern.rewrite(op, rw) {
            Ok(()) => {
                report.count(pattern.name());
                return Some(pattern.name());
            }
            Err(miss) => {
                if let Some(missed) = missed.as_deref_mut() {
                    let message = format!("{} did not act: {}", pattern.name(), miss.0);
                    missed.push(Diagnostic::new(Severity::Remark, rw.span(op), message));
                }
            }
        }
    }
    None
}

/// Whether running `op` is not observable and nothing reads its results.
fn is_dead(g: &Graph, op: OpId) -> bool {
    g.def(op).has(Trait::Pure) && g.results(op).iter().all(|value| g.uses(value).is_empty())
}

/// Drops every op that no output depends on, in every block; the count of ops dropped.
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
