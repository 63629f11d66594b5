//! Elementwise arithmetic on lists of extents, some of which are known. Known extents stay known.

use std::rc::Rc;

use mind_convert::{EmitCore, Refusal};
use mind_ir::scalar::ScalarFn;
use mind_ir::types::{DType, MAX_RANK};

use super::emit::Emit;
use super::value::{Extent, Extents, Value};

/// An integer function used in shape arithmetic.
#[derive(Clone, Copy)]
enum Function {
    Two(ScalarFn),
    Clamp,
}

/// Returns the result of an operation on lists of extents; `None` for any other operation.
///
/// # Errors
///
/// As the ops that compute data-dependent extents.
pub(super) fn computed(
    op: &str,
    inputs: &[Value],
    e: &mut Emit<'_>,
) -> Result<Option<Value>, Refusal> {
    let function = match op {
        "stablehlo.add" => Function::Two(ScalarFn::Add),
        "stablehlo.subtract" => Function::Two(ScalarFn::Sub),
        "stablehlo.multiply" => Function::Two(ScalarFn::Mul),
        "stablehlo.maximum" => Function::Two(ScalarFn::Maximum),
        "stablehlo.minimum" => Function::Two(ScalarFn::Minimum),
        "stablehlo.clamp" => Function::Clamp,
        _ => return Ok(None),
    };
    let Some((dtype, is_scalar, lists)) = lists(inputs) else {
        return Ok(None);
    };
    let count = lists[0].len();
    let mut elements = Vec::with_capacity(count);
    for at in 0..count {
        let operands: Vec<Extent> = lists.iter().map(|list| list[at]).collect();
        elements.push(match (function, &operands[..]) {
            (Function::Two(function), &[lhs, rhs]) => two(function, lhs, rhs, dtype, e)?,
            (Function::Clamp, &[low, _, high]) if low == high => low,
            (Function::Clamp, &[low, x, high]) => {
                let x = two(ScalarFn::Maximum, x, low, dtype, e)?;
                two(ScalarFn::Minimum, x, high, dtype, e)?
            }
            (Function::Two(_) | Function::Clamp, _) => return Ok(None),
        });
    }
    Ok(Some(Value::Extents(Rc::new(Extents {
        dtype,
        is_scalar,
        elements,
    }))))
}

/// Returns the operands as lists of one length, if at least one of them is a list of extents and the others are such
/// lists or known.
fn lists(inputs: &[Value]) -> Option<(DType, bool, Vec<Vec<Extent>>)> {
    let first = inputs.iter().find_map(|own| match own {
        Value::Extents(own) => Some(own),
        Value::Op(_) | Value::Known(_) | Value::Compared(_) => None,
    })?;
    let count = first.elements.len();
    // A single extent may occur in any other arithmetic, which is computed at run time.
    let is_list = !first.is_scalar && count <= MAX_RANK;
    let mut lists = Vec::with_capacity(inputs.len());
    for value in inputs {
        let list = match value {
            Value::Extents(own) => own.elements.clone(),
            Value::Known(own) if own.dtype() == first.dtype && own.count()? == count => own
                .integers()
                .ok()?
                .into_iter()
                .map(Extent::Known)
                .collect(),
            Value::Known(_) | Value::Op(_) | Value::Compared(_) => return None,
        };
        lists.push(list);
    }
    let is_even = lists.iter().all(|list| list.len() == count);
    (is_list && is_even).then_some((first.dtype, first.is_scalar, lists))
}

/// Returns a function of two extents.
fn two(
    function: ScalarFn,
    lhs: Extent,
    rhs: Extent,
    dtype: DType,
    e: &mut Emit<'_>,
) -> Result<Extent, Refusal> {
    use Extent::{Known, Named};
    let known = match (function, lhs, rhs) {
        (ScalarFn::Add, Known(a), Known(b)) => a.checked_add(b).map(Known),
        (ScalarFn::Sub, Known(a), Known(b)) => a.checked_sub(b).map(Known),
        (ScalarFn::Mul, Known(a), Known(b)) => a.checked_mul(b).map(Known),
        (ScalarFn::Maximum, Known(a), Known(b)) => Some(Known(a.max(b))),
        (ScalarFn::Minimum, Known(a), Known(b)) => Some(Known(a.min(b))),
        (ScalarFn::Sub, a, b) if a == b => Some(Known(0)),
        (ScalarFn::Maximum | ScalarFn::Minimum, a, b) if a == b => Some(a),
        (ScalarFn::Add, x, Known(0)) | (ScalarFn::Add, Known(0), x) => Some(x),
        (ScalarFn::Sub, x, Known(0)) => Some(x),
        (ScalarFn::Mul, x, Known(1)) | (ScalarFn::Mul, Known(1), x) => Some(x),
        // Extents are never negative.
        (ScalarFn::Maximum, Named(x), Known(..=0)) | (ScalarFn::Maximum, Known(..=0), Named(x)) => {
            Some(Named(x))
        }
        (_, _, _) => None,
    };
    if let Some(known) = known {
        return Ok(known);
    }
    let list = |own| {
        Value::Extents(Rc::new(Extents {
            dtype,
            is_scalar: false,
            elements: vec![own],
        }))
    };
    let (lhs, rhs) = (e.value(&list(lhs))?, e.value(&list(rhs))?);
    Ok(Extent::Computed(e.apply(function, &[lhs, rhs])?))
}
