//! Imports ops with data-dependent shapes.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::compare::{Compare, Direction, Select};
use mind_core::ops::elementwise::{Mod, Neg};
use mind_core::ops::extents::{ExtentOf, Iota};
use mind_core::ops::index::{Gather, Index};
use mind_core::ops::reduce::Prod;
use mind_core::ops::rounding::Ceil;
use mind_core::ops::runtime_shape::{DynamicBroadcastTo, DynamicIota, DynamicReshape};
use mind_core::ops::shape::ExpandDims;
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim};
use mind_ir::{OpId, ValueId};
use mind_mil::MilOp;
use mind_mil::call::floats;
use mind_mil::ops::tensor;

use crate::emit::{Emit, Import, One};

pub(crate) const ROWS: &[(&MilOp, Import)] = &[
    (&tensor::FILL, fill),
    (&tensor::RANGE_1D, range),
    (&tensor::SHAPE, |op, e| {
        let x = e.argument(op, "x")?;
        let extents = extents(e, x)?;
        e.convert(extents, e.dtype(e.g().result(op)))
    }),
];

/// Returns the extents of `x` as `i32[rank]`.
fn extents(e: &mut Emit<'_>, x: ValueId) -> One {
    if let Ok(shape) = e.shape(x) {
        let extents: Vec<i32> = shape.iter().map(|&extent| extent as i32).collect();
        return Ok(e.tensor(&Tensor::of(vec![extents.len()], extents)));
    }
    let each = (0..e.rank(x)).map(|axis| {
        let extent = extent(e, x, axis)?;
        e.reshape_to(extent, &[1])
    });
    let each: Vec<ValueId> = each.collect::<Result<_, Refusal>>()?;
    e.concat(&each, 0)
}

/// Returns the extent of `x` along `axis` as `i32[]`.
pub(crate) fn extent(e: &mut Emit<'_>, x: ValueId, axis: usize) -> One {
    let extent = ExtentOf::with(axis as i64).build(&mut e.b, x)?;
    e.convert(extent, DType::I32)
}

/// Returns `other` where `value` compares to 0 in `direction`, and `value` elsewhere.
pub(crate) fn unless(
    e: &mut Emit<'_>,
    direction: Direction,
    value: ValueId,
    other: ValueId,
) -> One {
    let zero = e.tensor(&Tensor::scalar(0i32));
    let is_other = Compare::with(direction).build(&mut e.b, value, zero)?;
    Ok(Select::build(&mut e.b, is_other, other, value)?)
}

/// Reshapes `x` to argument `shape` of `op`, in which 0 copies an extent and -1 is inferred.
pub(crate) fn reshape(op: OpId, e: &mut Emit<'_>, x: ValueId) -> One {
    let asked = e.argument(op, "shape")?;
    let mut asked = e.convert(asked, DType::I32)?;
    let rank = e.rank(e.g().result(op));
    let own = extents(e, x)?;
    if e.rank(x) == rank {
        asked = unless(e, Direction::Eq, asked, own)?;
    }
    let count = Prod::with().axes(&[0]).build(&mut e.b, own)?;
    let product = Prod::with().axes(&[0]).build(&mut e.b, asked)?;
    let negative = Neg::build(&mut e.b, product)?;
    let one = e.tensor(&Tensor::scalar(1i32));
    let part = e.max(negative, one)?;
    let left = e.div(count, part)?;
    let asked = unless(e, Direction::Lt, asked, left)?;
    let shape = vec![Dim::Dynamic; rank];
    Ok(DynamicReshape::with(&shape).build(&mut e.b, x, asked)?)
}

/// Repeats `x` along each dimension as argument `reps` of `op` says.
pub(crate) fn tile(op: OpId, e: &mut Emit<'_>, x: ValueId) -> One {
    let reps = e.argument(op, "reps")?;
    let reps = e.convert(reps, DType::I32)?;
    let own = extents(e, x)?;
    let rank = e.rank(x);
    let [times, each] = [reps, own].map(|list| e.reshape_to(list, &[rank as i64, 1]));
    let pairs = e.concat(&[times?, each?], 1)?;
    let pairs = e.reshape_to(pairs, &[2 * rank as i64])?;
    let dims = e.g().ty(x).shape.iter();
    let twice: Vec<Dim> = dims.flat_map(|&dim| [Dim::Dynamic, dim]).collect();
    let axes: Vec<i64> = (0..rank as i64).map(|axis| 2 * axis).collect();
    let apart = ExpandDims::with(&axes).build(&mut e.b, x)?;
    let repeated = DynamicBroadcastTo::with(&twice).build(&mut e.b, apart, pairs)?;
    let whole = e.mul(reps, own)?;
    let shape = vec![Dim::Dynamic; rank];
    Ok(DynamicReshape::with(&shape).build(&mut e.b, repeated, whole)?)
}

/// Slices `x` axis by axis to a data-dependent size. A negative start counts from the end, and a negative size extends
/// to the end.
pub(crate) fn window(op: OpId, e: &mut Emit<'_>, x: ValueId) -> One {
    let known = e.ints(op, "size").ok();
    let [begin, size] = ["begin", "size"].map(|name| {
        let list = e.argument(op, name)?;
        e.convert(list, DType::I32)
    });
    let (begin, size) = (begin?, size?);
    let mut result = x;
    for axis in 0..e.rank(x) {
        let at = [axis as i64];
        let own = extent(e, x, axis)?;
        let first = Index::with(&at).build(&mut e.b, begin)?;
        let from_end = e.add(first, own)?;
        let first = unless(e, Direction::Lt, first, from_end)?;
        let positions = match known.as_ref().map(|known| known[axis]) {
            Some(size @ 0..) => Iota::with(DType::I32, &[Dim::Fixed(size)]).build(&mut e.b)?,
            Some(_) | None => {
                let count = Index::with(&at).build(&mut e.b, size)?;
                let rest = e.sub(own, first)?;
                let count = unless(e, Direction::Lt, count, rest)?;
                let count = e.reshape_to(count, &[1])?;
                DynamicIota::with(DType::I32, &[Dim::Dynamic]).build(&mut e.b, count)?
            }
        };
        let indices = e.add(positions, first)?;
        let gather = Gather::with().axis(axis as i64);
        result = gather.build(&mut e.b, result, indices)?;
    }
    Ok(result)
}

/// Imports a fill with one value, in the shape given by an operand.
fn fill(op: OpId, e: &mut Emit<'_>) -> One {
    let extents = e.argument(op, "shape")?;
    let value = match e.optional(op, "value")? {
        Some(value) => value,
        None => e.number(DType::F32, 0.0),
    };
    let shape = vec![Dim::Dynamic; e.g().ty(e.g().result(op)).rank()];
    Ok(DynamicBroadcastTo::with(&shape).build(&mut e.b, value, extents)?)
}

/// Imports a range from `start` to before `end`, as indices that are scaled and shifted.
fn range(op: OpId, e: &mut Emit<'_>) -> One {
    let [start, end, step] = ["start", "end", "step"].map(|name| e.argument(op, name));
    let (start, end, step) = (start?, end?, step?);
    let dtype = e.dtype(start);
    // The evaluation computes floats in `f64` and rounds them to `f32` first.
    let is_float = dtype.is_float();
    let wide = if is_float { DType::F64 } else { dtype };
    let [start, end, step] = [start, end, step].map(|value| e.convert(value, wide));
    let (start, end, step) = (start?, end?, step?);
    let is = |e: &Emit<'_>, name: &str, number: f64| {
        let known = e.known(op, name);
        known.is_ok_and(|known| floats(&known) == [number])
    };
    let (from_zero, by_one) = (is(e, "start", 0.0), is(e, "step", 1.0));
    let distance = if from_zero { end } else { e.sub(end, start)? };
    let count = match (by_one, is_float) {
        (true, true) => Ceil::build(&mut e.b, distance)?,
        (true, false) => distance,
        (false, _) => steps(e, distance, step)?,
    };
    let count = if is_float {
        e.convert(count, DType::I64)?
    } else {
        count
    };
    let extents = e.reshape_to(count, &[1])?;
    let indices = DynamicIota::with(wide, &[Dim::Dynamic]).build(&mut e.b, extents)?;
    let scaled = if by_one {
        indices
    } else {
        e.mul(indices, step)?
    };
    let moved = if from_zero {
        scaled
    } else {
        e.add(scaled, start)?
    };
    let single = if is_float {
        e.convert(moved, DType::F32)?
    } else {
        moved
    };
    e.convert(single, dtype)
}

/// Returns `distance / step`, rounded up.
pub(crate) fn steps(e: &mut Emit<'_>, distance: ValueId, step: ValueId) -> One {
    if e.dtype(distance).is_float() {
        let quotient = e.div(distance, step)?;
        return Ok(Ceil::build(&mut e.b, quotient)?);
    }
    // The distance is extended to a multiple of the step, because integer division truncates.
    let negative = Neg::build(&mut e.b, distance)?;
    let missing = Mod::build(&mut e.b, negative, step)?;
    let whole = e.add(distance, missing)?;
    e.div(whole, step)
}
