//! Reductions.

use mind_convert::{EmitCore, Refusal, RegionOp};
use mind_core::ops::argmax::{ArgMax, ArgMin};
use mind_core::ops::broadcast::BroadcastTo;
use mind_core::ops::control::Scan;
use mind_core::ops::extents::Iota;
use mind_core::ops::reduce::{Max, Min, Prod, Sum};
use mind_core::ops::runtime_shape::DynamicIota;
use mind_ir::ValueId;
use mind_ir::opdef::Op as _;
use mind_ir::types::Dim;

use super::Row;
use super::body::{Combiner, expressions};
use super::shape::stretched;
use crate::import::emit::{Emit, Many, One};
use crate::import::node::{Node, axis};
use crate::import::region::{Body, closed};
use crate::import::value::{Extent, Value, Values};

pub(super) const ROWS: &[Row] = &[Row::values("stablehlo.reduce", reduce)];

fn reduce(n: &mut Node<'_, '_, '_>) -> Values {
    let count = n.inputs.len() / 2;
    if count == 0 || !n.inputs.len().is_multiple_of(2) {
        let expected = "an even number of 2 or more: inputs, then the start of each";
        return Err(Refusal::operands(n.inputs.len(), expected));
    }
    let first = n.input(0)?;
    let rank = n.e.rank(first);
    let axes = n.ints(&["dimensions"])?;
    for &own in &axes {
        axis(own, rank)?;
    }
    let of_module = |values: Vec<ValueId>| values.into_iter().map(Value::Op).collect();
    if count == 1 {
        let of = n.e.dtype(first);
        if let Some(combiner) = Combiner::of(n, n.region(0)?, of) {
            return Ok(of_module(vec![combined(n, first, combiner, &axes)?]));
        }
    }
    if let Some(direction) = places_of(n, &axes)? {
        return Ok(of_module(largest(n, first, direction, axes[0])?));
    }
    Ok(of_module(scanned(n, count, &axes)?))
}

/// Reduces with a reduction of core, and then combines with the initial value unless it is the identity.
fn combined(n: &mut Node<'_, '_, '_>, x: ValueId, combiner: Combiner, axes: &[i64]) -> One {
    // An empty list of axes means all axes in core, but none here.
    let own = match (axes.is_empty(), combiner) {
        (true, _) => x,
        (false, Combiner::Sum) => Sum::with().axes(axes).build(&mut n.e, x)?,
        (false, Combiner::Prod) => Prod::with().axes(axes).build(&mut n.e, x)?,
        (false, Combiner::Max) => Max::with().axes(axes).build(&mut n.e, x)?,
        (false, Combiner::Min) => Min::with().axes(axes).build(&mut n.e, x)?,
    };
    if combiner.is_identity(n.given(1)?) {
        return Ok(own);
    }
    let start = n.input(1)?;
    let function = combiner.function(n.e.dtype(x));
    n.e.apply(function, &[start, own])
}

/// The element that a reduction of pairs keeps.
#[derive(Clone, Copy)]
enum Extreme {
    Largest,
    Smallest,
}

/// Recognises argmax and argmin as JAX writes them: a reduction along one axis whose second operand holds the indices
/// along the axis. NaN is above or below everything, and the first of equal elements is returned.
fn places_of(n: &mut Node<'_, '_, '_>, axes: &[i64]) -> Result<Option<Extreme>, Refusal> {
    let (&[axis], 4) = (axes, n.inputs.len()) else {
        return Ok(None);
    };
    let Some(found) = expressions(n, n.region(0)?) else {
        return Ok(None);
    };
    let [value, place] = &found[..] else {
        return Ok(None);
    };
    let forms = [
        (Extreme::Largest, "lt(a2,a0)", Combiner::Max),
        (Extreme::Smallest, "lt(a0,a2)", Combiner::Min),
    ];
    let of_form = forms.into_iter().find(|(_, better, _)| {
        let wins = format!("or({better},ne(a0,a0))");
        *value == format!("select({wins},a0,a2)")
            && *place == format!("select(or(and(eq(a0,a2),lt(a1,a3)),{wins}),a1,a3)")
    });
    let Some((extreme, _, combiner)) = of_form else {
        return Ok(None);
    };
    let starts_at_zero = match n.given(3)? {
        Value::Known(constant) => constant.number() == Some(0.0),
        Value::Op(_) | Value::Extents(_) | Value::Compared(_) => false,
    };
    let indices = n.input(1)?;
    let g = n.e.g();
    let along = g.defining_op(indices).and_then(|op| {
        let iota = g.view::<Iota>(op).map(|iota| iota.axis(g));
        iota.or_else(|| g.view::<DynamicIota>(op).map(|iota| iota.axis(g)))
    });
    let is_whole = combiner.is_identity(n.given(2)?) && starts_at_zero && along == Some(axis);
    Ok(is_whole.then_some(extreme))
}

/// Returns the largest or smallest elements along an axis, and their indices.
fn largest(n: &mut Node<'_, '_, '_>, x: ValueId, extreme: Extreme, axis: i64) -> Many {
    let indices = n.input(1)?;
    let of = n.e.dtype(indices);
    let axes = [axis];
    let (value, place) = match extreme {
        Extreme::Largest => (
            Max::with().axes(&axes).build(&mut n.e, x)?,
            ArgMax::with(axis).build(&mut n.e, x)?,
        ),
        Extreme::Smallest => (
            Min::with().axes(&axes).build(&mut n.e, x)?,
            ArgMin::with(axis).build(&mut n.e, x)?,
        ),
    };
    let place = n.e.convert(place, of)?;
    Ok(vec![value, place])
}

/// Reduces by a scan that runs the region on one slice after another in row-major order.
fn scanned(n: &mut Node<'_, '_, '_>, count: usize, axes: &[i64]) -> Many {
    let block = n.region(0)?;
    if block.arguments.len() != 2 * count {
        let found = format!("{} arguments", block.arguments.len());
        return Err(Refusal::parts("its region", found, 2 * count));
    }
    let captures = n.captures(&[block])?;
    let (mut carried, mut slices) = (Vec::new(), Vec::new());
    for at in 0..count {
        let (x, start) = (n.input(at)?, n.input(at + count)?);
        let (all, rest) = in_front(&mut n.e, x, axes)?;
        slices.push(all);
        carried.push(stretched(&mut n.e, start, &[], &rest)?);
    }
    let operands = [carried, slices, n.values(captures.operands())?].concat();
    let attrs = Scan::attrs(count as i64, count as i64, &[], &[], &[], &[]);
    let step: Body<'_, '_> = Box::new(|region, arguments| {
        region.place.is_pointwise = true;
        let carried = arguments[..count].iter();
        let shapes: Vec<Vec<Dim>> = carried.map(|own| region.e.dims(*own)).collect();
        let values = region.block(block, &captures, arguments)?;
        let whole = values.into_iter().zip(shapes);
        // A value that does not depend on the elements is a scalar and must be broadcast.
        let whole = whole.map(|(value, shape)| match region.e.dims(value) == shape {
            true => Ok(value),
            false => Ok(BroadcastTo::with(&shape).build(&mut region.e, value)?),
        });
        whole.collect()
    });
    let op = RegionOp {
        def: Scan::DEF,
        attrs: &attrs,
        operands: &operands,
        results: count,
    };
    closed(n.importer, &mut n.e, op, &mut [step])
}

/// Returns `x` with the axes merged to one leading dimension, and the extents of the axes.
fn in_front(e: &mut Emit<'_>, x: ValueId, axes: &[i64]) -> Result<(ValueId, Vec<Extent>), Refusal> {
    let rank = e.rank(x);
    let is_reduced = |axis: &usize| axes.contains(&(*axis as i64));
    let (front, back): (Vec<usize>, Vec<usize>) = (0..rank).partition(is_reduced);
    let moved = e.permute(x, &[&front[..], &back[..]].concat())?;
    let rest = e.extents_of(moved, front.len()..rank)?;
    if front.len() == 1 {
        return Ok((moved, rest));
    }
    let extents = (0..front.len()).map(|at| e.dims(moved)[at].fixed());
    let extents: Option<Vec<i64>> = extents.collect();
    let steps = extents.and_then(|all| all.iter().try_fold(1i64, |n, own| n.checked_mul(*own)));
    let steps = steps.ok_or_else(|| {
        let what =
            "a dimension that a region other than a sum, product, maximum or minimum combines";
        Refusal::not_constant(what.to_owned(), "is open")
            .help("`--dim NAME=EXTENT` gives the extent")
    })?;
    let shape = [&[Extent::Known(steps)], &rest[..]].concat();
    Ok((e.reshape_extents(moved, &shape)?, rest))
}
