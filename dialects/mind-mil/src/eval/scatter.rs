//! Scatter.

use mind_ir::eval::{EvalCx, EvalError, EvalManyResult};
use mind_ir::tensor::{Tensor, advance, row_major};
use mind_ir::verify::VerifyError;

use super::kernel::{numbers, one, operand};
use super::place::inside;
use super::whole;
use crate::call::{Call, floats, integers};

/// How an update is combined with the existing element.
#[derive(Clone, Copy)]
pub(crate) enum Mode {
    Add,
    Update,
    Sub,
    Mul,
    Div,
    Max,
    Min,
}

impl Mode {
    /// Returns the mode of a call, `add` if it is omitted.
    ///
    /// # Errors
    ///
    /// Returns E4108 for another word.
    pub(crate) fn of(call: &Call<'_>) -> Result<Mode, Box<VerifyError>> {
        Ok(match call.word("mode") {
            "" | "add" => Mode::Add,
            "update" => Mode::Update,
            "sub" => Mode::Sub,
            "mul" => Mode::Mul,
            "div" => Mode::Div,
            "max" => Mode::Max,
            "min" => Mode::Min,
            other => {
                let expected = "one of add, update, sub, mul, div, max, min";
                return Err(call.refused("mode", other, expected));
            }
        })
    }
}

fn joined(mode: Mode, old: f64, new: f64) -> f64 {
    match mode {
        Mode::Add => old + new,
        Mode::Update => new,
        Mode::Sub => old - new,
        Mode::Mul => old * new,
        Mode::Div => old / new,
        Mode::Max => old.max(new),
        Mode::Min => old.min(new),
    }
}

/// Combines each of `updates` with the element of `data` at its offset, in the order of the updates; each step is
/// rounded to the dtype.
fn scattered(
    call: &Call<'_>,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
    offsets: &[usize],
) -> EvalManyResult {
    let (data, updates) = (
        operand(call, operands, "data"),
        operand(call, operands, "updates"),
    );
    if updates.count() != offsets.len() {
        let problem = format!("{} updates for {} places", updates.count(), offsets.len());
        return Err(EvalError::Shape(problem));
    }
    cx.count(data.dtype(), data.shape())?;
    let mode = Mode::of(call).map_err(|error| EvalError::Shape(error.to_string()))?;
    if !data.dtype().is_float() {
        let mut elements = integers(data);
        for (&offset, update) in offsets.iter().zip(integers(updates)) {
            elements[offset] = whole::joined(mode, data.dtype(), elements[offset], update)?;
        }
        return one(whole::wrapped(
            data.dtype(),
            data.shape().to_vec(),
            &elements,
        ));
    }
    let mut elements = floats(data);
    let is_half = data.dtype().size() < 4;
    for (&offset, update) in offsets.iter().zip(floats(updates)) {
        let sum = joined(mode, elements[offset], update);
        elements[offset] = if is_half {
            f64::from(half_of(data, sum))
        } else {
            f64::from(sum as f32)
        };
    }
    let elements: Vec<f32> = elements.into_iter().map(|element| element as f32).collect();
    one(numbers(data, data.shape().to_vec(), &elements))
}

/// Rounds `number` to the dtype of `like`.
fn half_of(like: &Tensor, number: f64) -> f32 {
    floats(&super::kernel::number(like, number))[0] as f32
}

/// Slices along an axis.
pub(crate) fn slices(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let (data, indices) = (
        operand(call, operands, "data"),
        operand(call, operands, "indices"),
    );
    let axis = axis(call, data)?;
    let updates = operand(call, operands, "updates");
    let shape = [
        &data.shape()[..axis],
        indices.shape(),
        &data.shape()[axis + 1..],
    ]
    .concat();
    fits(updates, &shape)?;
    let (outer, inner): (usize, usize) = (
        data.shape()[..axis].iter().product(),
        data.shape()[axis + 1..].iter().product(),
    );
    let extent = data.shape()[axis];
    let places: Vec<usize> = integers(indices)
        .into_iter()
        .map(|index| inside(index, axis, extent))
        .collect::<Result<_, _>>()?;
    let mut offsets = Vec::with_capacity(updates.count());
    for before in 0..outer {
        for &place in &places {
            let start = (before * extent + place) * inner;
            offsets.extend(start..start + inner);
        }
    }
    scattered(call, cx, operands, &offsets)
}

/// Elements along an axis.
pub(crate) fn along_axis(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let (data, indices) = (
        operand(call, operands, "data"),
        operand(call, operands, "indices"),
    );
    let axis = axis(call, data)?;
    fits(operand(call, operands, "updates"), indices.shape())?;
    if indices.rank() != data.rank() {
        return Err(EvalError::Shape(
            "`indices` has another rank than `data`".to_owned(),
        ));
    }
    let strides = row_major(data.shape());
    let mut index = vec![0usize; data.rank()];
    let mut offsets = Vec::with_capacity(indices.count());
    for place in integers(indices) {
        let mut at = 0;
        for (dim, &step) in index.iter().enumerate() {
            let step = if dim == axis { place } else { step as i64 };
            at += inside(step, dim, data.shape()[dim])? * strides[dim];
        }
        offsets.push(at);
        advance(&mut index, indices.shape());
    }
    scattered(call, cx, operands, &offsets)
}

/// Scatters elements or slices at the index tuples in the last dimension of `indices`.
pub(crate) fn nd(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let (data, indices) = (
        operand(call, operands, "data"),
        operand(call, operands, "indices"),
    );
    let depth = indices.shape().last().copied().unwrap_or(0);
    if indices.rank() == 0 || depth > data.rank() {
        return Err(EvalError::Shape(
            "`indices` are deeper than `data`".to_owned(),
        ));
    }
    let outer = &indices.shape()[..indices.rank() - 1];
    let inner = &data.shape()[depth..];
    fits(operand(call, operands, "updates"), &[outer, inner].concat())?;
    let strides = row_major(data.shape());
    let width: usize = inner.iter().product();
    let places = integers(indices);
    let mut offsets = Vec::new();
    for at in 0..outer.iter().product() {
        let mut start = 0;
        for (dim, &place) in places[at * depth..(at + 1) * depth].iter().enumerate() {
            start += inside(place, dim, data.shape()[dim])? * strides[dim];
        }
        offsets.extend(start..start + width);
    }
    scattered(call, cx, operands, &offsets)
}

fn axis(call: &Call<'_>, data: &Tensor) -> Result<usize, EvalError> {
    let own = call.axis(call.int("axis").unwrap_or(0), data.rank());
    own.map_err(|error| EvalError::Shape(error.to_string()))
}

fn fits(updates: &Tensor, shape: &[usize]) -> Result<(), EvalError> {
    if updates.shape() == shape {
        Ok(())
    } else {
        Err(EvalError::Shape(format!(
            "`updates` is {:?}, not {shape:?}",
            updates.shape()
        )))
    }
}

/// Returns the positions of the nonzero elements, one row each.
pub(crate) fn non_zero(call: &Call<'_>, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let x = operand(call, operands, "x");
    let mut index = vec![0usize; x.rank()];
    let mut places: Vec<i32> = Vec::new();
    let mut rows = 0;
    for element in floats(x) {
        if element != 0.0 {
            places.extend(index.iter().map(|&step| step as i32));
            rows += 1;
        }
        advance(&mut index, x.shape());
    }
    let shape = vec![rows, x.rank()];
    cx.count(mind_ir::types::DType::I32, &shape)?;
    one(Tensor::of(shape, places))
}
