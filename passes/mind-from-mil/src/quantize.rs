//! Imports quantisation and dequantisation.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::quantize::{Dequantize, Quantize};
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};
use mind_mil::MilOp;
use mind_mil::{Element, ops::quantize};

use crate::emit::{Emit, Import, One};

pub(crate) const ROWS: &[(&MilOp, Import)] = &[
    (&quantize::QUANTIZE, |op, e| {
        let input = e.argument(op, "input")?;
        let (scale, zero_point, axis) = scales(op, e)?;
        let element = Element::parse(e.call(op)?.word("output_dtype")).unwrap_or(Element::Int8);
        let new = Quantize::with(element.carrier()).axis(axis);
        let result = new.build(&mut e.b, input, scale, zero_point)?;
        cut(e, result, element)
    }),
    (&quantize::DEQUANTIZE, |op, e| {
        let input = e.argument(op, "input")?;
        let (scale, zero_point, axis) = scales(op, e)?;
        let new = Dequantize::with().axis(axis);
        Ok(new.build(&mut e.b, input, scale, zero_point)?)
    }),
];

/// Returns the scale, the zero point and the axis; a list of one scale applies to the whole tensor.
fn scales(op: OpId, e: &mut Emit<'_>) -> Result<(ValueId, Option<ValueId>, i64), Refusal> {
    let input = e.argument(op, "input")?;
    let rank = e.rank(input);
    let axis = e.call(op)?.int("axis").unwrap_or(-1);
    let mut scale = e.argument(op, "scale")?;
    let mut zero_point = e.optional(op, "zero_point")?;
    if e.shape(scale)? == [1] {
        scale = e.reshape_to(scale, &[])?;
    }
    if let Some(own) = zero_point
        && e.shape(own)? != e.shape(scale)?
    {
        zero_point = Some(match (e.known(op, "zero_point")?, e.shape(scale)?) {
            (zero, shape) if zero.count() == 1 => e.splat(&zero, &shape),
            (zero, shape) => {
                let scales = shape.iter().product::<i64>() as usize;
                let reason = "1 for each scale";
                return Err(Refusal::length("zero_point", zero.count(), scales, reason));
            }
        });
    }
    let is_whole = e.rank(scale) == 0;
    let axis = if is_whole && rank == 0 { 0 } else { axis };
    Ok((scale, zero_point, axis))
}

/// Clips 8-bit integers to the range of `element`, which may have fewer bits.
fn cut(e: &mut Emit<'_>, x: ValueId, element: Element) -> One {
    let Some((least, most)) = element
        .range()
        .filter(|_| element != Element::of(e.dtype(x)))
    else {
        return Ok(x);
    };
    let [least, most] = [least, most].map(|bound| match e.dtype(x) {
        DType::I8 => Tensor::scalar(bound as i8),
        _ => Tensor::scalar(bound as u8),
    });
    let (least, most) = (e.tensor(&least), e.tensor(&most));
    let x = e.max(x, least)?;
    e.min(x, most)
}
