//! Reductions along axes.

use mind_ir::opdef::Inferred;
use mind_ir::types::{DType, Dim, Shape};
use mind_ir::verify::{InferManyResult, VerifyError};
use smallvec::smallvec;

use super::rule::{one, typed};
use crate::call::{ArgState, Call};
use crate::element::Element;

/// Removes `axes` of `x`, or sets them to 1 with `keep_dims`; without `axes` all are reduced.
pub(crate) fn reduce(call: &Call<'_>) -> InferManyResult {
    let x = call.ty("x");
    let axes = match call.ints("axes") {
        ArgState::Known(axes) if axes.is_empty() => {
            return Err(call.refused(
                "axes",
                "[]",
                "at least one axis, or left out for all of them",
            ));
        }
        ArgState::Known(axes) => call.axes(&axes, x.rank())?,
        _ => (0..x.rank()).collect(),
    };
    typed(x.dtype, reduced(x.shape, &axes, call.flag("keep_dims")))
}

fn reduced(shape: &[Dim], axes: &[usize], keep: bool) -> Shape {
    let dims = shape.iter().enumerate();
    let kept = dims.filter_map(|(at, &dim)| {
        if axes.contains(&at) {
            keep.then_some(Dim::Fixed(1))
        } else {
            Some(dim)
        }
    });
    kept.collect()
}

/// The position of an extreme element along `axis`.
pub(crate) fn position(call: &Call<'_>) -> InferManyResult {
    let x = call.ty("x");
    let axis = call.axis(call.int("axis").unwrap_or(-1), x.rank())?;
    let dtype = indices(call, "output_dtype", &["int32", "uint16"])?;
    typed(dtype, reduced(x.shape, &[axis], call.flag("keep_dims")))
}

/// Returns the dtype of indices, as given by the argument `name`.
fn indices(call: &Call<'_>, name: &str, words: &[&str]) -> Result<DType, Box<VerifyError>> {
    match call.value(name) {
        Some(_) => {
            let word = call.one_of(name, words)?;
            Ok(Element::parse(word).map_or(DType::I32, Element::carrier))
        }
        None => Ok(DType::I32),
    }
}

/// Returns the types of the `k` largest or smallest elements and of their indices.
pub(crate) fn topk(call: &Call<'_>) -> InferManyResult {
    let x = call.ty("x");
    let axis = call.axis(call.int("axis").unwrap_or(-1), x.rank())?;
    let k = call.int("k").unwrap_or(1);
    if k < 1 || x.shape[axis].fixed().is_some_and(|extent| k > extent) {
        return Err(call.refused("k", &k.to_string(), "from 1 to the extent of the axis"));
    }
    let mut shape: Shape = x.shape.iter().copied().collect();
    shape[axis] = Dim::Fixed(k);
    let words = ["int32", "int16", "uint16", "int8", "uint8"];
    let dtype = indices(call, "output_indices_dtype", &words)?;
    let values = Inferred::New(x.with_shape(shape.iter().copied()));
    if call.value("return_indices").is_some() && !call.flag("return_indices") {
        return Ok(smallvec![values]);
    }
    let indices = mind_ir::types::TensorType { dtype, shape };
    Ok(smallvec![values, Inferred::New(indices)])
}

/// Returns the type of the permutation that sorts `x` along `axis`.
pub(crate) fn argsort(call: &Call<'_>) -> InferManyResult {
    let x = call.ty("x");
    call.axis(call.int("axis").unwrap_or(-1), x.rank())?;
    let dtype = indices(call, "output_dtype", &["int32", "int16", "uint16"])?;
    one(mind_ir::types::TensorType::new(
        dtype,
        x.shape.iter().copied(),
    ))
}
