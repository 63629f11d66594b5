//! Ops with a shape operand.

use mind_core::ops::runtime_shape::{DynamicBroadcastTo, DynamicIota, DynamicReshape};
use mind_ir::ValueId;
use mind_ir::opdef::{Op, OperandClass};
use mind_ir::tensor::Tensor;
use mind_ir::types::Dim;

use crate::generator::Generator;
use crate::shape::{regrouped, small};

/// Draws a reshape.
pub(crate) fn reshape(draw: &mut Generator<'_>) -> Option<ValueId> {
    let input = draw.value(OperandClass::Any);
    let extents = small(draw.graph.ty(input))?;
    let extents = regrouped(&mut draw.rng, &extents);
    let (operand, shape) = requested_shape(draw, &extents);
    let attrs = DynamicReshape::attrs(&shape, false);
    draw.op(DynamicReshape::DEF, &[input, operand], &attrs)
}

/// Draws a broadcast along new dimensions and those of extent 1.
pub(crate) fn broadcast(draw: &mut Generator<'_>) -> Option<ValueId> {
    let input = draw.value(OperandClass::Any);
    let mut extents = small(draw.graph.ty(input))?;
    for extent in &mut extents {
        if *extent == 1 {
            *extent = draw.rng.pick(&[0, 1, 2, 3]);
        }
    }
    if draw.rng.once_in(2) {
        extents.insert(0, draw.rng.pick(&[1, 2, 3]));
    }
    let (operand, shape) = requested_shape(draw, &extents);
    let attrs = DynamicBroadcastTo::attrs(&shape);
    draw.op(DynamicBroadcastTo::DEF, &[input, operand], &attrs)
}

/// Draws an iota in the shape of a value.
pub(crate) fn iota(draw: &mut Generator<'_>) -> Option<ValueId> {
    let like = draw.value(OperandClass::Any);
    let dtype = draw.graph.ty(like).dtype;
    let extents = small(draw.graph.ty(like)).filter(|extents| !extents.is_empty())?;
    let axis = draw.rng.below(extents.len()) as i64;
    let (operand, shape) = requested_shape(draw, &extents);
    let attrs = DynamicIota::attrs(dtype, &shape, axis);
    draw.op(DynamicIota::DEF, &[operand], &attrs)
}

/// Returns a constant with these extents, and the static shape: all extents, or some of them data-dependent.
fn requested_shape(draw: &mut Generator<'_>, extents: &[i64]) -> (ValueId, Vec<Dim>) {
    let is_open = draw.decides_extents();
    let shape = extents.iter().map(|&extent| {
        let is_open = is_open && draw.rng.once_in(3);
        if is_open {
            Dim::Dynamic
        } else {
            Dim::Fixed(extent)
        }
    });
    let shape = shape.collect();
    let operand = if draw.rng.once_in(2) {
        Tensor::of(vec![extents.len()], extents.to_vec())
    } else {
        Tensor::of(
            vec![extents.len()],
            extents.iter().map(|&extent| extent as i32).collect(),
        )
    };
    (draw.tensor(&operand), shape)
}
