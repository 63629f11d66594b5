//! Exports quantisation and dequantisation.

use mind_convert::Refusal;
use mind_core::ops::quantize::{Dequantize, Quantize};
use mind_core::scale::Granularity;
use mind_ir::ValueId;
use mind_ir::opdef::Op;
use mind_ir::types::DType;

use super::super::draft::Val;
use super::super::emit::{Attrs, Emit, One};
use super::super::operator as op;
use super::{Form, Row};

pub(super) const ROWS: &[Row] = &[
    (
        Quantize::DEF,
        Form::One(|op, e| quantize(Quantize::from_id(op), e)),
    ),
    (
        Dequantize::DEF,
        Form::One(|op, e| dequantize(Dequantize::from_id(op), e)),
    ),
];

/// The first opset with 16-bit integers and block quantisation.
const WIDE_INTEGERS: i64 = 21;

/// Returns whether the opset's operators support integers of this dtype.
fn has_integers(dtype: DType, opset: i64) -> bool {
    match dtype {
        DType::I8 | DType::U8 => true,
        DType::I16 | DType::U16 => opset >= WIDE_INTEGERS,
        DType::I32
        | DType::I64
        | DType::U32
        | DType::U64
        | DType::F16
        | DType::BF16
        | DType::F32
        | DType::F64
        | DType::Bool => false,
    }
}

/// Returns the attributes for a granularity of the scales; `None` if the opset's operators do not support it.
fn granular(e: &Emit<'_>, input: ValueId, scale: ValueId, own: Granularity) -> Option<Attrs> {
    match own {
        Granularity::Tensor => Some(Vec::new()),
        Granularity::Axis(axis) => Some(vec![("axis", (axis as i64).into())]),
        // The blocks must have one size along one axis.
        Granularity::Blocks => {
            let (input, scale) = (e.shape(input).ok()?, e.shape(scale).ok()?);
            let mut axes = (0..input.len()).filter(|&at| input[at] != scale[at]);
            let axis = axes.next().unwrap_or(0);
            if axes.next().is_some() || e.opset < WIDE_INTEGERS || input.len() < 2 {
                return None;
            }
            let size = (input[axis] + scale[axis] - 1).checked_div(scale[axis])?;
            Some(vec![
                ("axis", (axis as i64).into()),
                ("block_size", size.into()),
            ])
        }
    }
}

/// Reshapes scales or zero points so that they broadcast with the elements they apply to.
fn beside(e: &mut Emit<'_>, own: Val, rank: usize, granularity: Granularity) -> One {
    match granularity {
        Granularity::Tensor => Ok(own),
        Granularity::Axis(axis) => {
            let behind: Vec<i64> = (1..(rank - axis) as i64).collect();
            if behind.is_empty() {
                Ok(own)
            } else {
                e.unsqueeze(own, &behind)
            }
        }
        Granularity::Blocks => Err(Refusal::form(
            "the granularity of its scales",
            "blocks along several axes",
            "one scale, one for each place of an axis, or blocks along one axis",
        )),
    }
}

fn quantize(op: Quantize, e: &mut Emit<'_>) -> One {
    let (input, scale, to) = (op.input(e.g), op.scale(e.g), op.dtype(e.g));
    let granularity = op.granularity(e.g)?;
    let of_scale = e.dtype(scale);
    let own = e.value(input);
    let x = e.cast(own, e.dtype(input), of_scale)?;
    let factor = e.value(scale);
    let zero = op.zero_point(e.g);
    let attrs = granular(e, input, scale, granularity);
    let is_linear = has_integers(to, e.opset) && op::QUANTIZE_LINEAR.runs(of_scale, e.opset);
    if let (true, Some(attrs)) = (is_linear, attrs) {
        let zero = match zero {
            Some(zero) => e.value(zero),
            None => zeros(e, to, scale)?,
        };
        return e.node(op::QUANTIZE_LINEAR, &[x, factor, zero], attrs);
    }
    written_out(e, x, [input, scale], zero, granularity, to)
}

/// Returns zero points of 0, which only determine the dtype.
fn zeros(e: &mut Emit<'_>, dtype: DType, scale: ValueId) -> One {
    let zero = e.number(dtype, 0.0);
    if e.rank(scale) == 0 {
        return Ok(zero);
    }
    e.expand(dtype, zero, e.dims(scale))
}

/// Quantises in separate nodes: the quotient is rounded, the zero point added exactly, and the sum clipped to the range
/// of `to`.
fn written_out(
    e: &mut Emit<'_>,
    x: Val,
    [input, scale]: [ValueId; 2],
    zero: Option<ValueId>,
    granularity: Granularity,
    to: DType,
) -> One {
    let (of_scale, rank) = (e.dtype(scale), e.rank(input));
    let factor = e.value(scale);
    let factor = beside(e, factor, rank, granularity)?;
    let quotient = e.apply(op::DIV, of_scale, &[x, factor], Vec::new())?;
    let nearest = e.apply(op::ROUND, of_scale, &[quotient], Vec::new())?;
    let is_nan = e.test(op::IS_NAN, of_scale, &[nearest], Vec::new())?;
    let none = e.number(of_scale, 0.0);
    let nearest = e.choose(of_scale, is_nan, none, nearest)?;
    let mut own = e.cast(nearest, of_scale, DType::F64)?;
    if let Some(zero) = zero {
        let point = e.value(zero);
        let point = beside(e, point, rank, granularity)?;
        let point = e.cast(point, to, DType::F64)?;
        own = e.node(op::ADD, &[own, point], Vec::new())?;
    }
    let [least, most] = [f64::NEG_INFINITY, f64::INFINITY].map(|bound| {
        let bound = mind_convert::scalar(to, bound);
        mind_convert::converted(&bound, DType::F64)
    });
    let (least, most) = (e.tensor(&least), e.tensor(&most));
    let own = e.node(op::MAX, &[own, least], Vec::new())?;
    let own = e.node(op::MIN, &[own, most], Vec::new())?;
    e.cast(own, DType::F64, to)
}

fn dequantize(op: Dequantize, e: &mut Emit<'_>) -> One {
    let (input, scale) = (op.input(e.g), op.scale(e.g));
    let granularity = op.granularity(e.g)?;
    let (from, of_scale) = (e.dtype(input), e.dtype(scale));
    let (x, factor) = (e.value(input), e.value(scale));
    let zero = op.zero_point(e.g).map(|zero| e.value(zero));
    let attrs = granular(e, input, scale, granularity);
    let is_linear = has_integers(from, e.opset) && op::DEQUANTIZE_LINEAR.runs(of_scale, e.opset);
    if let (true, Some(attrs)) = (is_linear, attrs) {
        let inputs: Vec<Val> = [x, factor].into_iter().chain(zero).collect();
        return e.node(op::DEQUANTIZE_LINEAR, &inputs, attrs);
    }
    let rank = e.rank(input);
    let mut own = e.cast(x, from, DType::I64)?;
    if let Some(zero) = zero {
        let point = beside(e, zero, rank, granularity)?;
        let point = e.cast(point, from, DType::I64)?;
        own = e.node(op::SUB, &[own, point], Vec::new())?;
    }
    let own = e.cast(own, DType::I64, of_scale)?;
    let factor = beside(e, factor, rank, granularity)?;
    e.apply(op::MUL, of_scale, &[own, factor], Vec::new())
}
