//! Tensors whose extents come at run time.

use mind_core::ops::elementwise::{Mod, Neg};
use mind_core::ops::rounding::Ceil;
use mind_core::ops::runtime_shape::{DynamicBroadcastTo, DynamicIota};
use mind_ir::types::{DType, Dim};
use mind_ir::{OpId, ValueId};
use mind_mil::MilOp;
use mind_mil::call::floats;
use mind_mil::ops::tensor;

use crate::emit::{Emit, Import, Imported};

pub(crate) const ROWS: &[(&MilOp, Import)] = &[(&tensor::FILL, fill), (&tensor::RANGE_1D, range)];

/// One value in the shape that an operand gives.
fn fill(op: OpId, e: &mut Emit<'_>) -> Imported {
    let extents = e.argument(op, "shape")?;
    let value = match e.optional(op, "value")? {
        Some(value) => value,
        None => e.number(DType::F32, 0.0),
    };
    let shape = vec![Dim::Dynamic; e.g().ty(e.g().result(op)).rank()];
    Ok(DynamicBroadcastTo::with(&shape).build(&mut e.b, value, extents)?)
}

/// The numbers from `start` to below `end`: as many indices as there are, scaled and moved.
fn range(op: OpId, e: &mut Emit<'_>) -> Imported {
    let [start, end, step] = ["start", "end", "step"].map(|name| e.argument(op, name));
    let (start, end, step) = (start?, end?, step?);
    let dtype = e.dtype(start);
    // Of floats an evaluation computes in `f64`, and rounds to `f32` first.
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
    let extents = e.reshape(count, &[1])?;
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

/// `distance / step`, rounded up.
fn steps(e: &mut Emit<'_>, distance: ValueId, step: ValueId) -> Imported {
    if e.dtype(distance).is_float() {
        let quotient = e.div(distance, step)?;
        return Ok(Ceil::build(&mut e.b, quotient)?);
    }
    // What is missing to a whole number of steps has the sign of a step.
    let negative = Neg::build(&mut e.b, distance)?;
    let missing = Mod::build(&mut e.b, negative, step)?;
    let whole = e.add(distance, missing)?;
    e.div(whole, step)
}
