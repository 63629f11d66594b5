//! Quantisation and compressed constants.

use mind_ir::opdef::Inferred;
use mind_ir::types::{DType, Dim, Shape, TensorType};
use mind_ir::verify::InferManyResult;
use smallvec::smallvec;

use super::rule::{declared, mapped, typed};
use crate::call::{ArgState, Call};
use crate::element::Element;

/// Returns the shape of the data with the dtype of the scale.
pub(crate) fn affine(call: &Call<'_>) -> InferManyResult {
    let data = call.ty("quantized_data");
    call.axis(call.int("axis").unwrap_or(0), data.rank())?;
    typed(call.ty("scale").dtype, data.shape.iter().copied().collect())
}

/// Returns the shape of `data` with the dtype of `scale`.
pub(crate) fn blockwise(call: &Call<'_>) -> InferManyResult {
    let (data, scale) = (call.ty("data"), call.ty("scale"));
    call.length("scale", scale.rank(), data.rank())?;
    for (&dim, &blocks) in data.shape.iter().zip(scale.shape) {
        if let (Some(extent), Some(blocks)) = (dim.fixed(), blocks.fixed())
            && (blocks < 1 || extent % blocks != 0)
        {
            return Err(call.refused(
                "scale",
                &format!("{blocks} along {extent}"),
                "a divisor of it",
            ));
        }
    }
    typed(scale.dtype, data.shape.iter().copied().collect())
}

/// Returns the type of the table entries for all indices.
pub(crate) fn lut(call: &Call<'_>) -> InferManyResult {
    let dtype = call.ty("lut").dtype;
    match call.ints("shape") {
        ArgState::Known(shape) => typed(dtype, shape.into_iter().map(Dim::Fixed).collect()),
        ArgState::Runtime => declared(call),
        ArgState::Absent => {
            let (indices, lut) = (call.ty("indices"), call.ty("lut"));
            call.length("lut", lut.rank(), indices.rank() + 2)?;
            let mut shape: Shape = indices.shape.iter().copied().collect();
            if let (Some(axis), Some(width)) =
                (call.int("vector_axis"), lut.shape[lut.rank() - 1].fixed())
            {
                let axis = call.axis(axis, indices.rank())?;
                shape[axis] = mapped(shape[axis], |extent| extent.checked_mul(width));
            }
            typed(dtype, shape)
        }
    }
}

/// Returns the dense type of a sparse constant: `shape`, or the shape of its mask if that is omitted.
pub(crate) fn sparse(call: &Call<'_>) -> InferManyResult {
    let dtype = call.ty("nonzero_data").dtype;
    match call.ints("shape") {
        ArgState::Known(shape) => typed(dtype, shape.into_iter().map(Dim::Fixed).collect()),
        ArgState::Runtime => declared(call),
        ArgState::Absent => typed(dtype, call.ty("mask").shape.iter().copied().collect()),
    }
}

/// Returns the types of the mask of a sparse constant and of its elements, which have the dtype of the table or scale.
///
/// # Errors
///
/// Returns E4109 if the rank of the table or scale differs from that of the mask.
pub(crate) fn sparse_pair(call: &Call<'_>) -> InferManyResult {
    let (mask, data, name, further) = match call.name {
        "constexpr_lut_to_sparse" => ("indices_mask", "indices_nonzero_data", "lut", 2),
        _ => ("data_mask", "nonzero_data", "scale", 0),
    };
    let (mask, data, factor) = (call.ty(mask), call.ty(data), call.ty(name));
    call.length(name, factor.rank(), mask.rank() + further)?;
    let data = TensorType::new(factor.dtype, data.shape.iter().copied());
    Ok(smallvec![
        Inferred::New(mask.to_owned()),
        Inferred::New(data)
    ])
}

/// Returns the type of `source_val` with the element type `output_dtype`.
pub(crate) fn cast(call: &Call<'_>) -> InferManyResult {
    let dtype = Element::parse(call.one_of("output_dtype", &["fp32"])?)
        .map_or(DType::F32, Element::carrier);
    typed(dtype, call.ty("source_val").shape.iter().copied().collect())
}

/// Returns the quantised type of `input`.
pub(crate) fn quantize(call: &Call<'_>) -> InferManyResult {
    let word = call.one_of("output_dtype", &["int8", "uint8", "int4", "uint4"])?;
    let dtype = Element::parse(word).map_or(DType::I8, Element::carrier);
    typed(dtype, call.ty("input").shape.iter().copied().collect())
}

/// Returns the type of `input` with the dtype of `scale`.
pub(crate) fn dequantize(call: &Call<'_>) -> InferManyResult {
    typed(
        call.ty("scale").dtype,
        call.ty("input").shape.iter().copied().collect(),
    )
}
