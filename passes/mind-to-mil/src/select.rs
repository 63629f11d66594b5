//! Lowers selects.

use mind_convert::Refusal;
use mind_ir::ValueId;
use mind_ir::types::{Shape, broadcast};
use mind_mil::ops::binary::SELECT;
use mind_mil::ops::tensor::FILL_LIKE;

use crate::broadcast::to_shape;
use crate::emit::Argument::Value;
use crate::emit::{Emit, Lowered};

/// Lowers to `select` of choices that together have the shape of the result, because coremltools infers the type of
/// `select` from the choices alone. A choice is broadcast if the condition has more elements than both choices, for
/// example for a causal mask that selects between two scalars.
pub(crate) fn lower(e: &mut Emit<'_, '_>, cond: ValueId, a: ValueId, b: ValueId) -> Lowered {
    let [chosen, whole] = shapes(e, cond, a, b)?;
    if chosen == whole {
        return select(e, cond, a, b);
    }
    // A constant is preferred, because it is broadcast at compile time.
    if e.elements(b).is_none() && e.elements(a).is_some() {
        let a = repeated(e, a, cond, &whole)?;
        return select(e, cond, a, b);
    }
    let b = repeated(e, b, cond, &whole)?;
    select(e, cond, a, b)
}

fn select(e: &mut Emit<'_, '_>, cond: ValueId, a: ValueId, b: ValueId) -> Lowered {
    let args = [("cond", Value(cond)), ("a", Value(a)), ("b", Value(b))];
    e.op(&SELECT, &args)
}

/// Returns the broadcast shape of both choices, and the shape of the result.
fn shapes(e: &Emit<'_, '_>, cond: ValueId, a: ValueId, b: ValueId) -> Result<[Shape; 2], Refusal> {
    let dims = |value: ValueId| e.g().ty(value).shape;
    let joined = |a: &[_], b: &[_]| {
        broadcast(a, b)
            .map_err(|_| Refusal::no_counterpart("its operands have shapes that do not broadcast"))
    };
    let chosen = joined(dims(a), dims(b))?;
    let whole = joined(dims(cond), &chosen)?;
    Ok([chosen, whole])
}

/// Broadcasts `x` to the shape `whole`; unknown extents are those of `cond`.
///
/// # Errors
///
/// An unknown extent, unless `x` is a single number and `cond` has the whole shape.
fn repeated(e: &mut Emit<'_, '_>, x: ValueId, cond: ValueId, whole: &Shape) -> Lowered {
    let fixed: Option<Vec<i64>> = whole.iter().map(|dim| dim.fixed()).collect();
    if let Some(shape) = fixed {
        let first = shape.len() - e.g().ty(x).rank();
        let dims: Vec<i64> = (first as i64..shape.len() as i64).collect();
        return to_shape(e, x, &dims, &shape);
    }
    let number = e.elements(x).filter(|tensor| tensor.count() == 1);
    let Some(number) = number.filter(|_| e.g().ty(cond).shape == whole.as_slice()) else {
        return Err(Refusal::unsupported(
            "neither choice has the shape of the condition, which has an extent that is not known",
            "`mind-translate --dim B=32` writes the extent of dimension B",
        ));
    };
    let value = e.constant(&number.with_shape(Vec::new()));
    let args = [("ref_tensor", Value(cond)), ("value", Value(value))];
    e.op(&FILL_LIKE, &args)
}
