//! What the steps of programs take.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mind_diag::Span;
use mind_ir::OpId;
use mind_ir::graph::Graph;
use mind_ir::opdef::Trait;
use mind_ir::types::DType;
use mind_loops::extents::known;
use mind_vir::program::Step;

/// The most events that are kept; later ones are counted alone.
const MOST_EVENTS: usize = 1 << 20;

/// Measures the steps of every program that is compiled with it.
///
/// A step of control flow takes the time of the steps inside, which have rows of their own.
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

/// A step, and what its runs took together.
#[derive(Clone, Debug)]
pub struct Row {
    /// What the step does.
    pub origin: Origin,
    /// Its kind: the name of a kernel's op without the dialect, `gather`, `copy`, the name of an op that runs by its
    /// `eval`, or of control flow.
    pub kind: &'static str,
    /// Bytes that it reads and writes in one run.
    pub bytes: u64,
    /// Multiply-adds of products in one run.
    pub products: u64,
    /// How deep in regions of control flow it is.
    pub depth: usize,
    /// How often it ran.
    pub runs: u64,
    /// What the runs took together.
    pub total: Duration,
}

/// The ops that a step was made of.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// Each op with its place in the source, in order.
    pub ops: Vec<(&'static str, Span)>,
    /// Type of the elements of the first operand, or of the first result where there is no operand.
    pub dtype: Option<DType>,
    /// Extents of the first result.
    pub shape: Vec<usize>,
}

/// One run of a step.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// The number of its row.
    pub row: usize,
    /// When it began, from when the profiler was made.
    pub start: Duration,
    /// How long it took.
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
    /// Forgets the runs so far.
    pub fn clear(&self) {
        let mut state = self.state();
        state.events.clear();
        for row in &mut state.rows {
            (row.runs, row.total) = (0, Duration::ZERO);
        }
    }

    /// The steps of all programs, in the order in which these were compiled and the steps run.
    pub fn rows(&self) -> Vec<Row> {
        self.state().rows.clone()
    }

    /// The runs, in the order in which they ended, up to the first million.
    pub fn events(&self) -> Vec<Event> {
        self.state().events.clone()
    }

    /// Adds the steps of a program at `depth`, and returns the number of the first row.
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

    /// Counts a run of a step that began at `start` and ends now.
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
    /// What a kernel was made of: the ops of the module that are in its body, or the op itself where there are none.
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

/// Appends the ops that the regions of `op` compute with, without their dialect.
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
