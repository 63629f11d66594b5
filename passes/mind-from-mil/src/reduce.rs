//! Imports reductions.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::argmax::{ArgMax, ArgMin};
use mind_core::ops::cumulative::Cumulative;
use mind_core::ops::normalize::Softmax;
use mind_core::ops::reduce::{Max, Mean, Min, Prod, Sum};
use mind_ir::attr::Attr;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::{OpId, ValueId};
use mind_mil::MilOp;
use mind_mil::call::ArgState;
use mind_mil::ops::{activation, reduction, tensor};

use crate::emit::{Emit, Import, One};

pub(crate) const ROWS: &[(&MilOp, Import)] = &[
    (&reduction::REDUCE_SUM, |op, e| {
        let (x, over) = operand(op, e)?;
        over.apply(e, Sum::DEF, x)
    }),
    (&reduction::REDUCE_MEAN, |op, e| {
        let (x, over) = operand(op, e)?;
        over.apply(e, Mean::DEF, x)
    }),
    (&reduction::REDUCE_MAX, |op, e| {
        let (x, over) = operand(op, e)?;
        over.apply(e, Max::DEF, x)
    }),
    (&reduction::REDUCE_MIN, |op, e| {
        let (x, over) = operand(op, e)?;
        over.apply(e, Min::DEF, x)
    }),
    (&reduction::REDUCE_PROD, |op, e| {
        let (x, over) = operand(op, e)?;
        over.apply(e, Prod::DEF, x)
    }),
    (&reduction::REDUCE_ARGMAX, |op, e| {
        let (x, axis, keep) = place(op, e)?;
        let at = ArgMax::with(axis).keepdims(keep).build(&mut e.b, x)?;
        counted(op, e, at)
    }),
    (&reduction::REDUCE_ARGMIN, |op, e| {
        let (x, axis, keep) = place(op, e)?;
        let at = ArgMin::with(axis).keepdims(keep).build(&mut e.b, x)?;
        counted(op, e, at)
    }),
    (&activation::SOFTMAX, |op, e| {
        let axis = e.call(op)?.int("axis").unwrap_or(-1);
        let x = e.argument(op, "x")?;
        Ok(Softmax::with().axis(axis).build(&mut e.b, x)?)
    }),
    (&tensor::CUMSUM, cumulative),
];

/// The axes of a reduction.
pub(crate) struct Over {
    /// Axes, counted from the front.
    pub(crate) axes: Vec<i64>,
    /// Whether the axes are kept with extent 1.
    pub(crate) keep: bool,
}

impl Over {
    /// Applies the core reduction `def` along these axes; without axes it returns `x`.
    pub(crate) fn apply(&self, e: &mut Emit<'_>, def: &'static OpDef, x: ValueId) -> One {
        if self.axes.is_empty() {
            Ok(x)
        } else {
            e.op(def, &[x], &[Attr::Ints(&self.axes), Attr::Bool(self.keep)])
        }
    }
}

pub(crate) fn operand(op: OpId, e: &mut Emit<'_>) -> Result<(ValueId, Over), Refusal> {
    let x = e.argument(op, "x")?;
    let rank = e.rank(x);
    let call = e.call(op)?;
    let axes = match call.ints("axes") {
        ArgState::Known(axes) => call.axes(&axes, rank)?,
        _ => (0..rank).collect(),
    };
    let (axes, keep) = (
        axes.into_iter().map(|axis| axis as i64).collect(),
        call.flag("keep_dims"),
    );
    Ok((x, Over { axes, keep }))
}

/// Returns the operand and the axis of an argmax or argmin, and whether the axis is kept.
fn place(op: OpId, e: &mut Emit<'_>) -> Result<(ValueId, i64, bool), Refusal> {
    let x = e.argument(op, "x")?;
    let call = e.call(op)?;
    let axis = call.axis(call.int("axis").unwrap_or(-1), e.rank(x))?;
    Ok((x, axis as i64, call.flag("keep_dims")))
}

/// Returns indices in the dtype of the result.
fn counted(op: OpId, e: &mut Emit<'_>, places: ValueId) -> One {
    let to = e.dtype(e.g().result(op));
    e.convert(places, to)
}

/// Imports a cumulative sum.
fn cumulative(op: OpId, e: &mut Emit<'_>) -> One {
    let x = e.argument(op, "x")?;
    let call = e.call(op)?;
    let axis = call.axis(call.int("axis").unwrap_or(0), e.rank(x))?;
    let (exclusive, reverse) = (call.flag("exclusive"), call.flag("reverse"));
    Ok(Cumulative::with(axis as i64)
        .exclusive(exclusive)
        .reverse(reverse)
        .build(&mut e.b, x)?)
}
