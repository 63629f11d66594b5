//! Scatter: copies the array, then loops over the tuples of indices.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use mind_ir::types::{DType, DTypeClass};

use crate::object::body::Body;
use crate::program::{Bounds, Dimension, Scattering, Stop, Update};

use super::element::{index, read, write as stored};
use super::sum;

pub(super) fn write(body: &mut Body<'_>, scattering: &Scattering, arrays: &[Value]) {
    let Scattering {
        dtype,
        bounds,
        elements,
        tuples,
        axes,
        width,
        ..
    } = scattering;
    let [array, indices, updates, result] = *arrays else {
        unreachable!("a checked step has four arrays")
    };
    let size = dtype.size();
    body.copy(result, array, (elements * size) as u64);
    // Indices of empty slices are not checked.
    if *width == 0 || tuples.iter().any(|own| own.extent == 0) {
        return;
    }
    let none = body.word(0);
    let number = body.variable(types::I64, none);
    let counters: Vec<Value> = tuples
        .iter()
        .map(|tuple| body.open_repeat(tuple.extent as u64))
        .collect();
    let tuple = body.get(number);
    let strides = tuples.iter().map(|own| own.stride);
    let mut at = sum(body, counters.into_iter().zip(strides));
    let own = body.scaled(
        indices,
        tuple,
        (axes.len() * scattering.index.size()) as i64,
    );
    let mut is_inside = body.ins().iconst(types::I8, 1);
    for (position, axis) in axes.iter().enumerate() {
        let from = body.moved(own, (position * scattering.index.size()) as u64);
        let meant = index(body, scattering.index, from);
        let place = position_of(body, *bounds, meant, *axis);
        let beyond = IntCC::UnsignedGreaterThanOrEqual;
        let is_outside = body.ins().icmp_imm(beyond, place, axis.extent as i64);
        match bounds {
            Bounds::Strict | Bounds::FromEnd | Bounds::Clamp => {
                body.stop_if(is_outside, Stop::INDEX_OUT_OF_BOUNDS);
            }
            Bounds::Skip => {
                let zero = body.ins().iconst(types::I8, 0);
                is_inside = body.ins().select(is_outside, zero, is_inside);
            }
        }
        at = body.scaled(at, place, axis.stride as i64);
    }
    body.open_if(is_inside);
    let to = body.scaled(result, at, size as i64);
    let from = body.scaled(updates, tuple, (width * size) as i64);
    if scattering.update == Update::Replace {
        body.copy(to, from, (width * size) as u64);
    } else {
        let within = body.open_repeat(*width as u64);
        let [to, from] = [to, from].map(|base| body.scaled(base, within, size as i64));
        let [own, other] = [to, from].map(|at| read(body, *dtype, at));
        let joined = join(body, *dtype, scattering.update, (own, other));
        stored(body, *dtype, to, joined);
        body.close(1);
    }
    body.close(1);
    let following = body.ins().iadd_imm(tuple, 1);
    body.set(number, following);
    body.close(tuples.len());
}

/// Returns the position for an index; it is out of bounds if the index is invalid.
fn position_of(body: &mut Body<'_>, bounds: Bounds, index: Value, axis: Dimension) -> Value {
    let extent = axis.extent as i64;
    match bounds {
        Bounds::Strict | Bounds::Skip => index,
        Bounds::FromEnd => {
            let none = body.word(0);
            let is_below = body.ins().icmp(IntCC::SignedLessThan, index, none);
            let from_end = body.ins().iadd_imm(index, extent);
            body.ins().select(is_below, from_end, index)
        }
        Bounds::Clamp => {
            let (first, last) = (body.word(0), body.word(extent - 1));
            let below = body.ins().smin(index, last);
            body.ins().smax(below, first)
        }
    }
}

/// Combines an element and its update in the computation type.
fn join(body: &mut Body<'_>, dtype: DType, update: Update, (own, other): (Value, Value)) -> Value {
    let ins = body.ins();
    if dtype.is_float() {
        return match update {
            Update::Replace => other,
            Update::Add => ins.fadd(own, other),
            Update::Mul => ins.fmul(own, other),
            Update::Min => ins.fmin(own, other),
            Update::Max => ins.fmax(own, other),
        };
    }
    match (update, dtype.class() == DTypeClass::Signed) {
        (Update::Replace, _) => other,
        // Sums and products of integers wrap, signed or unsigned.
        (Update::Add, _) => ins.iadd(own, other),
        (Update::Mul, _) => ins.imul(own, other),
        (Update::Min, true) => ins.smin(own, other),
        (Update::Min, false) => ins.umin(own, other),
        (Update::Max, true) => ins.smax(own, other),
        (Update::Max, false) => ins.umax(own, other),
    }
}
