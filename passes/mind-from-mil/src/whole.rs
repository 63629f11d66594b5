//! Quotients of integers.

use mind_core::ops::compare::{Compare, Direction, Select};
use mind_core::ops::logic::{And, Xor};
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};

use crate::emit::{Emit, Imported};
use crate::refuse::Refused;

/// Arguments `x` and `y` where they are `i32`.
pub(crate) fn pair(op: OpId, e: &mut Emit<'_>) -> Result<Option<[ValueId; 2]>, Box<Refused>> {
    let [x, y] = [e.argument(op, "x")?, e.argument(op, "y")?];
    let whole = e.dtype(x) == DType::I32 && e.dtype(y) == DType::I32;
    Ok(whole.then_some([x, y]))
}

/// The largest integer that is not above `x / y`.
pub(crate) fn floor_div(e: &mut Emit<'_>, x: ValueId, y: ValueId) -> Imported {
    let (quotient, is_above) = divided(e, x, y)?;
    let one = e.constant(&Tensor::scalar(1i32));
    let below = e.sub(quotient, one)?;
    Ok(Select::build(&mut e.b, is_above, below, quotient)?)
}

/// The quotient, cut off toward zero, and whether it is above the exact one, since the rest and the divisor have other
/// signs.
fn divided(e: &mut Emit<'_>, x: ValueId, y: ValueId) -> Result<(ValueId, ValueId), Box<Refused>> {
    let quotient = e.div(x, y)?;
    let product = e.mul(quotient, y)?;
    let rest = e.sub(x, product)?;
    let zero = e.constant(&Tensor::scalar(0i32));
    let is_inexact = Compare::with(Direction::Ne).build(&mut e.b, rest, zero)?;
    let negative = [rest, y].map(|value| Compare::with(Direction::Lt).build(&mut e.b, value, zero));
    let [rest_negative, divisor_negative] = negative;
    let signs_differ = Xor::build(&mut e.b, rest_negative?, divisor_negative?)?;
    let is_above = And::build(&mut e.b, is_inexact, signs_differ)?;
    Ok((quotient, is_above))
}
