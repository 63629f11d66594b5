//! Buffer assignment: the offsets of results in the workspace.
//!
//! In program order, each result is assigned the first gap that is large enough; an elementwise result overwrites an
//! operand whose last reader it is. Outputs of the module are in buffers of the caller. Results that depend only on
//! weights and constants are placed after all others, because a program that computes them once, when weights are
//! bound, does not need their space.

use std::collections::BTreeMap;

use mind_core::ops::input::Input;
use mind_ir::attr::Attr;
use mind_ir::opdef::Trait;
use mind_ir::{Graph, OpId, ValueId};
use mind_loops::memory::{ALIGNMENT, buffer, bytes, is_kernel, last_reads, may_replace};
use rustc_hash::{FxHashMap, FxHashSet};

/// Assigns an offset to each result of the kernels of a module.
pub(crate) fn plan(g: &mut Graph) {
    let outputs: FxHashSet<ValueId> = g.outputs().iter().map(|&value| buffer(g, value)).collect();
    let fixed = fixed(g, &outputs);
    let end = plan_some(g, &outputs, 0, |op| !fixed.contains(&op));
    plan_some(g, &outputs, end, |op| fixed.contains(&op));
}

/// Returns the kernels that depend only on weights and constants and do not write an output.
fn fixed(g: &Graph, outputs: &FxHashSet<ValueId>) -> FxHashSet<OpId> {
    let mut fixed = FxHashSet::default();
    for op in g.ops(g.body()).filter(|&op| is_kernel(g, op)) {
        let stays = |&value: &ValueId| {
            g.defining_op(buffer(g, value)).is_some_and(|source| {
                let is_weight = g.view::<Input>(source).is_some_and(|input| input.param(g));
                is_weight || g.def(source).has(Trait::Constant) || fixed.contains(&source)
            })
        };
        let is_output = g
            .results(op)
            .into_iter()
            .any(|value| outputs.contains(&value));
        if !is_output && g.operands(op).iter().all(stays) {
            fixed.insert(op);
        }
    }
    fixed
}

/// Assigns offsets to the results of selected kernels, from byte `start` on. Returns the end of the last one.
fn plan_some(
    g: &mut Graph,
    outputs: &FxHashSet<ValueId>,
    start: u64,
    is_wanted: impl Fn(OpId) -> bool,
) -> u64 {
    let last = last_reads(g);
    let ops: Vec<OpId> = g.ops(g.body()).collect();
    let mut gaps = Gaps {
        end: start,
        ..Gaps::default()
    };
    let mut held: FxHashMap<ValueId, (u64, u64)> = FxHashMap::default();
    for (number, &op) in ops.iter().enumerate() {
        if is_kernel(g, op) && is_wanted(op) {
            let results: Vec<ValueId> = g.results(op).into_iter().collect();
            let mut offsets = Vec::with_capacity(results.len());
            for (index, &result) in results.iter().enumerate() {
                if outputs.contains(&result) {
                    offsets.push(-1);
                    continue;
                }
                let size = bytes(g, result).next_multiple_of(ALIGNMENT);
                let replaced = replaceable(g, op, index, number, &last)
                    .filter(|value| held.get(value).is_some_and(|&(_, own)| own >= size));
                let range = match replaced.and_then(|value| held.remove(&value)) {
                    Some(range) => range,
                    None => (gaps.take(size), size),
                };
                offsets.push(range.0 as i64);
                held.insert(result, range);
            }
            let at = g
                .def(op)
                .attr_index("at")
                .expect("a kernel has the attribute `at`");
            g.set_attr(op, at, Attr::Ints(&offsets));
        }
        let read = g.operands(op).iter().map(|&value| buffer(g, value));
        let unread = g
            .results(op)
            .into_iter()
            .filter(|value| !last.contains_key(value));
        let ended = read
            .filter(|value| last.get(value) == Some(&number))
            .chain(unread);
        for value in ended.collect::<Vec<_>>() {
            if let Some((start, size)) = held.remove(&value) {
                gaps.give(start, size);
            }
        }
    }
    gaps.end
}

/// Returns an operand of `op` that result `result` may overwrite, because it has no later reader.
fn replaceable(
    g: &Graph,
    op: OpId,
    result: usize,
    number: usize,
    last: &FxHashMap<ValueId, usize>,
) -> Option<ValueId> {
    let operands = g.operands(op).iter().enumerate();
    let mut dying = operands.filter(|&(_, &value)| last.get(&buffer(g, value)) == Some(&number));
    dying
        .find(|&(operand, _)| may_replace(g, op, operand, result))
        .map(|(_, &value)| buffer(g, value))
}

/// The free ranges of the workspace, which can grow.
#[derive(Default)]
struct Gaps {
    /// Sizes by start; adjacent ranges are merged.
    free: BTreeMap<u64, u64>,
    /// The end of the used part.
    end: u64,
}

impl Gaps {
    /// Allocates `size` bytes and returns the start.
    fn take(&mut self, size: u64) -> u64 {
        if size == 0 {
            return 0;
        }
        let found = self.free.iter().find(|(_, room)| **room >= size);
        if let Some((start, room)) = found.map(|(&start, &room)| (start, room)) {
            self.free.remove(&start);
            if room > size {
                self.free.insert(start + size, room - size);
            }
            return start;
        }
        let last = self
            .free
            .last_key_value()
            .map(|(&start, &room)| (start, room));
        let start = match last {
            Some((start, room)) if start + room == self.end => {
                self.free.remove(&start);
                start
            }
            _ => self.end,
        };
        self.end = start + size;
        start
    }

    /// Frees a range.
    fn give(&mut self, mut start: u64, mut size: u64) {
        if size == 0 {
            return;
        }
        if let Some((&before, &room)) = self.free.range(..start).next_back()
            && before + room == start
        {
            self.free.remove(&before);
            (start, size) = (before, room + size);
        }
        if let Some(room) = self.free.remove(&(start + size)) {
            size += room;
        }
        self.free.insert(start, size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_reused_joined_and_grown() {
        let mut gaps = Gaps::default();
        let [a, b, c] = [64, 128, 64].map(|size| gaps.take(size));
        assert_eq!([a, b, c], [0, 64, 192]);
        gaps.give(b, 128);
        assert_eq!(gaps.take(64), 64);
        gaps.give(a, 64);
        gaps.give(64, 64);
        assert_eq!(gaps.take(192), 0);
        gaps.give(c, 64);
        assert_eq!((gaps.take(256), gaps.end), (192, 448));
    }
}
