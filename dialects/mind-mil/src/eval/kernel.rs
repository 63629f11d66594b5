//! Helpers of evaluation.

use mind_ir::eval::{EvalCx, EvalError, EvalManyResult};
use mind_ir::scalar::{Broadcast, ScalarFn, broadcast_extents};
use mind_ir::tensor::{FloatNum, Tensor, broadcast_strides};
use mind_ir::types::DType;
use mind_ir::with_float;
use smallvec::smallvec;

use crate::call::Call;

/// Returns a single result.
pub(crate) fn one(tensor: Tensor) -> EvalManyResult {
    Ok(smallvec![tensor])
}

/// Returns the tensor of argument `name`. Panics if it is optional and omitted.
pub(crate) fn operand<'t>(call: &Call<'_>, operands: &[&'t Tensor], name: &str) -> &'t Tensor {
    optional(call, operands, name).expect("a required argument is given")
}

/// Returns the tensor of argument `name`, if it is given.
pub(crate) fn optional<'t>(
    call: &Call<'_>,
    operands: &[&'t Tensor],
    name: &str,
) -> Option<&'t Tensor> {
    call.index(name).map(|index| operands[index])
}

/// Applies a core function elementwise.
pub(crate) fn scalar(
    cx: &EvalCx<'_>,
    function: ScalarFn,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    function.eval(cx, operands)
}

/// Returns the elements in `f32`, exactly or rounded once.
pub(crate) fn singles(tensor: &Tensor) -> Vec<f32> {
    crate::call::floats(tensor)
        .into_iter()
        .map(|element| element as f32)
        .collect()
}

/// Rounds numbers once to the dtype of `like`, in `shape`. Panics unless the dtype is a float.
pub(crate) fn rounded<E: Copy + Into<f64>>(
    like: &Tensor,
    shape: Vec<usize>,
    elements: &[E],
) -> Tensor {
    with_float!(like.dtype(), T => {
        let elements = elements.iter().map(|&element| <T as FloatNum>::from_f64(element.into()));
        Tensor::of(shape, elements.collect::<Vec<T>>())
    }, else unreachable!("verified operands are floats"))
}

/// Applies `function` to each element in `f32`. For integers use `whole::map`, because `f32` does not represent them
/// exactly.
pub(crate) fn map(
    cx: &EvalCx<'_>,
    x: &Tensor,
    function: impl Fn(f32) -> f32,
) -> Result<Tensor, EvalError> {
    cx.count(x.dtype(), x.shape())?;
    let elements: Vec<f32> = singles(x).into_iter().map(function).collect();
    Ok(numbers(x, x.shape().to_vec(), &elements))
}

/// Converts numbers to the dtype of `like`; integers are truncated. `E` must be `f64` if that dtype may be `i32`.
pub(crate) fn numbers<E: Copy + Into<f64>>(
    like: &Tensor,
    shape: Vec<usize>,
    elements: &[E],
) -> Tensor {
    let elements = || elements.iter().map(|&element| element.into());
    match like.dtype() {
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 => {
            rounded(like, shape, &elements().collect::<Vec<f64>>())
        }
        DType::I8 => Tensor::of(shape, elements().map(|x| x as i8).collect()),
        DType::I16 => Tensor::of(shape, elements().map(|x| x as i16).collect()),
        DType::I32 => Tensor::of(shape, elements().map(|x| x as i32).collect()),
        DType::I64 => Tensor::of(shape, elements().map(|x| x as i64).collect()),
        DType::U8 => Tensor::of(shape, elements().map(|x| x as u8).collect()),
        DType::U16 => Tensor::of(shape, elements().map(|x| x as u16).collect()),
        DType::U32 => Tensor::of(shape, elements().map(|x| x as u32).collect()),
        DType::U64 => Tensor::of(shape, elements().map(|x| x as u64).collect()),
        DType::Bool => Tensor::of(shape, elements().map(|x| x != 0.0).collect()),
    }
}

/// A shape, and two numbers for each of its positions.
pub(crate) type Pairs = (Vec<usize>, Vec<(f64, f64)>);

/// Returns the elements of `x` and `y` at each position of their broadcast shape.
pub(crate) fn pairs(cx: &EvalCx<'_>, x: &Tensor, y: &Tensor) -> Result<Pairs, EvalError> {
    let broadcast = Broadcast::of([x.shape(), y.shape()])?;
    cx.count(DType::F64, broadcast.shape())?;
    let (left, right) = (crate::call::floats(x), crate::call::floats(y));
    let all = broadcast.positions().map(|[x, y]| (left[x], right[y]));
    let all = all.collect();
    Ok((broadcast.into_shape(), all))
}

/// Broadcasts `x` to `shape`.
pub(crate) fn stretched(cx: &EvalCx<'_>, x: &Tensor, shape: &[usize]) -> Result<Tensor, EvalError> {
    let joined = broadcast_extents(x.shape(), shape)?;
    let strides = match x.count() {
        0 => vec![0; joined.len()],
        _ => broadcast_strides(x.shape(), &joined).to_vec(),
    };
    let axes: Vec<(usize, usize)> = joined.into_iter().zip(strides).collect();
    mind_core::eval::strided::copy(cx, x, 0, &axes)
}

/// Returns a scalar tensor in the dtype of `like`.
pub(crate) fn number(like: &Tensor, value: f64) -> Tensor {
    with_float!(like.dtype(), T => Tensor::scalar(<T as FloatNum>::from_f64(value)),
        else unreachable!("verified operands are floats"))
}

/// Converts `value` to the dtype of `x`, because weights may be given in another float.
pub(crate) fn alike(cx: &EvalCx<'_>, value: &Tensor, x: &Tensor) -> Result<Tensor, EvalError> {
    if value.dtype() != x.dtype() && value.dtype().is_float() && x.dtype().is_float() {
        mind_core::eval::convert::cast(cx, value, x.dtype())
    } else {
        Ok(value.clone())
    }
}
