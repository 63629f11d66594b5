//! Cuts a module into regions.
//!
//! Cuts depend on nearby content only, so that an edit does not move distant cuts.

use std::hash::{Hash, Hasher};
use std::ops::Range;

use mind_ir::graph::Graph;
use mind_ir::{OpId, ValueId};
use rustc_hash::FxHasher;

use crate::limits::Limits;
use mind_rules::OpTable;

/// The rate of content-defined cuts: beyond the least size, one op in this many starts a region regardless of the
/// number of live values.
const CUT_EVERY: u64 = 256;

/// The ops of the module's body in order, and their positions.
pub(crate) struct Program {
    pub(crate) ops: Vec<OpId>,
    /// The position of each op by its id; `u32::MAX` for ops outside the body.
    positions: Vec<u32>,
}

impl Program {
    /// Collects the body of `g`.
    pub(crate) fn of(g: &Graph) -> Program {
        let ops: Vec<OpId> = g.ops(g.body()).collect();
        let mut positions = vec![u32::MAX; g.op_bound()];
        for (at, op) in ops.iter().enumerate() {
            positions[op.index()] = at as u32;
        }
        Program { ops, positions }
    }

    /// Returns the position of `op`; `None` if it is outside the body.
    pub(crate) fn position(&self, op: OpId) -> Option<usize> {
        let position = *self.positions.get(op.index())?;
        (position != u32::MAX).then_some(position as usize)
    }

    /// Returns the position of the op that defines `value`; `None` if no op of the body does.
    pub(crate) fn definition(&self, g: &Graph, value: ValueId) -> Option<usize> {
        self.position(g.defining_op(value)?)
    }
}

/// Returns the regions of the program in order. If `shifted`, the first one has half the size, so that ops around an
/// unshifted cut are within a region.
pub(crate) fn regions(
    g: &Graph,
    program: &Program,
    table: &OpTable,
    limits: &Limits,
    shifted: bool,
) -> Vec<Range<usize>> {
    let live = live_values(g, program, table);
    let mut regions = Vec::new();
    let mut start = 0;
    let mut half = shifted;
    while start < program.ops.len() {
        let scale = |size: usize| if half { size / 2 } else { size }.max(1);
        let end = cut(
            g,
            program,
            &live,
            start,
            scale(limits.region_least),
            scale(limits.region_most),
        );
        regions.push(start..end);
        (start, half) = (end, false);
    }
    regions
}

fn cut(
    g: &Graph,
    program: &Program,
    live: &[u32],
    start: usize,
    least: usize,
    most: usize,
) -> usize {
    let len = program.ops.len();
    if len - start <= most {
        return len;
    }
    let content = |at: usize| content_hash(g, program.ops[at]);
    let early = (start + least..start + most)
        .find(|&at| live[at] <= 1 || content(at).is_multiple_of(CUT_EVERY));
    early.unwrap_or_else(|| {
        let last = start + most - most / 4..=start + most;
        last.min_by_key(|&at| (live[at], content(at)))
            .unwrap_or(start + most)
    })
}

/// Counts the values that are live before each op. Inputs and constants do not count.
fn live_values(g: &Graph, program: &Program, table: &OpTable) -> Vec<u32> {
    let len = program.ops.len();
    let mut last_use = vec![0usize; len];
    for (at, &op) in program.ops.iter().enumerate() {
        for &operand in g.operands(op) {
            if let Some(definition) = program.definition(g, operand) {
                last_use[definition] = at;
            }
        }
    }
    let mut change = vec![0i64; len + 1];
    for (at, &op) in program.ops.iter().enumerate() {
        if table.transparent(g.def(op)).is_some() && last_use[at] > at {
            change[at + 1] += 1;
            change[last_use[at] + 1] -= 1;
        }
    }
    let mut live = 0;
    change[..len]
        .iter()
        .map(|change| {
            live += change;
            live as u32
        })
        .collect()
}

/// Returns a hash of the op, its attributes, its type, and the names of the ops it depends on to depth 2. Ids are not
/// hashed, because edits elsewhere change them.
fn content_hash(g: &Graph, op: OpId) -> u64 {
    let mut hasher = FxHasher::default();
    let def = g.def(op);
    def.name.hash(&mut hasher);
    g.attrs(op).hash(&mut hasher);
    for value in g.results(op) {
        g.ty(value).hash(&mut hasher);
    }
    for &operand in g.operands(op) {
        let Some(producer) = g.defining_op(operand) else {
            continue;
        };
        g.def(producer).name.hash(&mut hasher);
        for &inner in g.operands(producer) {
            let Some(producer) = g.defining_op(inner) else {
                continue;
            };
            g.def(producer).name.hash(&mut hasher);
        }
    }
    hasher.finish()
}
