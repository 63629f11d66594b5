//! Imports reductions.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::argmax::{ArgMax, ArgMin};
use mind_core::ops::compare::{Compare, Direction};
use mind_core::ops::cumulative::{Accumulation, Cumulative};
use mind_core::ops::reduce::{Max, Mean, Min, Prod, Sum};
use mind_core::ops::shape::ExpandDims;
use mind_ir::ValueId;
use mind_ir::scalar::{Reduction, ScalarFn};
use mind_ir::types::DTypeClass;

use super::Operator;
use crate::import::emit::{Emit, One};
use crate::import::node::Node;

pub(super) const ROWS: &[Operator] = &[
    Operator::one("ReduceSum", &[1, 11, 13], |n| {
        reduced(n, 13, |e, x, over| over.apply(e, Reduction::Sum, x))
    }),
    Operator::one("ReduceMean", &[1, 11, 13, 18], |n| {
        reduced(n, 18, |e, x, over| over.apply(e, Reduction::Mean, x))
    }),
    Operator::one("ReduceMax", &[1, 11, 12, 13, 18, 20], |n| {
        reduced(n, 18, |e, x, over| over.apply(e, Reduction::Max, x))
    }),
    Operator::one("ReduceMin", &[1, 11, 12, 13, 18, 20], |n| {
        reduced(n, 18, |e, x, over| over.apply(e, Reduction::Min, x))
    }),
    Operator::one("ReduceProd", &[1, 11, 13, 18], |n| {
        reduced(n, 18, |e, x, over| over.apply(e, Reduction::Prod, x))
    }),
    Operator::one("ReduceL1", &[1, 11, 13, 18], |n| {
        reduced(n, 18, |e, x, over| {
            let size = e.apply(ScalarFn::Abs, &[x])?;
            over.apply(e, Reduction::Sum, size)
        })
    }),
    Operator::one("ReduceL2", &[1, 11, 13, 18], |n| {
        reduced(n, 18, |e, x, over| {
            let sum = square_sum(e, x, over)?;
            e.apply(ScalarFn::Sqrt, &[sum])
        })
    }),
    Operator::one("ReduceSumSquare", &[1, 11, 13, 18], |n| {
        reduced(n, 18, square_sum)
    }),
    Operator::one("ReduceLogSum", &[1, 11, 13, 18], |n| {
        reduced(n, 18, |e, x, over| {
            let sum = over.apply(e, Reduction::Sum, x)?;
            e.apply(ScalarFn::Log, &[sum])
        })
    }),
    Operator::one("ReduceLogSumExp", &[1, 11, 13, 18], |n| {
        reduced(n, 18, log_sum_exp)
    }),
    Operator::one("ArgMax", &[1, 11, 12, 13], |n| {
        let (axis, keep, last) = place(n)?;
        let x = n.input(0)?;
        Ok(ArgMax::with(axis)
            .keepdims(keep)
            .last(last)
            .build(&mut n.e, x)?)
    }),
    Operator::one("ArgMin", &[1, 11, 12, 13], |n| {
        let (axis, keep, last) = place(n)?;
        let x = n.input(0)?;
        Ok(ArgMin::with(axis)
            .keepdims(keep)
            .last(last)
            .build(&mut n.e, x)?)
    }),
    Operator::one("CumSum", &[11, 14], |n| cumulative(n, Accumulation::Sum)),
    Operator::one("CumProd", &[26], |n| cumulative(n, Accumulation::Prod)),
];

/// The axes of a reduction, and whether they are kept.
struct Over {
    axes: Vec<i64>,
    keep: bool,
}

impl Over {
    fn apply(&self, e: &mut Emit<'_>, kind: Reduction, x: ValueId) -> One {
        let (axes, keep) = (&self.axes[..], self.keep);
        Ok(match kind {
            Reduction::Sum => Sum::with().axes(axes).keepdims(keep).build(e, x)?,
            Reduction::Mean => Mean::with().axes(axes).keepdims(keep).build(e, x)?,
            Reduction::Max => Max::with().axes(axes).keepdims(keep).build(e, x)?,
            Reduction::Min => Min::with().axes(axes).keepdims(keep).build(e, x)?,
            Reduction::Prod => Prod::with().axes(axes).keepdims(keep).build(e, x)?,
        })
    }
}

/// Imports a reduction whose axes are an attribute before opset `since`, and an input from then on.
fn reduced(
    n: &mut Node<'_, '_, '_>,
    since: i64,
    reduce: fn(&mut Emit<'_>, ValueId, &Over) -> One,
) -> One {
    let keep = n.int("keepdims")? != Some(0);
    let is_none = n.flag("noop_with_empty_axes")?;
    let axes = n.ints_since(since, "axes", 1)?.unwrap_or_default();
    let x = n.input(0)?;
    let rank = n.e.rank(x);
    if axes.is_empty() && is_none {
        // Without axes, each element is reduced on its own.
        let over = Over {
            axes: vec![rank as i64],
            keep: false,
        };
        let apart = one_more(n, x)?;
        return reduce(&mut n.e, apart, &over);
    }
    let axes = match axes.is_empty() {
        true => (0..rank as i64).collect(),
        false => {
            let axes = axes.iter().map(|&axis| Ok(n.e.axis(axis, rank)? as i64));
            axes.collect::<Result<Vec<i64>, Refusal>>()?
        }
    };
    if rank == 0 {
        let over = Over {
            axes: vec![0],
            keep: false,
        };
        let apart = one_more(n, x)?;
        return reduce(&mut n.e, apart, &over);
    }
    reduce(&mut n.e, x, &Over { axes, keep })
}

/// Appends a dimension of extent 1 to `x`.
fn one_more(n: &mut Node<'_, '_, '_>, x: ValueId) -> One {
    let rank = n.e.rank(x) as i64;
    Ok(ExpandDims::with(&[rank]).build(&mut n.e, x)?)
}

fn square_sum(e: &mut Emit<'_>, x: ValueId, over: &Over) -> One {
    let square = e.apply(ScalarFn::Mul, &[x, x])?;
    over.apply(e, Reduction::Sum, square)
}

/// Returns `max + log(sum(exp(x - max)))`, with an infinite maximum replaced by 0. The maximum of integers is not
/// subtracted.
fn log_sum_exp(e: &mut Emit<'_>, x: ValueId, over: &Over) -> One {
    if e.dtype(x).class() != DTypeClass::Float {
        return Err(Refusal::dtype(
            "the operand".to_owned(),
            e.dtype(x),
            "floats",
        ));
    }
    let kept = Over {
        axes: over.axes.clone(),
        keep: true,
    };
    let finite = |e: &mut Emit<'_>, max: ValueId| -> One {
        let size = e.apply(ScalarFn::Abs, &[max])?;
        let infinity = e.number(e.dtype(max), f64::INFINITY);
        let is_infinite = Compare::with(Direction::Eq).build(e, size, infinity)?;
        let zero = e.number(e.dtype(max), 0.0);
        e.apply(ScalarFn::Select, &[is_infinite, zero, max])
    };
    let max = kept.apply(e, Reduction::Max, x)?;
    let wide = finite(e, max)?;
    let below = e.apply(ScalarFn::Sub, &[x, wide])?;
    let powers = e.apply(ScalarFn::Exp, &[below])?;
    let sum = over.apply(e, Reduction::Sum, powers)?;
    let log = e.apply(ScalarFn::Log, &[sum])?;
    let max = over.apply(e, Reduction::Max, x)?;
    let base = finite(e, max)?;
    e.apply(ScalarFn::Add, &[log, base])
}

/// Returns the axis of an argmax or argmin, whether it is kept, and whether the last of equal elements is selected.
fn place(n: &Node<'_, '_, '_>) -> Result<(i64, bool, bool), Refusal> {
    let axis = n.int("axis")?.unwrap_or(0);
    let keep = n.int("keepdims")? != Some(0);
    Ok((axis, keep, n.flag("select_last_index")?))
}

fn cumulative(n: &mut Node<'_, '_, '_>, kind: Accumulation) -> One {
    let axis = n
        .one_int(1)?
        .ok_or_else(|| Refusal::missing(n.operand(1)))?;
    let (exclusive, reverse) = (n.flag("exclusive")?, n.flag("reverse")?);
    let x = n.input(0)?;
    let op = Cumulative::with(axis)
        .kind(kind)
        .exclusive(exclusive)
        .reverse(reverse);
    Ok(op.build(&mut n.e, x)?)
}
