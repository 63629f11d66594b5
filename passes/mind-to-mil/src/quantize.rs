//! Quantisation and dequantisation.

use mind_convert::Refusal;
use mind_core::ops::quantize::{Dequantize, Quantize};
use mind_core::scale::Granularity;
use mind_ir::ValueId;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::types::DType;
use mind_mil::ops::quantize::{DEQUANTIZE, QUANTIZE};
use mind_mil::{Element, MilOp, Opset};

use crate::emit::Argument::{Int, Value, Word};
use crate::emit::{Argument, Emit, Lower};

pub(crate) const ROWS: &[(&OpDef, Lower)] = &[
    (Quantize::DEF, |op, e| {
        let view = Quantize::from_id(op);
        let (input, scale) = (view.input(e.g()), view.scale(e.g()));
        let (zero_point, dtype) = (view.zero_point(e.g()), view.dtype(e.g()));
        let granularity = view.granularity(e.g())?;
        let mut args = arguments(e, &QUANTIZE, granularity, dtype, [input, scale], zero_point)?;
        args.push(("output_dtype", Word(Element::of(dtype).name())));
        e.op(&QUANTIZE, &args)
    }),
    (Dequantize::DEF, |op, e| {
        let view = Dequantize::from_id(op);
        let (input, scale) = (view.input(e.g()), view.scale(e.g()));
        let (zero_point, dtype) = (view.zero_point(e.g()), e.dtype(input));
        let granularity = view.granularity(e.g())?;
        let args = arguments(
            e,
            &DEQUANTIZE,
            granularity,
            dtype,
            [input, scale],
            zero_point,
        )?;
        e.op(&DEQUANTIZE, &args)
    }),
];

/// Returns the arguments that both ops share.
///
/// # Errors
///
/// If MIL does not support the integer type, data-dependent scales or block quantisation.
fn arguments(
    e: &Emit<'_, '_>,
    row: &MilOp,
    granularity: Granularity,
    dtype: DType,
    [input, scale]: [ValueId; 2],
    zero_point: Option<ValueId>,
) -> Result<Vec<(&'static str, Argument<'static>)>, Refusal> {
    let name = row.name;
    if e.config.opset < Opset::Ios17 {
        return Err(Refusal::no_counterpart(format!(
            "there is no `{name}` before ios17"
        )));
    }
    if !matches!(dtype, DType::I8 | DType::U8) {
        return Err(Refusal::no_counterpart(format!("`{name}` has no {dtype}")));
    }
    if [scale]
        .into_iter()
        .chain(zero_point)
        .any(|own| e.elements(own).is_none())
    {
        return Err(Refusal::no_counterpart(format!(
            "the scale of `{name}` is not constant"
        )));
    }
    let is_float = e.dtype(input).is_float();
    if is_float && e.dtype(input) != e.dtype(scale) {
        let (own, scale) = (e.dtype(input), e.dtype(scale));
        return Err(Refusal::no_counterpart(format!(
            "`{name}` has no {own} on a scale of {scale}"
        )));
    }
    let axis = match granularity {
        Granularity::Tensor => None,
        Granularity::Axis(axis) => Some(axis as i64),
        Granularity::Blocks
            if e.shape(input)?.len() == 1 && e.shape(input)? == e.shape(scale)? =>
        {
            Some(0)
        }
        Granularity::Blocks => {
            return Err(Refusal::no_counterpart(format!(
                "`{name}` has no scales of blocks"
            )));
        }
    };
    let mut args = vec![("input", Value(input)), ("scale", Value(scale))];
    args.extend(zero_point.map(|zero_point| ("zero_point", Value(zero_point))));
    args.extend(axis.map(|axis| ("axis", Int(axis))));
    Ok(args)
}
