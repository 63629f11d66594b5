//! Tensors whose extents come at run time.

use mind_core::ops::runtime_shape::{DynamicBroadcastTo, DynamicIota};
use mind_core::ops::shape::{ExpandDims, Reshape};
use mind_ir::graph::Graph;
use mind_ir::opdef::Trait;
use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};
use mind_mil::ops::tensor::{FILL, RANGE_1D};

use crate::found::{Found, Given, Recognizer};
use crate::shapes::made;

pub(crate) const RECOGNIZERS: &[Recognizer] = &[|g, op, _| fill(g, op), |g, op, _| range(g, op)];

/// A number in the shape that an operand gives.
fn fill(g: &Graph, op: OpId) -> Option<Found> {
    let broadcast = g.view::<DynamicBroadcastTo>(op)?;
    let value = broadcast.input(g);
    let is_constant = g.def(g.defining_op(value)?).has(Trait::Constant);
    if !is_constant || g.ty(value).rank() > 0 {
        return None;
    }
    let mut found = Found::new(&FILL);
    found.operand("shape", broadcast.extents(g));
    found.operand("value", value);
    Some(found)
}

/// As many indices as a number says.
fn range(g: &Graph, op: OpId) -> Option<Found> {
    let iota = g.view::<DynamicIota>(op)?;
    let end = scalar(g, iota.extents(g))?;
    if iota.dtype(g) != DType::I32 || g.ty(end).dtype != DType::I32 {
        return None;
    }
    let mut found = Found::new(&RANGE_1D);
    found.operand("end", end);
    found.give("start", Given::Int(0));
    found.give("step", Given::Int(1));
    Some(found)
}

/// The number that a list of one element holds.
fn scalar(g: &Graph, list: ValueId) -> Option<ValueId> {
    let reshape = made::<Reshape>(g, list).map(|reshape| reshape.input(g));
    let number = reshape.or_else(|| Some(made::<ExpandDims>(g, list)?.input(g)))?;
    (g.ty(number).rank() == 0).then_some(number)
}
