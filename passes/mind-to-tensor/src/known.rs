//! Ops that are lowered only if extents are known: what follows from these becomes constants.

use mind_core::axes::resolve;
use mind_core::ops::extents::{ExtentOf, Iota};
use mind_core::ops::shape::Reverse;
use mind_ir::builder::Builder;
use mind_ir::eval::{DimEnv, EvalCx};
use mind_ir::opdef::{Op, OpDef};
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim};
use mind_ir::verify::VerifyError;
use mind_ir::{OpId, ValueId};
use mind_tensor::ops::broadcast::Broadcast;
use mind_tensor::ops::index::Gather;

use crate::emit::{LowerKnown, shape};

pub(crate) const ROWS: &[(&OpDef, LowerKnown)] = &[
    (Reverse::DEF, lower_reverse),
    (Iota::DEF, lower_iota),
    (ExtentOf::DEF, lower_dim),
];

/// The longest list of places that becomes a constant.
pub(crate) const LONGEST: i64 = 1 << 22;

/// What an op becomes, unless it stays.
pub(crate) type Known = Result<Option<ValueId>, Box<VerifyError>>;

/// A gather of the places backwards, axis by axis.
fn lower_reverse(op: OpId, b: &mut Builder<'_>) -> Known {
    let view = Reverse::from_id(op);
    let (mut value, axes) = (view.input(b.graph), view.axes(b.graph).to_vec());
    let shape = shape(b, value);
    let mut extents = Vec::with_capacity(axes.len());
    for axis in axes {
        let axis = resolve("reverse", axis, shape.len())?;
        match shape[axis].fixed() {
            Some(0..=1) => {}
            Some(extent @ ..=LONGEST) => extents.push((axis, extent)),
            Some(_) | None => return Ok(None),
        }
    }
    for (axis, extent) in extents {
        let places: Vec<i64> = (0..extent).rev().collect();
        let places = mind_core::constant(b, &Tensor::of(vec![places.len()], places));
        value = Gather::with(axis as i64).build(b, value, places)?;
    }
    Ok(Some(value))
}

/// A constant along its axis, broadcast.
fn lower_iota(op: OpId, b: &mut Builder<'_>) -> Known {
    let view = Iota::from_id(op);
    let shape = view.shape(b.graph).to_vec();
    let axis = resolve("iota", view.axis(b.graph), shape.len())?;
    let dtype = view.dtype(b.graph);
    iota(b, dtype, &shape, axis)
}

/// The index along `axis` at every position of `shape`, unless that has no known extent.
pub(crate) fn iota(b: &mut Builder<'_>, dtype: DType, shape: &[Dim], axis: usize) -> Known {
    let Some(0..=LONGEST) = shape[axis].fixed() else {
        return Ok(None);
    };
    let row = [shape[axis]];
    let row = b.one(Iota::DEF, &[], &Iota::attrs(dtype, &row, 0))?;
    let source = b.graph.defining_op(row).expect("an op computes it");
    let dims = DimEnv::default();
    let computed =
        Iota::DEF.eval.expect("it has a meaning")(source, &EvalCx::run(b.graph, &dims), &[]);
    b.graph.erase(source);
    let Ok(computed) = computed else {
        return Ok(None);
    };
    let row = mind_core::constant(b, &computed[0]);
    match shape.len() {
        1 => Ok(Some(row)),
        _ => Ok(Some(
            Broadcast::with(&[axis as i64], shape).build(b, &[row])?,
        )),
    }
}

/// A constant.
fn lower_dim(op: OpId, b: &mut Builder<'_>) -> Known {
    let view = ExtentOf::from_id(op);
    let shape = shape(b, view.input(b.graph));
    match shape[resolve("dim", view.axis(b.graph), shape.len())?] {
        Dim::Fixed(extent) => Ok(Some(mind_core::constant(b, &Tensor::scalar(extent)))),
        Dim::Symbol(_) | Dim::Dynamic => Ok(None),
    }
}
