//! Constants, cast at compile time.

use half::f16;
use mind_convert::Refusal;
use mind_core::ops::sample::Resize;
use mind_ir::eval::{DimEnv, EvalCx};
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;
use mind_ir::{Graph, OpId, ValueId};
use mind_mil::call::{floats, integers};

use crate::emit::{Emit, Lowered};
use crate::mask::{MASKED, is_mask, is_masked};

/// Returns the MIL dtype of `dtype`.
///
/// # Errors
///
/// A dtype that MIL ops do not take.
pub(crate) fn narrowed(dtype: DType, float: DType) -> Result<DType, Refusal> {
    match dtype {
        DType::F32 | DType::F64 => Ok(float),
        DType::F16 | DType::Bool | DType::I8 | DType::I16 | DType::I32 | DType::U8 | DType::U16 => {
            Ok(dtype)
        }
        DType::I64 => Ok(DType::I32),
        DType::BF16 | DType::U32 | DType::U64 => Err(Refusal::unsupported(
            format!("no op of MIL takes {dtype}"),
            "f16, f32, bool, i8, i16, i32, u8 and u16 have their counterparts",
        )),
    }
}

/// Lowers a constant to its dtype in MIL.
///
/// # Errors
///
/// A dtype that MIL lacks, or a number out of its range.
pub(crate) fn lower(op: OpId, e: &mut Emit<'_, '_>) -> Lowered {
    let g = e.g();
    let dims = DimEnv::default();
    let cx = EvalCx::run(g, &dims);
    let eval = g
        .def(op)
        .eval
        .ok_or_else(|| Refusal::no_counterpart("it has no value"))?;
    let tensors = eval(op, &cx, &[])?;
    let mask = is_mask(e, g.result(op), &tensors[0]);
    let float = if are_scales(g, g.result(op)) {
        DType::F32
    } else {
        e.float()
    };
    let cast = cast(&tensors[0], float, mask)?;
    Ok(e.constant(&cast))
}

/// Returns whether all uses of a value are scales of resizes. They are evaluated at compile time and must not be
/// rounded.
fn are_scales(g: &Graph, value: ValueId) -> bool {
    let mut uses = g.uses(value).peekable();
    uses.peek().is_some()
        && uses.all(|(user, index)| {
            index > 0
                && g.view::<Resize>(user)
                    .is_some_and(|own| own.scales(g) == Some(value))
        })
}

/// Returns the tensor in its MIL dtype; in a mask, minus infinity becomes [`MASKED`].
fn cast(tensor: &Tensor, float: DType, mask: bool) -> Result<Tensor, Refusal> {
    let dtype = narrowed(tensor.dtype(), float)?;
    let shape = tensor.shape().to_vec();
    match (tensor.dtype(), dtype) {
        (DType::I64, _) => {
            let narrow = |value: i64| {
                i32::try_from(value)
                    .map_err(|_| Refusal::no_counterpart(format!("{value} is not an int32")))
            };
            let elements: Result<Vec<i32>, _> = integers(tensor).into_iter().map(narrow).collect();
            Ok(Tensor::of(shape, elements?))
        }
        (_, DType::F16) => {
            let elements: Result<Vec<f16>, _> = floats(tensor)
                .into_iter()
                .map(|value| half(value, mask))
                .collect();
            Ok(Tensor::of(shape, elements?))
        }
        (DType::F32 | DType::F64, DType::F32) => {
            let single = |value: f64| single(value, mask);
            let elements: Result<Vec<f32>, _> = floats(tensor).into_iter().map(single).collect();
            Ok(Tensor::of(shape, elements?))
        }
        (
            DType::BF16
            | DType::F16
            | DType::F32
            | DType::F64
            | DType::I8
            | DType::I16
            | DType::I32
            | DType::U8
            | DType::U16
            | DType::U32
            | DType::U64
            | DType::Bool,
            _,
        ) => Ok(tensor.clone()),
    }
}

/// Returns an element in range; a mask's minus infinity becomes [`MASKED`].
fn number(value: f64, mask: bool) -> Result<f64, Refusal> {
    if value.is_nan() {
        let help = "write a number, or an infinity";
        return Err(Refusal::unsupported("it holds NaN", help));
    }
    Ok(if mask && is_masked(value) {
        MASKED
    } else {
        value
    })
}

fn half(value: f64, mask: bool) -> Result<f16, Refusal> {
    let value = number(value, mask)?;
    let own = f16::from_f64(value);
    if own.is_finite() || value.is_infinite() {
        return Ok(own);
    }
    let help = "scale it down, or lower with precision=fp32";
    Err(Refusal::unsupported(
        format!("it holds {value}, which no fp16 is near"),
        help,
    ))
}

fn single(value: f64, mask: bool) -> Result<f32, Refusal> {
    let value = number(value, mask)?;
    let own = value as f32;
    if own.is_finite() || value.is_infinite() {
        return Ok(own);
    }
    Err(Refusal::unsupported(
        format!("it holds {value}, which no fp32 is near"),
        "scale it down: MIL has no wider float",
    ))
}
