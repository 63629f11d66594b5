//! Imports quantisation and dequantisation.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::quantize::{Dequantize, Quantize};
use mind_core::ops::reduce::{Max, Min};
use mind_ir::ValueId;
use mind_ir::scalar::ScalarFn;
use mind_ir::types::{DType, Dim};

use super::integers::{convolution, matrix_product};
use super::{MICROSOFT, Many, Operator};
use crate::import::emit::{Emit, One};
use crate::import::node::Node;
use crate::tensor::dtype;

pub(super) const ROWS: &[Operator] = &[
    Operator::one("QuantizeLinear", &[10, 13, 19, 21, 23, 24, 25], quantize),
    Operator::one(
        "DequantizeLinear",
        &[10, 13, 19, 21, 23, 24, 25],
        dequantize,
    )
    .staying(),
    Operator::one("QuantizeLinear", &[1], quantize).of(MICROSOFT),
    Operator::one("DequantizeLinear", &[1], dequantize)
        .of(MICROSOFT)
        .staying(),
    Operator::many("DynamicQuantizeLinear", &[11], dynamic),
    Operator::one("QLinearMatMul", &[10, 21], |n| {
        let (lhs, rhs) = (real(n, 0, -1)?, real(n, 3, -1)?);
        let own = matrix_product(n, lhs, rhs)?;
        requantized(n, own, 6)
    }),
    Operator::one("QLinearConv", &[10], |n| {
        let (x, filter) = (real(n, 0, -1)?, real(n, 3, 0)?);
        let mut own = convolution(n, x, filter)?;
        if let Some(bias) = n.optional(8)? {
            // The scale of the bias is the product of both scales.
            let (input, weight) = (n.input(1)?, n.input(4)?);
            let scale = n.e.apply(ScalarFn::Mul, &[input, weight])?;
            let wide = n.e.convert(bias, DType::F32)?;
            let bias = n.e.apply(ScalarFn::Mul, &[wide, scale])?;
            let bias = n.e.per_channel(bias, n.e.rank(own))?;
            own = n.e.apply(ScalarFn::Add, &[own, bias])?;
        }
        requantized(n, own, 6)
    }),
];

/// Returns a scale or zero point in core's form: a list of one element becomes a scalar.
pub(super) fn point(e: &mut Emit<'_>, value: ValueId) -> One {
    if e.dims(value)[..] != [Dim::Fixed(1)] {
        return Ok(value);
    }
    match mind_core::scalar_of(e.g(), value) {
        Some(number) => Ok(e.tensor(&number)),
        None => e.reshape_to(value, &[]),
    }
}

pub(super) fn optional_point(
    n: &mut Node<'_, '_, '_>,
    at: usize,
) -> Result<Option<ValueId>, Refusal> {
    let value = n.optional(at)?;
    value.map(|value| point(&mut n.e, value)).transpose()
}

/// Returns the axis; the block size follows from the extents of the scale.
fn axis(n: &Node<'_, '_, '_>) -> Result<i64, Refusal> {
    n.ignore("block_size");
    n.ignore("saturate");
    Ok(n.int("axis")?.unwrap_or(1))
}

/// Returns an axis that is valid for `x`, because the default axis is out of range for rank 1, and irrelevant if the
/// scale is not a list.
fn valid_axis(e: &Emit<'_>, x: ValueId, scale: ValueId, axis: i64) -> i64 {
    match e.rank(scale) {
        1 if e.rank(x) > 1 => axis,
        1 => 0,
        _ => -1,
    }
}

/// Returns the output dtype that a node requests, if it does.
fn output_dtype(n: &Node<'_, '_, '_>) -> Result<Option<DType>, Refusal> {
    let asked = n.int("output_dtype")?.filter(|own| *own != 0);
    asked.map(dtype).transpose()
}

fn quantize(n: &mut Node<'_, '_, '_>) -> One {
    let axis = axis(n)?;
    let to = output_dtype(n)?;
    n.ignore("precision");
    let (x, scale) = (n.input(0)?, n.input(1)?);
    let (scale, zero) = (point(&mut n.e, scale)?, optional_point(n, 2)?);
    let to = to.or(zero.map(|zero| n.e.dtype(zero))).unwrap_or(DType::U8);
    let axis = valid_axis(&n.e, x, scale, axis);
    let x = if n.e.dtype(x) == DType::I32 {
        n.e.convert(x, DType::F32)?
    } else {
        x
    };
    Ok(Quantize::with(to)
        .axis(axis)
        .build(&mut n.e, x, scale, zero)?)
}

fn dequantize(n: &mut Node<'_, '_, '_>) -> One {
    let axis = axis(n)?;
    let to = output_dtype(n)?;
    let (x, scale) = (n.input(0)?, n.input(1)?);
    let (scale, zero) = (point(&mut n.e, scale)?, optional_point(n, 2)?);
    let axis = valid_axis(&n.e, x, scale, axis);
    let own = Dequantize::with()
        .axis(axis)
        .build(&mut n.e, x, scale, zero)?;
    match to {
        Some(to) => n.e.convert(own, to),
        None => Ok(own),
    }
}

fn dynamic(n: &mut Node<'_, '_, '_>) -> Many {
    let x = n.input(0)?;
    Ok(dynamically(&mut n.e, x)?.to_vec())
}

/// Quantises all elements to `u8` with a scale and zero point computed from the largest and the smallest.
pub(super) fn dynamically(e: &mut Emit<'_>, x: ValueId) -> Result<[ValueId; 3], Refusal> {
    let axes: Vec<i64> = (0..e.rank(x) as i64).collect();
    let high = Max::with().axes(&axes).build(e, x)?;
    let low = Min::with().axes(&axes).build(e, x)?;
    let high = e.apply_number(ScalarFn::Maximum, high, 0.0)?;
    let low = e.apply_number(ScalarFn::Minimum, low, 0.0)?;
    let span = e.apply(ScalarFn::Sub, &[high, low])?;
    let scale = e.apply_number(ScalarFn::Div, span, 255.0)?;
    let zero = e.number(DType::F32, 0.0);
    let below = e.apply(ScalarFn::Sub, &[zero, low])?;
    let place = e.apply(ScalarFn::Div, &[below, scale])?;
    let place = e.apply(ScalarFn::Round, &[place])?;
    let place = e.apply_number(ScalarFn::Maximum, place, 0.0)?;
    let place = e.apply_number(ScalarFn::Minimum, place, 255.0)?;
    let point = e.convert(place, DType::U8)?;
    let own = Quantize::with(DType::U8).build(e, x, scale, Some(point))?;
    Ok([own, scale, point])
}

/// Dequantises input `at` with the scale and the zero point in the next inputs.
pub(super) fn real(n: &mut Node<'_, '_, '_>, at: usize, axis: i64) -> One {
    let (x, scale) = (n.input(at)?, n.input(at + 1)?);
    let (scale, zero) = (point(&mut n.e, scale)?, optional_point(n, at + 2)?);
    let axis = valid_axis(&n.e, x, scale, axis);
    Ok(Dequantize::with()
        .axis(axis)
        .build(&mut n.e, x, scale, zero)?)
}

/// Quantises with the scale in input `at` and the zero point in the next input.
pub(super) fn requantized(n: &mut Node<'_, '_, '_>, own: ValueId, at: usize) -> One {
    let scale = n.input(at)?;
    let (scale, zero) = (point(&mut n.e, scale)?, optional_point(n, at + 1)?);
    let to = zero.map_or(DType::U8, |zero| n.e.dtype(zero));
    Ok(Quantize::with(to).build(&mut n.e, own, scale, zero)?)
}
