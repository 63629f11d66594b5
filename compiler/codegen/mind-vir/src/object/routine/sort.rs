//! Sorts: one key per element, and a function that sorts keys.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_module::FuncId;

use crate::object::body::{Body, anywhere};
use crate::program::Sorting;

use super::element::{copy, key};

/// The minimum number of elements that are collected in addition to the requested ones before they are sorted.
const COLLECTED: usize = 64;

/// Returns the number of elements that are sorted together: all, or fewer if few are requested.
fn capacity(sorting: Sorting) -> usize {
    let (extent, kept) = (sorting.extents[1], sorting.kept);
    let few = kept.saturating_mul(2).saturating_add(COLLECTED);
    if few.saturating_mul(2) <= extent {
        few
    } else {
        extent
    }
}

/// Returns the size in bytes of keys and indices, for twice the elements that are sorted together because merging needs
/// a second buffer.
pub(super) fn memory(sorting: Sorting) -> u64 {
    4 * 8 * capacity(sorting) as u64
}

/// A line of elements whose keys are sorted together with their indices.
#[derive(Clone, Copy)]
struct Line {
    sorting: Sorting,
    /// The function that sorts keys and indices.
    merge: FuncId,
    /// The first element.
    start: Value,
    keys: Value,
    indices: Value,
}

/// Sorts each line of elements; `memory` holds keys and indices.
pub(super) fn write(
    body: &mut Body<'_>,
    sorting: Sorting,
    merge: FuncId,
    (arrays, memory): (&[Value], Value),
) {
    let Sorting {
        dtype,
        extents: [outer, extent, inner],
        kept,
        ..
    } = sorting;
    if [outer, extent, inner, kept].contains(&0) {
        return;
    }
    let [from, values, places] = *arrays else {
        unreachable!("a checked step has three arrays")
    };
    let (size, apart) = (dtype.size() as i64, (inner * dtype.size()) as i64);
    let indices = body.moved(memory, 2 * 8 * capacity(sorting) as u64);
    let group = body.open_repeat(outer as u64);
    let line = body.open_repeat(inner as u64);
    let start = body.scaled(from, group, extent as i64 * apart);
    let start = body.scaled(start, line, size);
    let own = Line {
        sorting,
        merge,
        start,
        keys: memory,
        indices,
    };
    if capacity(sorting) == extent {
        own.sort_all(body);
    } else {
        own.sort_few(body);
    }
    let at = body.open_repeat(kept as u64);
    let place = body.scaled(indices, at, 8);
    let place = body.ins().load(types::I64, anywhere(), place, 0);
    let first = body.ins().imul_imm(group, kept as i64);
    let to = body.ins().iadd(first, at);
    let to = body.ins().imul_imm(to, inner as i64);
    let to = body.ins().iadd(to, line);
    let element = body.scaled(start, place, apart);
    let value = body.scaled(values, to, size);
    copy(body, dtype.size(), value, element);
    let to = body.scaled(places, to, 8);
    body.ins().store(anywhere(), place, to, 0);
    body.close(3);
}

impl Line {
    /// Sorts the keys of all elements.
    fn sort_all(self, body: &mut Body<'_>) {
        let extent = self.sorting.extents[1] as u64;
        let at = body.open_repeat(extent);
        let own = self.key(body, at);
        self.put(body, at, (own, at));
        body.close(1);
        let count = body.word(extent as i64);
        body.invoke(self.merge, &[self.keys, self.indices, count]);
    }

    /// Partial sort: keys are collected until the buffer is full, then sorted, and the first ones are kept. After that,
    /// keys that are not less than the last kept one are skipped.
    fn sort_few(self, body: &mut Body<'_>) {
        let (kept, capacity) = (self.sorting.kept as i64, capacity(self.sorting) as i64);
        let (none, most) = (body.word(0), body.word(-1));
        let count = body.variable(types::I64, none);
        let limit = body.variable(types::I64, most);
        let at = body.open_repeat(self.sorting.extents[1] as u64);
        let own = self.key(body, at);
        let (collected, last) = (body.get(count), body.get(limit));
        let is_below = body.ins().icmp(IntCC::UnsignedLessThan, own, last);
        let is_missing = body.ins().icmp_imm(IntCC::SignedLessThan, collected, kept);
        let is_wanted = body.ins().bor(is_below, is_missing);
        body.open_if(is_wanted);
        self.put(body, collected, (own, at));
        let collected = body.ins().iadd_imm(collected, 1);
        body.set(count, collected);
        let is_full = body.ins().icmp_imm(IntCC::Equal, collected, capacity);
        body.open_if(is_full);
        body.invoke(self.merge, &[self.keys, self.indices, collected]);
        let kept_count = body.word(kept);
        body.set(count, kept_count);
        let last = body.moved(self.keys, 8 * (kept as u64 - 1));
        let last = body.ins().load(types::I64, anywhere(), last, 0);
        body.set(limit, last);
        body.close(3);
        let collected = body.get(count);
        body.invoke(self.merge, &[self.keys, self.indices, collected]);
    }

    /// Returns the key of an element, which is smaller the earlier the element comes in the result.
    fn key(self, body: &mut Body<'_>, at: Value) -> Value {
        let Sorting {
            dtype,
            extents,
            is_descending,
            ..
        } = self.sorting;
        let element = body.scaled(self.start, at, (extents[2] * dtype.size()) as i64);
        let own = key(body, dtype, element);
        if is_descending {
            body.ins().bnot(own)
        } else {
            own
        }
    }

    /// Stores a key and an index.
    fn put(self, body: &mut Body<'_>, at: Value, (key, index): (Value, Value)) {
        for (list, word) in [(self.keys, key), (self.indices, index)] {
            let to = body.scaled(list, at, 8);
            body.ins().store(anywhere(), word, to, 0);
        }
    }
}

/// Stable merge sort of keys together with their indices. Both buffers have room for twice the elements.
pub(super) fn merge(body: &mut Body<'_>, [keys, indices, count]: [Value; 3]) {
    let (keys_spare, indices_spare) = (body.scaled(keys, count, 8), body.scaled(indices, count, 8));
    let lists = [keys, indices, keys_spare, indices_spare];
    let lists = lists.map(|list| body.variable(types::I64, list));
    let (none, one) = (body.word(0), body.word(1));
    let width = body.variable(types::I64, one);
    body.open_while(|body| {
        let width = body.get(width);
        body.ins().icmp(IntCC::SignedLessThan, width, count)
    });
    let [from, from_indices, to, to_indices] = lists.map(|list| body.get(list));
    let run = body.get(width);
    let start = body.variable(types::I64, none);
    body.open_while(|body| {
        let start = body.get(start);
        body.ins().icmp(IntCC::SignedLessThan, start, count)
    });
    let first = body.get(start);
    let middle = body.ins().iadd(first, run);
    let middle = body.ins().smin(middle, count);
    let end = body.ins().iadd(middle, run);
    let end = body.ins().smin(end, count);
    let left = body.variable(types::I64, first);
    let right = body.variable(types::I64, middle);
    let at = body.open_count(first, end);
    let (own, other) = (body.get(left), body.get(right));
    // At least one side is below its end; the key read for the other side is ignored.
    let has_right = body.ins().icmp(IntCC::SignedLessThan, other, end);
    let readable = body.ins().select(has_right, other, own);
    let [left_key, right_key] = [own, readable].map(|place| {
        let place = body.scaled(from, place, 8);
        body.ins().load(types::I64, anywhere(), place, 0)
    });
    let is_below = body
        .ins()
        .icmp(IntCC::UnsignedLessThan, right_key, left_key);
    let has_no_left = body.ins().icmp(IntCC::Equal, own, middle);
    let is_right = body.ins().bor(is_below, has_no_left);
    let next = body.ins().select(is_right, other, own);
    let key = body.ins().select(is_right, right_key, left_key);
    let index = body.scaled(from_indices, next, 8);
    let index = body.ins().load(types::I64, anywhere(), index, 0);
    for (list, word) in [(to, key), (to_indices, index)] {
        let place = body.scaled(list, at, 8);
        body.ins().store(anywhere(), word, place, 0);
    }
    let step = body.ins().uextend(types::I64, is_right);
    let other = body.ins().iadd(other, step);
    body.set(right, other);
    let own = body.ins().iadd_imm(own, 1);
    let own = body.ins().isub(own, step);
    body.set(left, own);
    body.close(1);
    body.set(start, end);
    body.close(1);
    for (list, other) in lists.into_iter().zip([to, to_indices, from, from_indices]) {
        body.set(list, other);
    }
    let wider = body.ins().ishl_imm(run, 1);
    body.set(width, wider);
    body.close(1);
    let sorted = body.get(lists[0]);
    let is_elsewhere = body.ins().icmp(IntCC::NotEqual, sorted, keys);
    body.open_if(is_elsewhere);
    let at = body.open_count(none, count);
    for (to, from) in [(keys, keys_spare), (indices, indices_spare)] {
        let [to, from] = [to, from].map(|list| body.scaled(list, at, 8));
        let word = body.ins().load(types::I64, anywhere(), from, 0);
        body.ins().store(anywhere(), word, to, 0);
    }
    body.close(2);
}
