//! What is computed once, when weights are bound.

use mind_core::ops::input::Input;
use mind_ir::opdef::Trait;
use mind_ir::{Graph, OpId, ValueId};
use mind_loops::memory::{ALIGNMENT, buffer, bytes, is_kernel};
use mind_loops::ops::bitcast::Bitcast;
use mind_loops::ops::evaluate::Evaluate;
use mind_loops::ops::movement::Pack;
use rustc_hash::{FxHashMap, FxHashSet};

/// The ops that run once, and where those of their results are that no run reads.
#[derive(Debug, Default)]
pub(super) struct Fixed {
    ops: FxHashSet<OpId>,
    /// Where in the workspace the buffers are that only ops read which run once. Runs write there later.
    passing: FxHashMap<ValueId, u64>,
}

impl Fixed {
    /// A kernel that reads nothing but constants and weights runs once, unless it makes an output; what has no kernel, in
    /// each run.
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
        let passing = passing(g, &ops);
        Fixed {
            ops: ops.into_iter().collect(),
            passing,
        }
    }

    /// Whether an op runs once.
    pub(super) fn contains(&self, op: OpId) -> bool {
        self.ops.contains(&op)
    }

    /// Where in the workspace a value is until all that reads it has run, while weights are bound; `None` of what
    /// runs read.
    pub(super) fn passes_at(&self, value: ValueId) -> Option<u64> {
        self.passing.get(&value).copied()
    }
}

/// Places in the workspace for the results of `ops`, which run once, that nothing else reads. Values share a place
/// where one is read for the last time before the other is made, or is a bitcast of it.
fn passing(g: &Graph, ops: &[OpId]) -> FxHashMap<ValueId, u64> {
    let numbers: FxHashMap<OpId, usize> = ops.iter().copied().zip(0..).collect();
    // What a bitcast makes of another result has the place of that.
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
    let mut places = Places::default();
    let mut passing = FxHashMap::default();
    for (number, &op) in ops.iter().enumerate() {
        for value in g.results(op) {
            let last = last_reads.get(&source(value)).copied().unwrap_or(number);
            // Panels have sizes of their own.
            if last == usize::MAX || g.is::<Pack>(op) {
                continue;
            }
            let at = match sources.get(&value) {
                Some(source) => passing.get(source).copied(),
                None => Some(places.place(bytes(g, value), number, last)),
            };
            passing.extend(at.map(|at| (value, at)));
        }
    }
    passing
}

/// The bytes that are taken, by their start, each with the last time when they are.
#[derive(Default)]
struct Places(Vec<(u64, u64, usize)>);

impl Places {
    /// The lowest place for `bytes` bytes that is free from the time `now` until `last`.
    fn place(&mut self, bytes: u64, now: usize, last: usize) -> u64 {
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
    fn what_is_there_at_one_time_shares_no_byte() {
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
        let mut places = Places::default();
        let placed = lives.map(|(bytes, now, last)| {
            let at = places.place(bytes, now, last);
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
        // The second place is free again when the fourth value is made.
        assert_eq!(placed[1].0, placed[3].0);
    }
}
