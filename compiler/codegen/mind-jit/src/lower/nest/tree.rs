//! Partial results of columns, and their reduction tree.

use mind_ir::types::DType;

use crate::lower::reduce::PARTIALS;
use crate::lower::{combine, compute_lane, identity};
use mind_vir::ir::{Addr, Builder, IndexOp, LoopKind, Value};

use mind_ir::scalar::Reduction;

/// A reduction that a pass completes.
#[derive(Clone, Copy)]
pub(super) struct Reduce {
    pub node: usize,
    pub arg: usize,
    pub kind: Reduction,
    pub dtype: DType,
}

impl Reduce {
    pub fn combine(&self, b: &mut Builder, x: Value, y: Value) -> Value {
        combine(b, self.kind, self.dtype, x, y)
    }
}

/// The partial results in memory: one row each, with a vector per slot.
pub(super) struct PartialRows {
    base: Value,
    /// Bytes of a row.
    bytes: usize,
    /// Bytes of a vector.
    vector: usize,
}

impl PartialRows {
    pub fn new(b: &Builder, base: Value, slots: &[Reduce]) -> PartialRows {
        let widest = slots
            .iter()
            .map(|slot| compute_lane(slot.dtype).bytes())
            .max();
        let vector = (b.lanes() * widest.unwrap_or(1)) as usize;
        PartialRows {
            base,
            bytes: vector * slots.len(),
            vector,
        }
    }

    pub fn addr(&self, b: &mut Builder, row: Value, slot: usize) -> Addr {
        let bytes = b.index(self.bytes as i64);
        let place = b.index_op(IndexOp::Mul, row, bytes);
        self.at(place, 0, slot)
    }

    /// Returns the address of the vector of `slot` in a row, `ahead` bytes further.
    fn at(&self, ahead: Value, row: usize, slot: usize) -> Addr {
        Addr {
            base: self.base,
            index: Some(ahead),
            scale: 1,
            offset: (row * self.bytes + slot * self.vector) as i32,
        }
    }

    /// Reduces `partials` rows to the first one, and returns the address of each slot.
    ///
    /// The code of a reduction is shared by all of its vectors.
    pub fn fold(
        &self,
        b: &mut Builder,
        partials: usize,
        vectors: usize,
        reduces: &[Reduce],
    ) -> Vec<Addr> {
        let start = b.index(0);
        let (end, step) = ((vectors * self.vector) as i64, self.vector as i64);
        for (place, reduce) in reduces.iter().enumerate() {
            let (lane, slot) = (compute_lane(reduce.dtype), place * vectors);
            let bounds = (start, b.index(end));
            b.repeat(LoopKind::Rest, bounds, step, &[], |b, round| {
                let leaf = |b: &mut Builder, partial: usize| {
                    vec![b.load(lane, self.at(round.index, partial, slot), None)]
                };
                let total = tree(b, &[*reduce], partials, (0, 1), &leaf)[0];
                b.store(total, self.at(round.index, 0, slot), None);
                Vec::new()
            });
        }
        let slots = 0..vectors * reduces.len();
        slots.map(|slot| self.at(start, 0, slot)).collect()
    }
}

/// Adds the initial zero of a sum to the first partial result.
///
/// The other partial results do not need it, because adding zero changes a sum only if it is -0, and the total is not
/// -0 once the first partial result is not.
pub(super) fn from_zero(b: &mut Builder, slots: &[Reduce], values: &mut [Value]) {
    for (slot, value) in slots.iter().zip(values) {
        let adds = match slot.kind {
            Reduction::Sum | Reduction::Mean => true,
            Reduction::Max | Reduction::Min | Reduction::Prod => false,
        };
        if adds && slot.dtype.is_float() {
            let zero = identity(b, Reduction::Sum, slot.dtype);
            *value = slot.combine(b, zero, *value);
        }
    }
}

/// Combines the partial results `first`, `first + step`, ... below `count` by halves, in the order of docs/numerics.md.
pub(super) fn tree(
    b: &mut Builder,
    slots: &[Reduce],
    count: usize,
    (first, step): (usize, usize),
    leaf: &dyn Fn(&mut Builder, usize) -> Vec<Value>,
) -> Vec<Value> {
    if step == PARTIALS as usize {
        return leaf(b, first);
    }
    let lower = tree(b, slots, count, (first, 2 * step), leaf);
    if first + step >= count {
        return lower;
    }
    let upper = tree(b, slots, count, (first + step, 2 * step), leaf);
    let pairs = slots.iter().zip(lower.into_iter().zip(upper));
    pairs.map(|(slot, (x, y))| slot.combine(b, x, y)).collect()
}
