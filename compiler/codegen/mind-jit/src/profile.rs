//! Per-step profiles of programs.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mind_diag::Span;
use mind_ir::OpId;
use mind_ir::graph::Graph;
use mind_ir::opdef::Trait;
use mind_ir::types::DType;
use mind_loops::extents::known;
use mind_vir::program::Step;

/// Maximum number of events kept; later ones only update the totals.
const MOST_EVENTS: usize = 1 << 20;

/// Measures the steps of every program that is compiled with it.
///
/// The time of a control-flow step includes the steps inside, which also have rows.
#[derive(Debug)]
pub struct Profiler {
    began: Instant,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    rows: Vec<Row>,
    events: Vec<Event>,
}

/// A step and the accumulated time of its runs.
#[derive(Clone, Debug)]
pub struct Row {
    /// The ops that the step was compiled from.
    pub origin: Origin,
    /// Kind of the step: for a kernel the name of its op without the dialect, `gather`, `copy`, or the name of the
    /// evaluated or control-flow op.
    pub kind: &'static str,
    /// Bytes read and written by one run.
    pub bytes: u64,
    /// Multiply-adds of matrix products in one run.
    pub products: u64,
    /// Nesting depth in regions of control flow.
    pub depth: usize,
    /// Number of runs.
    pub runs: u64,
    /// Total time of the runs.
    pub total: Duration,
}

/// The ops that a step was compiled from.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// Each op with its source location, in order.
    pub ops: Vec<(&'static str, Span)>,
    /// Dtype of the first operand, or of the first result if it has no operands.
    pub dtype: Option<DType>,
    /// Extents of the first result.
    pub shape: Vec<usize>,
}

/// One run of a step.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// Index of its row.
    pub row: usize,
    /// Start time, relative to the creation of the profiler.
    pub start: Duration,
    /// Duration.
    pub time: Duration,
}

impl Default for Profiler {
    fn default() -> Profiler {
        Profiler {
            began: Instant::now(),
            state: Mutex::default(),
        }
    }
}

impl Profiler {
    /// Discards the runs so far.
    pub fn clear(&self) {
        let mut state = self.state();
        state.events.clear();
        for row in &mut state.rows {
            (row.runs, row.total) = (0, Duration::ZERO);
        }
    }

    /// Returns the steps of all programs, in the order of compilation and, within a program, of execution.
    pub fn rows(&self) -> Vec<Row> {
        self.state().rows.clone()
    }

    /// Returns the runs in the order in which they ended, up to the first 2²⁰.
    pub fn events(&self) -> Vec<Event> {
        self.state().events.clone()
    }

    /// Adds the steps of a program at `depth` and returns the index of the first row.
    pub(crate) fn add(&self, steps: &[Step], origins: &[Origin], depth: usize) -> usize {
        let mut state = self.state();
        let first = state.rows.len();
        let rows = steps.iter().zip(origins).map(|(step, origin)| Row {
            origin: origin.clone(),
            kind: kind(step),
            bytes: step
                .regions()
                .iter()
                .map(|region| region.bytes as u64)
                .sum(),
            products: match step {
                Step::Call(call) => call.products,
                Step::Gather(_) | Step::Transfer(_) | Step::Evaluate(_) | Step::Control(_) => 0,
            },
            depth,
            runs: 0,
            total: Duration::ZERO,
        });
        state.rows.extend(rows);
        first
    }

    /// Records a run of a step that began at `start` and ends now.
    pub(crate) fn record(&self, row: usize, start: Instant) {
        let time = start.elapsed();
        let start = start.saturating_duration_since(self.began);
        let mut state = self.state();
        state.rows[row].runs += 1;
        state.rows[row].total += time;
        if state.events.len() < MOST_EVENTS {
            state.events.push(Event { row, start, time });
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn kind(step: &Step) -> &'static str {
    match step {
        Step::Call(call) => call.op.rsplit('.').next().unwrap_or(call.op),
        Step::Gather(_) => "gather",
        Step::Transfer(_) => "copy",
        Step::Evaluate(call) => call.op,
        Step::Control(control) => control.op,
    }
}

impl Origin {
    /// Returns the origin of a kernel: the ops in its body, or the op itself if the body has none.
    pub(crate) fn of(g: &Graph, op: OpId) -> Origin {
        let mut ops = Vec::new();
        collect(g, op, &mut ops);
        if ops.is_empty() {
            ops.push((g.def(op).short_name(), g.span(op)));
        }
        let result = g.results(op).into_iter().next();
        let first = g.operands(op).first().copied().or(result);
        Origin {
            ops,
            dtype: first.map(|value| g.ty(value).dtype),
            shape: result.map_or_else(Vec::new, |value| known(g, value)),
        }
    }
}

/// Appends the ops in the regions of `op`, by their names without the dialect; constants and terminators are left out.
fn collect(g: &Graph, op: OpId, ops: &mut Vec<(&'static str, Span)>) {
    for &region in g.regions(op) {
        for inner in g.ops(g.block(region)) {
            let def = g.def(inner);
            if def.has(Trait::Terminator) || def.has(Trait::Constant) {
                continue;
            }
            match g.regions(inner) {
                [] => ops.push((def.short_name(), g.span(inner))),
                _ => collect(g, inner, ops),
            }
        }
    }
}
