//! Quantisation and sparse constants.

use mind_core::ops::quantize::quantized;
use mind_core::scale::Granularity;
use mind_ir::eval::{EvalCx, EvalError, EvalManyResult};
use mind_ir::tensor::{Tensor, advance};
use mind_ir::with_dtype;
use smallvec::smallvec;

use super::kernel::{numbers, one, operand, optional, singles};
use crate::call::{Call, integers};
use crate::element::Element;

/// Returns `input / scale` rounded to the nearest integer, ties to even, plus the zero point, saturated to the element
/// type.
pub(crate) fn quantize(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let (input, scale) = (
        operand(call, operands, "input"),
        operand(call, operands, "scale"),
    );
    let element = Element::parse(call.word("output_dtype")).unwrap_or(Element::Int8);
    // A list with a single scale is per-tensor.
    let scale = match scale.count() {
        1 => scale.clone().with_shape(Vec::new()),
        _ => scale.clone(),
    };
    let zero_point = optional(call, operands, "zero_point");
    let zero_point = zero_point.map(|zero_point| alike(zero_point, scale.shape()));
    let axis = call.int("axis").unwrap_or(-1);
    let granularity = Granularity::new(call.name, input.rank(), scale.rank(), axis)
        .map_err(|error| EvalError::Shape(error.to_string()))?;
    let mut operands = vec![input, &scale];
    operands.extend(&zero_point);
    let result = quantized(cx, granularity, element.carrier(), &operands)?;
    let (least, most) = element.range().unwrap_or((-128, 127));
    let cut: Vec<f32> = integers(&result)
        .into_iter()
        .map(|number| i128::from(number).clamp(least, most) as f32)
        .collect();
    one(numbers(&result, input.shape().to_vec(), &cut))
}

/// Reshapes `tensor` to `shape`, repeating it if it has a single element.
fn alike(tensor: &Tensor, shape: &[usize]) -> Tensor {
    if tensor.count() != 1 {
        return tensor.clone();
    }
    with_dtype!(tensor.dtype(), T => {
        Tensor::of(shape.to_vec(), vec![tensor.elements::<T>()[0]; shape.iter().product()])
    })
}

/// `source_val` in `output_dtype`.
pub(crate) fn cast(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let to = call.g.ty(call.g.result(call.op)).dtype;
    let source = operand(call, operands, "source_val");
    one(mind_core::eval::convert::cast(cx, source, to)?)
}

/// Expands a sparse constant: places its elements where the mask is set. If `shape` is given, the mask is packed,
/// lowest bit first.
pub(crate) fn dense(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let (data, mask) = (
        operand(call, operands, "nonzero_data"),
        operand(call, operands, "mask"),
    );
    let bits = integers(mask);
    let shape: Vec<usize> = match optional(call, operands, "shape") {
        Some(shape) => {
            let extents = integers(shape).into_iter();
            extents
                .map(|extent| usize::try_from(extent).unwrap_or(0))
                .collect()
        }
        None => mask.shape().to_vec(),
    };
    let count = cx.count(data.dtype(), &shape)?;
    let packed = call.index("shape").is_some();
    let is_set = |at: usize| {
        if packed {
            bits.get(at / 8)
                .is_some_and(|byte| byte >> (at % 8) & 1 == 1)
        } else {
            bits.get(at).is_some_and(|&bit| bit == 1)
        }
    };
    let set = (0..count).filter(|&at| is_set(at)).count();
    if set != data.count() {
        let problem = format!("{} elements for {set} places", data.count());
        return Err(EvalError::Shape(problem));
    }
    one(with_dtype!(data.dtype(), T => {
        let mut rest = data.elements::<T>().iter();
        let element = |at| if is_set(at) { rest.next().copied() } else { None };
        let elements: Vec<T> = (0..count).map(element).map(Option::unwrap_or_default).collect();
        Tensor::of(shape, elements)
    }))
}

/// Returns the positions where a mask is set, as indices; their number must be `elements`.
fn places(mask: &Tensor, elements: usize) -> Result<Vec<Vec<usize>>, EvalError> {
    let mut index = vec![0usize; mask.rank()];
    let mut places = Vec::new();
    for bit in integers(mask) {
        if bit == 1 {
            places.push(index.clone());
        }
        advance(&mut index, mask.shape());
    }
    if places.len() != elements {
        let problem = format!("{elements} elements for {} places", places.len());
        return Err(EvalError::Shape(problem));
    }
    Ok(places)
}

/// Returns the number of the block that contains `index`, for a tensor of `shape` with `blocks` blocks along each
/// dimension.
pub(crate) fn block(index: &[usize], shape: &[usize], blocks: &[usize]) -> usize {
    let dims = index.iter().zip(shape).zip(blocks);
    dims.fold(0, |at, ((&step, &extent), &count)| {
        let length = (extent / count.max(1)).max(1);
        at * count + (step / length).min(count.saturating_sub(1))
    })
}

/// Returns the mask, and the table entry of each stored index.
pub(crate) fn looked_up(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let own = |name| operand(call, operands, name);
    let (mask, indices, lut) = (own("indices_mask"), own("indices_nonzero_data"), own("lut"));
    let [.., entries, width] = *lut.shape() else {
        return Err(EvalError::Shape("a table without entries".to_owned()));
    };
    if width != 1 {
        return Err(EvalError::NotEvaluable("a sparse table of vectors"));
    }
    cx.count(lut.dtype(), indices.shape())?;
    let tables = &lut.shape()[..lut.rank() - 2];
    let mut entry = Vec::with_capacity(indices.count());
    for (place, at) in places(mask, indices.count())?.iter().zip(integers(indices)) {
        let table = block(place, mask.shape(), tables);
        let at = usize::try_from(at).ok().filter(|&at| at < entries);
        let at = at.ok_or_else(|| EvalError::Shape("an index past the table".to_owned()))?;
        entry.push(table * entries + at);
    }
    let data = with_dtype!(lut.dtype(), T => {
        let table = lut.elements::<T>();
        let found = entry.into_iter().map(|at| table[at]);
        Tensor::of(indices.shape().to_vec(), found.collect::<Vec<T>>())
    });
    Ok(smallvec![mask.clone(), data])
}

/// Returns the mask, and `scale (data - offset)` of each stored element, block by block.
pub(crate) fn scaled(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let own = |name| operand(call, operands, name);
    let (mask, data, scale) = (own("data_mask"), own("nonzero_data"), own("scale"));
    cx.count(scale.dtype(), data.shape())?;
    let (scales, offset) = (singles(scale), optional(call, operands, "offset"));
    let offsets = offset.map(singles);
    let mut elements = singles(data);
    for (element, place) in elements.iter_mut().zip(places(mask, data.count())?) {
        let at = |factor: &Tensor| block(&place, mask.shape(), factor.shape());
        let shift = offset.zip(offsets.as_ref());
        let shift = shift.map_or(0.0, |(factor, list)| list[at(factor)]);
        *element = scales[at(scale)] * (*element - shift);
    }
    let data = numbers(scale, data.shape().to_vec(), &elements);
    Ok(smallvec![mask.clone(), data])
}
