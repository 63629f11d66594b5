//! The outer loops of a nest, and where the rows of its operands start.

use crate::lower::storage_lane;
use crate::vir::{Addr, Builder, IndexOp, LoopKind, Value};

use super::plan::Plan;
use super::program::{Access, Nest};
use super::row::{Places, Row};
use super::sweep::Extent;

/// Appends loops over the outer dimensions, and the program inside.
pub(super) fn rows(
    b: &mut Builder,
    n: &Nest,
    plan: &Plan,
    inputs: &[Value],
    outputs: &[Value],
    scratch: Value,
    range: (Value, Value),
) {
    assert_eq!(inputs.len(), n.inputs.len(), "a pointer for each input");
    assert_eq!(outputs.len(), n.outputs.len(), "a pointer for each output");
    let results = n.outputs.iter().map(|output| &output.access);
    let accesses: Vec<&Access> = n.inputs.iter().chain(results).collect();
    let bases: Vec<Value> = (accesses.iter())
        .zip(inputs.iter().chain(outputs))
        .map(|(access, &base)| moved(b, base, access, access.offset))
        .collect();
    let nest = Outer {
        n,
        plan,
        accesses,
        scratch,
    };
    nest.dimension(b, 0, bases, range, Extent::Known(n.inner));
}

/// `base` moved by a constant number of elements.
fn moved(b: &mut Builder, base: Value, access: &Access, elements: i64) -> Value {
    if elements == 0 {
        return base;
    }
    let lane = storage_lane(access.dtype);
    let elements = b.index(elements);
    b.address(Addr::element(base, elements, lane))
}

struct Outer<'a> {
    n: &'a Nest,
    plan: &'a Plan,
    /// Of the inputs, then of the outputs.
    accesses: Vec<&'a Access>,
    scratch: Value,
}

impl Outer<'_> {
    /// The loop over dimension `depth` and all inside; `bases` are where the elements at index 0 of it are.
    fn dimension(
        &self,
        b: &mut Builder,
        depth: usize,
        bases: Vec<Value>,
        range: (Value, Value),
        extent: Extent,
    ) {
        if depth == self.n.outer.len() {
            let (inputs, outputs) = bases.split_at(self.n.inputs.len());
            let places = Places {
                inputs,
                outputs,
                scratch: self.scratch,
            };
            return Row::new(self.n, self.plan, places).passes(b, extent);
        }
        b.repeat(LoopKind::Rest, range, 1, &[], |b, round| {
            let bases = self.at(b, depth, &bases, round.index);
            let extent = self.extent(b, round.index);
            let start = b.index(0);
            let next = self.n.outer.get(depth + 1).copied().unwrap_or(0);
            let end = b.index(next as i64);
            self.dimension(b, depth + 1, bases, (start, end), extent);
            Vec::new()
        });
    }

    /// Where elements are at `index` of a dimension.
    fn at(&self, b: &mut Builder, depth: usize, bases: &[Value], index: Value) -> Vec<Value> {
        let mut places: Vec<(i64, Value)> = vec![(1, index)];
        let mut place = |b: &mut Builder, stride: i64| {
            if let Some(&(_, known)) = places.iter().find(|(known, _)| *known == stride) {
                return known;
            }
            let factor = b.index(stride);
            let place = b.index_op(IndexOp::Mul, index, factor);
            places.push((stride, place));
            place
        };
        let operands = self.accesses.iter().zip(bases);
        let moved = operands.map(|(access, &base)| match access.outer[depth] {
            0 => base,
            stride => {
                let place = place(b, stride);
                let lane = storage_lane(access.dtype);
                b.address(Addr::element(base, place, lane))
            }
        });
        moved.collect()
    }

    /// How many elements a row has.
    fn extent(&self, b: &mut Builder, row: Value) -> Extent {
        let Nest { inner, total, .. } = *self.n;
        let Some(total) = total else {
            return Extent::Known(inner);
        };
        let (length, total) = (b.index(inner as i64), b.index(total as i64));
        let before = b.index_op(IndexOp::Mul, row, length);
        let left = b.index_op(IndexOp::Sub, total, before);
        Extent::Given(b.index_op(IndexOp::Min, left, length))
    }
}
