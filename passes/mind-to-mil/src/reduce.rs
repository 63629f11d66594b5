//! Reductions.

use mind_core::ops::reduce::{Max, Mean, Sum};
use mind_ir::ValueId;
use mind_ir::opdef::{Op, OpDef};
use mind_mil::MilOp;
use mind_mil::ops::reduction::{REDUCE_MAX, REDUCE_MEAN, REDUCE_SUM};

use crate::emit::Given::{Flag, Ints, Value};
use crate::emit::{Emit, Lower, Lowered};
use crate::refuse::Refused;

pub(crate) const ROWS: &[(&OpDef, Lower)] = &[
    (Sum::DEF, |op, e| {
        let view = Sum::from_id(op);
        let (x, axes, keep) = (
            view.input(e.g()),
            view.axes(e.g()).to_vec(),
            view.keepdims(e.g()),
        );
        core(e, &REDUCE_SUM, x, &axes, keep)
    }),
    (Mean::DEF, |op, e| {
        let view = Mean::from_id(op);
        let (x, axes, keep) = (
            view.input(e.g()),
            view.axes(e.g()).to_vec(),
            view.keepdims(e.g()),
        );
        core(e, &REDUCE_MEAN, x, &axes, keep)
    }),
    (Max::DEF, |op, e| {
        let view = Max::from_id(op);
        let (x, axes, keep) = (
            view.input(e.g()),
            view.axes(e.g()).to_vec(),
            view.keepdims(e.g()),
        );
        core(e, &REDUCE_MAX, x, &axes, keep)
    }),
];

/// No axes written means all of them, removed.
fn core(
    e: &mut Emit<'_, '_>,
    row: &'static MilOp,
    x: ValueId,
    axes: &[i64],
    keep: bool,
) -> Lowered {
    let rank = e.g().ty(x).rank() as i64;
    let axes: Vec<i64> = axes
        .iter()
        .map(|&axis| if axis < 0 { axis + rank } else { axis })
        .collect();
    match axes.is_empty() {
        true => reduce(e, row, x, &(0..rank).collect::<Vec<i64>>(), false),
        false => reduce(e, row, x, &axes, keep),
    }
}

/// A reduction along `axes`, counted from the front; along none it changes nothing.
pub(crate) fn reduce(
    e: &mut Emit<'_, '_>,
    row: &'static MilOp,
    x: ValueId,
    axes: &[i64],
    keep: bool,
) -> Lowered {
    if axes.is_empty() {
        return Ok(x);
    }
    let dtype = e.dtype(x);
    if !dtype.is_float() && (row.name == "reduce_mean" || dtype != mind_ir::types::DType::I32) {
        return Err(Refused::new(format!(
            "`{}` of {dtype} has no counterpart",
            row.name
        )));
    }
    e.op(
        row,
        &[
            ("x", Value(x)),
            ("axes", Ints(axes)),
            ("keep_dims", Flag(keep)),
        ],
    )
}
