//! Quantisation and dequantisation.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::tensor::{Num, Tensor, advance};
use mind_ir::types::{DType, TensorType, TypeView};
use mind_ir::verify::{InferResult, VerifyError};
use mind_ir::with_float;

use crate::eval::checked::{self, integers};
use crate::extent::agree;
use crate::scale::Granularity;

ops! {
    /// `input / scale` rounded to the nearest integer, ties to even, plus `zero_point`, saturated to the range of
    /// `dtype`.
    ///
    /// The quotient is rounded to the dtype of `scale`, to which `input` is converted; the sum is exact. NaN counts as
    /// 0, and a `zero_point` that is not given is 0. A scale of rank 0 applies to all elements, and a list has one
    /// scale for each slice along `axis`. A scale of the rank of `input` has one for each block, of `ceil(n / m)`
    /// elements along each dimension with `n` elements and `m` scales.
    ///
    /// Shapes: as `input`; the result has `dtype`.
    /// Errors: E2004 `zero_point` of another dtype than `dtype`, E2005 a scale or an input that is not a float, or
    /// `dtype` not an integer of at most 32 bits, E3002 a scale of another rank, or `zero_point` of another than
    /// `scale`, E3003 extents that do not match, E3004 axis out of range.
    /// Source: this compiler; ONNX `QuantizeLinear`, MIL `quantize`, StableHLO `uniform_quantize`.
    Quantize = "core.quantize" {
        operands: (input: Float, scale: Float),
        optional: (zero_point: Integer),
        attrs: { dtype "t": ElementType, axis "ax": Int = -1 },
        traits: [Pure, Extended],
        names: { core: "Quantize", mic1: "quantize" },
        infer: infer_quantize,
        eval: eval_quantize,
    }

    /// `input - zero_point` in the dtype of `scale`, times `scale`.
    ///
    /// The difference is exact, then rounded once to the dtype of `scale`, and the product once. `zero_point` and the
    /// shape of `scale` are as for `Quantize`.
    ///
    /// Shapes: as `input`; the result has the dtype of `scale`.
    /// Errors: E2004 `zero_point` of another dtype than `input`, E2005 a scale that is not a float, or an input that is
    /// not an integer of at most 32 bits, E3002 a scale of another rank, or `zero_point` of another than `scale`, E3003
    /// extents that do not match, E3004 axis out of range.
    /// Source: this compiler; ONNX `DequantizeLinear`, MIL `dequantize`, StableHLO `uniform_dequantize`.
    Dequantize = "core.dequantize" {
        operands: (input: Integer, scale: Float),
        optional: (zero_point: Integer),
        attrs: { axis "ax": Int = -1 },
        traits: [Pure, Extended],
        names: { core: "Dequantize", mic1: "dequantize" },
        infer: infer_dequantize,
        eval: eval_dequantize,
    }
}

impl Quantize {
    /// Returns the elements that share a scale.
    ///
    /// # Errors
    ///
    /// E3002 a scale of another rank, E3004 axis out of range.
    pub fn granularity(self, g: &Graph) -> Result<Granularity, VerifyError> {
        let ranks = [self.input(g), self.scale(g)].map(|value| g.ty(value).rank());
        Granularity::new("quantize", ranks[0], ranks[1], self.axis(g))
    }
}

impl Dequantize {
    /// Returns the elements that share a scale.
    ///
    /// # Errors
    ///
    /// E3002 a scale of another rank, E3004 axis out of range.
    pub fn granularity(self, g: &Graph) -> Result<Granularity, VerifyError> {
        let ranks = [self.input(g), self.scale(g)].map(|value| g.ty(value).rank());
        Granularity::new("dequantize", ranks[0], ranks[1], self.axis(g))
    }
}

/// Checks the dtypes of the integers, the scales and the zero points.
fn check(
    g: &Graph,
    op: &'static str,
    granularity: Granularity,
    (operand, integers): (&'static str, DType),
    [input, scale]: [TypeView<'_>; 2],
    zero_point: Option<TypeView<'_>>,
) -> Result<(), VerifyError> {
    if !integers.is_int() || integers.size() > 4 {
        return Err(VerifyError::DType {
            op,
            operand,
            found: integers,
            supported: "integers of at most 32 bits",
        });
    }
    granularity.check(g, op, input.shape, scale.shape)?;
    let Some(zero_point) = zero_point else {
        return Ok(());
    };
    if zero_point.dtype != integers {
        let (lhs, rhs) = (integers, zero_point.dtype);
        return Err(VerifyError::DTypeClash { op, lhs, rhs });
    }
    if zero_point.rank() != scale.rank() {
        return Err(VerifyError::Rank {
            op,
            operand: "zero_point",
            expected: scale.rank().to_string(),
            found: zero_point.rank(),
        });
    }
    for (at, (&expected, &found)) in scale.shape.iter().zip(zero_point.shape).enumerate() {
        let dimension = format!("dimension {at} of `zero_point`");
        let help = "there is a zero point for each scale";
        agree(g, op, dimension, expected, found, help)?;
    }
    Ok(())
}

fn infer_quantize(op: Quantize, g: &Graph) -> InferResult {
    let (input, scale, dtype) = (g.ty(op.input(g)), g.ty(op.scale(g)), op.dtype(g));
    let zero_point = op.zero_point(g).map(|value| g.ty(value));
    let (granularity, integers) = (op.granularity(g)?, ("dtype", dtype));
    check(
        g,
        "quantize",
        granularity,
        integers,
        [input, scale],
        zero_point,
    )?;
    Ok(TensorType::new(dtype, input.shape.iter().copied()).into())
}

fn infer_dequantize(op: Dequantize, g: &Graph) -> InferResult {
    let (input, scale) = (g.ty(op.input(g)), g.ty(op.scale(g)));
    let zero_point = op.zero_point(g).map(|value| g.ty(value));
    let (granularity, integers) = (op.granularity(g)?, ("input", input.dtype));
    check(
        g,
        "dequantize",
        granularity,
        integers,
        [input, scale],
        zero_point,
    )?;
    Ok(TensorType::new(scale.dtype, input.shape.iter().copied()).into())
}

fn eval_quantize(op: Quantize, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let granularity = op.granularity(cx.graph).expect("a verified scale");
    quantized(cx, granularity, op.dtype(cx.graph), operands)
}

fn eval_dequantize(
    op: Dequantize,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let granularity = op.granularity(cx.graph).expect("a verified scale");
    dequantized(cx, granularity, operands)
}

/// Returns for each element of `input` the index of its scale and zero point in `scale`.
fn scale_indices(
    op: &str,
    granularity: Granularity,
    operands: &[&Tensor],
) -> Result<Vec<usize>, EvalError> {
    let (shape, scale) = (operands[0].shape(), operands[1].shape());
    granularity.check_in_run(op, shape, scale)?;
    if let Some(zero_point) = operands.get(2).filter(|own| own.shape() != scale) {
        let found = zero_point.shape();
        return Err(EvalError::Shape(format!(
            "zero points of shape {found:?} for scales of shape {scale:?} in `{op}`"
        )));
    }
    let mut index = vec![0; shape.len()];
    let next = |_| {
        let scale_index = granularity.scale_index(&index, shape, scale);
        advance(&mut index, shape);
        scale_index
    };
    Ok((0..operands[0].count()).map(next).collect())
}

/// Quantises the floats `operands[0]` to `dtype` with the scales `operands[1]` and the zero points `operands[2]`, if
/// present.
///
/// # Errors
///
/// Extents that do not match, E6004 too large.
pub fn quantized(
    cx: &EvalCx<'_>,
    granularity: Granularity,
    dtype: DType,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let (input, scale) = (operands[0], operands[1]);
    cx.count(dtype, input.shape())?;
    let scale_indices = scale_indices("quantize", granularity, operands)?;
    let quotients = quotients(input, scale, &scale_indices);
    let zeros = operands.get(2).map(|zero_point| integers(zero_point));
    let (least, most) = checked::range(dtype);
    let mut elements = Vec::with_capacity(scale_indices.len());
    for (at, scale_index) in scale_indices.into_iter().enumerate() {
        // The cast saturates to the range of `i64` and converts NaN to 0.
        let rounded = quotients[at].round_ties_even() as i64;
        let zero = zeros.as_ref().map_or(0, |zeros| zeros[scale_index]);
        elements.push((i128::from(rounded) + zero).clamp(least, most));
    }
    Ok(checked::tensor_of(dtype, input.shape().to_vec(), &elements))
}

/// Returns the elements of `input`, rounded to the dtype of `scale` and divided in that dtype by the scales at
/// `scale_indices`.
fn quotients(input: &Tensor, scale: &Tensor, scale_indices: &[usize]) -> Vec<f64> {
    let mut numbers = floats(input);
    with_float!(scale.dtype(), S => {
        let scales = scale.elements::<S>();
        for (x, &at) in numbers.iter_mut().zip(scale_indices) {
            let quotient = S::cast_f64(*x).div(scales[at]);
            *x = quotient.map_or(f64::NAN, |quotient| quotient.to_f64());
        }
    }, else {});
    numbers
}

/// Returns the elements of a float tensor, converted exactly.
fn floats(tensor: &Tensor) -> Vec<f64> {
    with_float!(tensor.dtype(), T => {
        tensor.elements::<T>().iter().map(|x| x.to_f64()).collect()
    }, else { Vec::new() })
}

/// Dequantises the integers `operands[0]` with the scales `operands[1]` and the zero points `operands[2]`, if present.
///
/// # Errors
///
/// Extents that do not match, E6004 too large.
pub fn dequantized(
    cx: &EvalCx<'_>,
    granularity: Granularity,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let (input, scale) = (operands[0], operands[1]);
    cx.count(scale.dtype(), input.shape())?;
    let scale_indices = scale_indices("dequantize", granularity, operands)?;
    let zeros = operands.get(2).map(|zero_point| integers(zero_point));
    let mut numbers = integers(input);
    if let Some(zeros) = zeros {
        numbers
            .iter_mut()
            .zip(&scale_indices)
            .for_each(|(x, &at)| *x -= zeros[at]);
    }
    Ok(with_float!(scale.dtype(), S => {
        let scales = scale.elements::<S>();
        let elements = numbers.iter().zip(&scale_indices);
        let elements = elements.map(|(&x, &at)| S::from_i128(x).mul(scales[at]));
        Tensor::of(input.shape().to_vec(), elements.collect::<Vec<S>>())
    }, else { unreachable!("a verified scale is a float") }))
}
