//! Cutting a module into regions.
//!
//! Cuts depend on content near them, so that an edit moves no cut far away.

use std::hash::{Hash, Hasher};
use std::ops::Range;

use mind_ir::graph::Graph;
use mind_ir::{OpId, ValueId};
use rustc_hash::FxHasher;

use crate::limits::Limits;
use mind_rules::OpTable;

/// From the least size on, one op in this many starts a region whatever is live there.
const CUT_EVERY: u64 = 256;

/// The ops of the module's body in order, and where each stands.
pub(crate) struct Program {
    pub(crate) ops: Vec<OpId>,
    /// The position of each op by its id; `u32::MAX` for ops elsewhere.
    positions: Vec<u32>,
}

impl Program {
    /// The body of `g`.
    pub(crate) fn of(g: &Graph) -> Program {
        let ops: Vec<OpId> = g.ops(g.body()).collect();
        let mut positions = vec![u32::MAX; g.op_bound()];
        for (at, op) in ops.iter().enumerate() {
            positions[op.index()] = at as u32;
        }
        Program { ops, positions }
    }

    /// Where `op` stands in the body.
    pub(crate) fn position(&self, op: OpId) -> Option<usize> {
        let position = *self.positions.get(op.index())?;
        (position != u32::MAX).then_some(position as usize)
    }

    /// Where `value` is defined, if by an op of the body.
    pub(crate) fn definition(&self, g: &Graph, value: ValueId) -> Option<usize> {
        self.position(g.defining_op(value)?)
    }
}

/// The regions of the program, in order. With `shifted`, the first one is cut at half the size, so that
/// what lay across a cut lies inside a region.
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

/// How many computed values are live before each op. Inputs and constants do not count.
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

/// A hash of the op, its attributes, its type and the ops it reads to depth 2; of no id.
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
