//! Lowers reductions.

use mind_convert::Refusal;
use mind_core::ops::argmax::{ArgMax, ArgMin};
use mind_core::ops::cumulative::{Accumulation, Cumulative, Prefixes};
use mind_core::ops::reduce::{Max, Mean, Min, Prod, Sum};
use mind_ir::ValueId;
use mind_ir::opdef::{Op, OpDef};
use mind_mil::MilOp;
use mind_mil::ops::reduction::{
    REDUCE_ARGMAX, REDUCE_ARGMIN, REDUCE_MAX, REDUCE_MEAN, REDUCE_MIN, REDUCE_PROD, REDUCE_SUM,
};
use mind_mil::ops::tensor::CUMSUM;

use crate::emit::Argument::{Flag, Int, Ints, Value};
use crate::emit::{Emit, Lower, Lowered};

/// The table entry of a reduction, for views with the same accessors.
macro_rules! reduction {
    ($view:ident, $row:ident) => {
        ($view::DEF, |op, e| {
            let view = $view::from_id(op);
            let (x, keep) = (view.input(e.g()), view.keepdims(e.g()));
            let axes = view.axes(e.g()).to_vec();
            core(e, &$row, x, &axes, keep)
        })
    };
}

/// The table entry of an argmax or argmin, for views with the same accessors.
macro_rules! place {
    ($view:ident, $row:ident) => {
        ($view::DEF, |op, e| {
            let view = $view::from_id(op);
            let (x, axis) = (view.input(e.g()), view.axis(e.g()));
            let (keep, last) = (view.keepdims(e.g()), view.last(e.g()));
            place(e, &$row, x, axis, keep, last)
        })
    };
}

pub(crate) const ROWS: &[(&OpDef, Lower)] = &[
    reduction!(Sum, REDUCE_SUM),
    reduction!(Mean, REDUCE_MEAN),
    reduction!(Max, REDUCE_MAX),
    reduction!(Min, REDUCE_MIN),
    reduction!(Prod, REDUCE_PROD),
    (Cumulative::DEF, |op, e| {
        let view = Cumulative::from_id(op);
        let (x, axis, prefixes) = (view.input(e.g()), view.axis(e.g()), view.prefixes(e.g()));
        cumulative(e, x, axis, prefixes)
    }),
    place!(ArgMax, REDUCE_ARGMAX),
    place!(ArgMin, REDUCE_ARGMIN),
];

/// Returns the cumulative sums along an axis.
pub(crate) fn cumulative(
    e: &mut Emit<'_, '_>,
    x: ValueId,
    axis: i64,
    prefixes: Prefixes,
) -> Lowered {
    if prefixes.kind != Accumulation::Sum {
        let word = prefixes.kind.name();
        return Err(Refusal::no_counterpart(format!(
            "`cumsum` adds, and this is {word}"
        )));
    }
    let args = [
        ("x", Value(x)),
        ("axis", Int(axis)),
        ("exclusive", Flag(prefixes.exclusive)),
        ("reverse", Flag(prefixes.reverse)),
    ];
    e.op(&CUMSUM, &args)
}

/// Lowers a reduction of core, in which a missing list of axes means all axes, not kept.
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
    if axes.is_empty() {
        reduce(e, row, x, &(0..rank).collect::<Vec<i64>>(), false)
    } else {
        reduce(e, row, x, &axes, keep)
    }
}

/// Returns a reduction along `axes`, counted from the front; without axes it returns its input.
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
        return Err(Refusal::no_counterpart(format!(
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

/// Returns the index of an extreme element. If several are equal, MIL leaves open which index is returned.
fn place(
    e: &mut Emit<'_, '_>,
    row: &'static MilOp,
    x: ValueId,
    axis: i64,
    keep: bool,
    last: bool,
) -> Lowered {
    let dtype = e.dtype(x);
    if last || !dtype.is_float() && dtype != mind_ir::types::DType::I32 {
        return Err(Refusal::no_counterpart(match last {
            true => format!(
                "`{}` has no counterpart for the last of equal elements",
                row.name
            ),
            false => format!("`{}` of {dtype} has no counterpart", row.name),
        }));
    }
    let args = [
        ("x", Value(x)),
        ("axis", Int(axis)),
        ("keep_dims", Flag(keep)),
    ];
    e.op(row, &args)
}
