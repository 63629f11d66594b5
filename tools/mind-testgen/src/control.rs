//! Control flow.

use mind_core::ops::compare::{Compare, Direction};
use mind_core::ops::control::{If, Scan, While};
use mind_core::ops::elementwise::Add;
use mind_ir::ValueId;
use mind_ir::opdef::{Op, OperandClass};
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, TensorType};

use crate::generator::Generator;
use crate::recipe;
use crate::shape::small;

/// Ops that are drawn for a region.
const INNER_OPS: usize = 3;

/// A value of known extents.
fn known(draw: &mut Generator<'_>) -> Option<ValueId> {
    let value = draw.value(OperandClass::Any);
    small(draw.graph.ty(value)).map(|_| value)
}

/// Some values of known extents.
fn some(draw: &mut Generator<'_>) -> Option<Vec<ValueId>> {
    let count = 1 + draw.rng.below(2);
    (0..count).map(|_| known(draw)).collect()
}

fn types(draw: &Generator<'_>, values: &[ValueId]) -> Vec<TensorType> {
    let types = values.iter().map(|&value| draw.graph.ty(value).to_owned());
    types.collect()
}

/// Draws some ops, then a value of each type.
fn compute(draw: &mut Generator<'_>, types: &[TensorType]) -> Vec<ValueId> {
    for _ in 0..INNER_OPS {
        recipe::draw(draw);
    }
    types.iter().map(|ty| draw.value_of(ty)).collect()
}

pub(crate) fn branch(draw: &mut Generator<'_>) -> Option<ValueId> {
    let inputs = some(draw)?;
    let results = types(draw, &inputs);
    let mut operands = vec![draw.value_of(&TensorType::fixed(DType::Bool, &[]))];
    operands.extend(inputs);
    draw.with_regions(
        If::DEF,
        &operands,
        &If::attrs(),
        results.len(),
        |_, draw| compute(draw, &results),
    )
}

/// A loop that counts.
pub(crate) fn repeat(draw: &mut Generator<'_>) -> Option<ValueId> {
    let mut operands = vec![draw.tensor(&Tensor::scalar(0i64))];
    operands.extend(some(draw)?);
    let carried = types(draw, &operands);
    let attrs = While::attrs(operands.len() as i64);
    if draw.rng.once_in(2) {
        operands.push(known(draw)?);
    }
    let steps = draw.rng.below(4) as i64;
    let results = carried.len();
    draw.with_regions(While::DEF, &operands, &attrs, results, |region, draw| {
        let counter = draw.argument(0);
        if region == 0 {
            let end = draw.tensor(&Tensor::scalar(steps));
            let attrs = Compare::attrs(Direction::Lt);
            let goes_on = draw.op(Compare::DEF, &[counter, end], &attrs);
            return goes_on.into_iter().collect();
        }
        let one = draw.tensor(&Tensor::scalar(1i64));
        let next = draw.op(Add::DEF, &[counter, one], &Add::attrs());
        let others = compute(draw, &carried[1..]);
        next.into_iter().chain(others).collect()
    })
}

pub(crate) fn scan(draw: &mut Generator<'_>) -> Option<ValueId> {
    let scanned = known(draw)?;
    let ty = draw.graph.ty(scanned).to_owned();
    let axis = draw.rng.below(ty.shape.len().max(1));
    if ty.shape.is_empty() {
        return None;
    }
    let mut slice = ty.clone();
    slice.shape.remove(axis);
    let initial = some(draw)?;
    let mut yielded = types(draw, &initial);
    let mut operands = initial;
    let carried = operands.len();
    operands.push(scanned);
    if draw.rng.once_in(2) {
        operands.push(known(draw)?);
    }
    let axes = [axis as i64, draw.rng.below(slice.shape.len() + 1) as i64];
    yielded.push(slice);
    let mut directions = || [i64::from(draw.rng.once_in(3))];
    let (read, written) = (directions(), directions());
    let (carried, [first, second]) = (carried as i64, &axes.map(|axis| [axis]));
    let attrs = Scan::attrs(carried, 1, first, second, &read, &written);
    let results = yielded.len();
    draw.with_regions(Scan::DEF, &operands, &attrs, results, |_, draw| {
        compute(draw, &yielded)
    })
}
