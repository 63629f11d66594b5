//! Elementwise ops.

use mind_ir::types::{DType, Dim, Shape, TensorType};
use mind_ir::verify::{InferManyResult, VerifyError};

use super::rule::{agree, joined, one, rank, typed};
use crate::call::{ArgState, Call, floats};
use crate::element::Element;

pub(crate) use super::rule::declared;

/// Returns the type of argument `x`.
pub(crate) fn same(call: &Call<'_>) -> InferManyResult {
    one(call.ty("x").to_owned())
}

/// Checks the mode of `gelu`; returns the type of `x`.
pub(crate) fn gelu(call: &Call<'_>) -> InferManyResult {
    call.one_of(
        "mode",
        &["EXACT", "TANH_APPROXIMATION", "SIGMOID_APPROXIMATION"],
    )?;
    same(call)
}

/// Checks that the constant `epsilon` is not negative; returns the type of `x`.
pub(crate) fn epsilon(call: &Call<'_>) -> InferManyResult {
    match call.float("epsilon") {
        Some(epsilon) if epsilon < 0.0 => {
            Err(call.refused("epsilon", &epsilon.to_string(), "not negative"))
        }
        _ => same(call),
    }
}

/// Checks the bounds of `clip`: alpha is below beta.
pub(crate) fn clip(call: &Call<'_>) -> InferManyResult {
    match (call.float("alpha"), call.float("beta")) {
        (Some(alpha), Some(beta)) if alpha >= beta => Err(call.refused(
            "alpha",
            &alpha.to_string(),
            &format!("below `beta`, which is {beta}"),
        )),
        _ => same(call),
    }
}

/// Checks that `alpha` (and `beta`) have one entry per channel.
pub(crate) fn per_channel(call: &Call<'_>) -> InferManyResult {
    rank(call, "x", 3..=5)?;
    let channels = call.ty("x").shape[1];
    for name in ["alpha", "beta"] {
        if call.value(name).is_some() {
            let ty = call.ty(name);
            rank_one(call, name, ty.rank())?;
            agree(
                call,
                &format!("`{name}` and the channels"),
                channels,
                ty.shape[0],
            )?;
        }
    }
    if let (ArgState::Known(alpha), "prelu", 3 | 5) =
        (call.tensor("alpha"), call.name, call.ty("x").rank())
    {
        let alpha = floats(&alpha);
        if alpha.iter().any(|own| *own != alpha[0]) {
            let expected = "one number for all channels, or `x` of rank 4";
            return Err(call.refused("alpha", "different from channel to channel", expected));
        }
    }
    same(call)
}

fn rank_one(call: &Call<'_>, name: &'static str, found: usize) -> Result<(), Box<VerifyError>> {
    match found {
        1 => Ok(()),
        _ => rank(call, name, 1..=1),
    }
}

/// Broadcasts `x` and `y`.
pub(crate) fn binary(call: &Call<'_>) -> InferManyResult {
    let (x, y) = (call.ty("x"), call.ty("y"));
    typed(x.dtype, joined(call, x.shape, y.shape)?)
}

/// Broadcasts `x` and `y` to truth values.
pub(crate) fn compare(call: &Call<'_>) -> InferManyResult {
    let (x, y) = (call.ty("x"), call.ty("y"));
    typed(DType::Bool, joined(call, x.shape, y.shape)?)
}

/// Broadcasts the condition and both choices.
pub(crate) fn select(call: &Call<'_>) -> InferManyResult {
    let (a, b) = (call.ty("a"), call.ty("b"));
    let chosen = joined(call, a.shape, b.shape)?;
    typed(a.dtype, joined(call, call.ty("cond").shape, &chosen)?)
}

/// Returns the type of `x` with the element type `dtype`.
pub(crate) fn cast(call: &Call<'_>) -> InferManyResult {
    use crate::opset::Opset;
    let old = ["fp16", "fp32", "int32", "bool"];
    let new = [
        "fp16", "fp32", "int32", "bool", "int8", "uint8", "int16", "uint16",
    ];
    let words: &[&str] = if call.opset < Opset::Ios17 {
        &old
    } else {
        &new
    };
    let word = call.one_of("dtype", words)?;
    let dtype = Element::parse(word).map_or(DType::F32, Element::carrier);
    one(TensorType::new(dtype, call.ty("x").shape.iter().copied()))
}

/// Checks `axis`; returns the type of `x`.
pub(crate) fn along(call: &Call<'_>) -> InferManyResult {
    let rank = call.ty("x").rank();
    if let Some(axis) = call.int("axis") {
        call.axis(axis, rank)?;
    }
    same(call)
}

/// Checks `axes`; returns the type of `x`.
pub(crate) fn along_axes(call: &Call<'_>) -> InferManyResult {
    if let ArgState::Known(axes) = call.ints("axes") {
        call.axes(&axes, call.ty("x").rank())?;
    }
    same(call)
}

/// Returns a tensor type with the extents in `shape`.
pub(crate) fn filled(call: &Call<'_>) -> InferManyResult {
    let dtype = call
        .value("value")
        .map_or(DType::F32, |value| call.g.ty(value).dtype);
    match call.ints("shape") {
        ArgState::Known(shape) => typed(dtype, shape.into_iter().map(Dim::Fixed).collect()),
        _ => declared(call),
    }
}

/// Returns the type of a list with one entry per dimension of `x`.
pub(crate) fn shape(call: &Call<'_>) -> InferManyResult {
    let rank = call.ty("x").rank() as i64;
    match call.value("output_dtype") {
        Some(_) => declared(call),
        None => one(TensorType::fixed(DType::I32, &[rank])),
    }
}

/// Returns the type of the list of numbers from `start` to below `end`.
pub(crate) fn range(call: &Call<'_>) -> InferManyResult {
    let number = |name| {
        call.tensor(name)
            .known()
            .and_then(|t| floats(&t).first().copied())
    };
    let dtype = call.ty("start").dtype;
    match (number("start"), number("end"), number("step")) {
        (Some(start), Some(end), Some(step)) if step != 0.0 => {
            let count = ((end - start) / step).ceil().clamp(0.0, 1e9) as i64;
            one(TensorType::fixed(dtype, &[count]))
        }
        _ => declared(call),
    }
}

/// Returns the shape of `ref_tensor` with the dtype of the value.
pub(crate) fn filled_like(call: &Call<'_>) -> InferManyResult {
    let dtype = call
        .value("value")
        .map_or(DType::F32, |value| call.g.ty(value).dtype);
    one(TensorType::new(
        dtype,
        call.ty("ref_tensor").shape.iter().copied(),
    ))
}

/// Inserts the length of the vectors into the shape of `indices` at `axis`.
pub(crate) fn one_hot(call: &Call<'_>) -> InferManyResult {
    let indices = call.ty("indices");
    let axis = call.axis(call.int("axis").unwrap_or(-1), indices.rank() + 1)?;
    let size = call
        .ints("one_hot_vector_size")
        .known()
        .and_then(|list| list.first().copied());
    let mut shape: Shape = indices.shape.iter().copied().collect();
    shape.insert(axis, size.map_or(Dim::Dynamic, Dim::Fixed));
    let value = call.value("on_value").or(call.value("off_value"));
    typed(
        value.map_or(DType::I32, |value| call.g.ty(value).dtype),
        shape,
    )
}
