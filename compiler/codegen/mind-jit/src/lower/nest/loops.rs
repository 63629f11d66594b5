//! Loops over the outer dimensions, and element addresses inside of them.

use crate::lower::storage_lane;
use mind_vir::ir::{Addr, Builder, IndexOp, LoopKind, Value};

use super::program::{Output, StridedAccess};

/// Appends the loop body: see [`Outer::repeat`].
type Inside<'f> = dyn FnMut(&mut Builder, &[Value], Option<Value>) + 'f;

/// The outer dimensions of a nest.
pub(super) struct Outer<'a> {
    /// Outermost first.
    extents: &'a [usize],
    /// Accesses of the inputs, then of the outputs.
    accesses: Vec<&'a StridedAccess>,
}

impl<'a> Outer<'a> {
    pub fn new(
        extents: &'a [usize],
        inputs: &'a [StridedAccess],
        outputs: &'a [Output],
    ) -> Outer<'a> {
        let outputs = outputs.iter().map(|output| &output.access);
        Outer {
            extents,
            accesses: inputs.iter().chain(outputs).collect(),
        }
    }

    /// Appends the loops, over `range` of the outermost dimension, and `body` inside.
    ///
    /// `body` gets the address of each access at the loop indices and inner index 0, and the index of the outermost
    /// loop if there is one.
    pub fn repeat(
        &self,
        b: &mut Builder,
        bases: impl Iterator<Item = Value>,
        range: (Value, Value),
        mut body: impl FnMut(&mut Builder, &[Value], Option<Value>),
    ) {
        let moved = self.accesses.iter().zip(bases).map(|(access, base)| {
            if access.offset == 0 {
                return base;
            }
            let offset = b.index(access.offset);
            b.address(Addr::element(base, offset, storage_lane(access.dtype)))
        });
        let bases = moved.collect();
        self.dimension(b, 0, bases, range, None, &mut body);
    }

    fn dimension(
        &self,
        b: &mut Builder,
        depth: usize,
        bases: Vec<Value>,
        range: (Value, Value),
        outermost: Option<Value>,
        body: &mut Inside<'_>,
    ) {
        if depth == self.extents.len() {
            return body(b, &bases, outermost);
        }
        b.repeat(LoopKind::Rest, range, 1, &[], |b, round| {
            let bases = at(b, &self.accesses, depth, &bases, round.index);
            let outermost = outermost.or(Some(round.index));
            let next = self.extents.get(depth + 1).copied().unwrap_or(0);
            let range = (b.index(0), b.index(next as i64));
            self.dimension(b, depth + 1, bases, range, outermost, body);
            Vec::new()
        });
    }
}

/// Returns the addresses at `index` of an outer dimension; `bases` are those at index 0.
pub(super) fn at(
    b: &mut Builder,
    accesses: &[&StridedAccess],
    dimension: usize,
    bases: &[Value],
    index: Value,
) -> Vec<Value> {
    let mut products: Vec<(i64, Value)> = vec![(1, index)];
    let mut scaled = |b: &mut Builder, stride: i64| {
        if let Some(&(_, known)) = products.iter().find(|(known, _)| *known == stride) {
            return known;
        }
        let factor = b.index(stride);
        let product = b.index_op(IndexOp::Mul, index, factor);
        products.push((stride, product));
        product
    };
    let operands = accesses.iter().zip(bases);
    let moved = operands.map(|(access, &base)| match access.outer[dimension] {
        0 => base,
        stride => {
            let offset = scaled(b, stride);
            b.address(Addr::element(base, offset, storage_lane(access.dtype)))
        }
    });
    moved.collect()
}
