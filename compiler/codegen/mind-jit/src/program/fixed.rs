//! Values that are computed once, when weights are bound.

use mind_core::ops::input::Input;
use mind_ir::opdef::Trait;
use mind_ir::{Graph, OpId, ValueId};
use mind_loops::memory::{ALIGNMENT, buffer, bytes, is_kernel};
use mind_loops::ops::bitcast::Bitcast;
use mind_loops::ops::evaluate::Evaluate;
use mind_loops::ops::movement::Pack;
use rustc_hash::{FxHashMap, FxHashSet};

/// The ops that run once, and the workspace offsets of their temporaries: results that only such ops read.
#[derive(Debug, Default)]
pub(super) struct Fixed {
    ops: FxHashSet<OpId>,
    /// Offsets of temporaries. Runs reuse the memory later.
    temporaries: FxHashMap<ValueId, u64>,
}

impl Fixed {
    /// Finds the ops that run once: kernels that read only constants and weights and write no output. Ops without a
    /// kernel run every time.
    pub(super) fn of(g: &Graph) -> Fixed {
        let outputs: FxHashSet<ValueId> = g.outputs().iter().map(|&own| buffer(g, own)).collect();
        let mut stays: FxHashSet<ValueId> = FxHashSet::default();
        let mut ops: Vec<OpId> = Vec::new();
        for op in g.ops(g.body()) {
            let is_known = match g.view::<Input>(op) {
                Some(input) => input.param(g),
                None => g.def(op).has(Trait::Constant),
            };
            let runs_once = || {
                is_kernel(g, op)
                    && !g.is::<Evaluate>(op)
                    && g.operands(op)
                        .iter()
                        .all(|&own| stays.contains(&buffer(g, own)))
                    && !g.results(op).into_iter().any(|own| outputs.contains(&own))
            };
            if !is_known && runs_once() {
                ops.push(op);
                stays.extend(g.results(op));
            } else if is_known {
                stays.extend(g.results(op));
            }
        }
        let temporaries = temporaries(g, &ops);
        Fixed {
            ops: ops.into_iter().collect(),
            temporaries,
        }
    }

    /// Whether an op runs once.
    pub(super) fn contains(&self, op: OpId) -> bool {
        self.ops.contains(&op)
    }

    /// The workspace offset of a temporary, valid while weights are bound; `None` if runs read the value.
    pub(super) fn temporary(&self, value: ValueId) -> Option<u64> {
        self.temporaries.get(&value).copied()
    }
}

/// Allocates the results of `ops`, which run once, that nothing else reads. Values share memory if their live ranges
/// are disjoint, or if one is a bitcast of the other.
fn temporaries(g: &Graph, ops: &[OpId]) -> FxHashMap<ValueId, u64> {
    let numbers: FxHashMap<OpId, usize> = ops.iter().copied().zip(0..).collect();
    // A bitcast of another result shares its memory.
    let mut sources: FxHashMap<ValueId, ValueId> = FxHashMap::default();
    for &op in ops {
        let bitcast = g.view::<Bitcast>(op);
        let input = bitcast.map(|bitcast| buffer(g, bitcast.input(g)));
        let made = |&input: &ValueId| {
            g.defining_op(input)
                .is_some_and(|op| numbers.contains_key(&op))
        };
        if let Some(input) = input.filter(made) {
            let source = sources.get(&input).copied().unwrap_or(input);
            sources.insert(g.result(op), source);
        }
    }
    let source = |value: ValueId| {
        let value = buffer(g, value);
        sources.get(&value).copied().unwrap_or(value)
    };
    let mut last_reads: FxHashMap<ValueId, usize> = FxHashMap::default();
    for op in g.ops(g.body()).filter(|&op| is_kernel(g, op)) {
        let number = numbers.get(&op).copied().unwrap_or(usize::MAX);
        for &operand in g.operands(op) {
            let last = last_reads.entry(source(operand)).or_insert(number);
            *last = number.max(*last);
        }
    }
    let mut arena = Arena::default();
    let mut offsets = FxHashMap::default();
    for (number, &op) in ops.iter().enumerate() {
        for value in g.results(op) {
            let last = last_reads.get(&source(value)).copied().unwrap_or(number);
            // Panels have other sizes, and products read them.
            if last == usize::MAX || g.is::<Pack>(op) {
                continue;
            }
            let at = match sources.get(&value) {
                Some(source) => offsets.get(source).copied(),
                None => Some(arena.allocate(bytes(g, value), number, last)),
            };
            offsets.extend(at.map(|at| (value, at)));
        }
    }
    offsets
}

/// Start, end and last use of each live allocation, sorted by start.
#[derive(Default)]
struct Arena(Vec<(u64, u64, usize)>);

impl Arena {
    /// Returns the lowest offset where `bytes` bytes are free from step `now` to step `last`.
    fn allocate(&mut self, bytes: u64, now: usize, last: usize) -> u64 {
        self.0.retain(|&(_, _, until)| until >= now);
        let mut at = 0;
        for &(start, end, _) in &self.0 {
            if at + bytes <= start {
                break;
            }
            at = end.next_multiple_of(ALIGNMENT).max(at);
        }
        let nth = self.0.partition_point(|&(start, _, _)| start < at);
        self.0.insert(nth, (at, at + bytes, last));
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn live_allocations_do_not_overlap() {
        let lives = [
            (100, 0, 3),
            (64, 1, 1),
            (300, 1, 2),
            (10, 2, 9),
            (200, 3, 4),
            (0, 4, 5),
            (64, 4, 6),
            (1000, 5, 5),
        ];
        let mut arena = Arena::default();
        let placed = lives.map(|(bytes, now, last)| {
            let at = arena.allocate(bytes, now, last);
            assert_eq!(at % ALIGNMENT, 0);
            (at, at + bytes, now, last)
        });
        for (nth, &(start, end, now, last)) in placed.iter().enumerate() {
            for &(other_start, other_end, other_now, other_last) in &placed[..nth] {
                let at_one_time = now <= other_last && other_now <= last;
                let apart = end <= other_start || other_end <= start;
                assert!(!at_one_time || apart, "{placed:?}");
            }
        }
        // The second allocation is free again when the fourth is made.
        assert_eq!(placed[1].0, placed[3].0);
    }
}
