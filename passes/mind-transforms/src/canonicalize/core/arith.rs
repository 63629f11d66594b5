//! Identities of arithmetic.

use mind_core::ops::elementwise::{Abs, Add, Div, Mul, Neg, Relu, Sub};
use mind_ir::graph::Graph;
use mind_ir::opdef::Op;
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::{OpId, ValueId};
use mind_rewrite::{Miss, Rewriter};

use super::patterns;
use super::splat::splat;

patterns! {
    /// x + -0.0 and, on integers, x + 0 are x. On floats x + 0.0 is not: -0.0 + 0.0 is 0.0.
    AddZero = "add-zero" on [Add] => |op, rw| drop_neutral(op, rw, -0.0, 0, Side::Either);

    /// x - 0 is x.
    SubZero = "sub-zero" on [Sub] => |op, rw| drop_neutral(op, rw, 0.0, 0, Side::Right);

    /// x * 1 is x.
    MulOne = "mul-one" on [Mul] => |op, rw| drop_neutral(op, rw, 1.0, 1, Side::Either);

    /// x / 1 is x.
    DivOne = "div-one" on [Div] => |op, rw| drop_neutral(op, rw, 1.0, 1, Side::Right);

    /// On integers x * 0 is 0. On floats it is not: NaN, infinities and signs of zero.
    MulZero = "mul-zero" on [Mul] => multiply_by_zero;

    /// On integers x - x is 0. On floats it is not: NaN and infinities.
    SubSelf = "sub-self" on [Sub] => subtract_itself;

    /// x * -1 is -x.
    MulMinusOne = "mul-minus-one" on [Mul] => multiply_by_minus_one;

    /// -0.0 - x and, on integers, 0 - x are -x.
    SubFromZero = "sub-from-zero" on [Sub] => subtract_from_zero;

    /// x + -y is x - y.
    AddNeg = "add-neg" on [Add] => add_negated;

    /// x - -y is x + y.
    SubNeg = "sub-neg" on [Sub] => subtract_negated;

    /// -x * -y is x * y.
    MulNegNeg = "mul-neg-neg" on [Mul] => |op, rw| strip_both::<Neg>(op, rw);

    /// On floats -x / -y is x / y; integer division by -1 may have no result.
    DivNegNeg = "div-neg-neg" on [Div] => divide_negated;

    /// --x is x.
    NegNeg = "neg-neg" on [Neg] => negate_negated;

    /// relu(relu(x)) is relu(x).
    ReluRelu = "relu-relu" on [Relu] => |op, rw| keep_inner::<Relu>(op, rw);

    /// abs(abs(x)) is abs(x).
    AbsAbs = "abs-abs" on [Abs] => |op, rw| keep_inner::<Abs>(op, rw);

    /// abs(relu(x)) is relu(x).
    AbsRelu = "abs-relu" on [Abs] => |op, rw| keep_inner::<Relu>(op, rw);

    /// abs(-x) is abs(x).
    AbsNeg = "abs-neg" on [Abs] => abs_negated;
}

/// Which operand of a binary op may be the constant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Right,
    Either,
}

/// Replaces an op by one operand where the other is the constant `float` or `int` everywhere.
fn drop_neutral(
    op: OpId,
    rw: &mut Rewriter<'_>,
    float: f64,
    int: i128,
    side: Side,
) -> Result<(), Miss> {
    let (lhs, rhs) = binary(rw, op);
    let neutral = |g: &Graph, value| splat(g, value).is_some_and(|own| own.is(float, int));
    if neutral(rw, rhs) && rw.replace(op, lhs).is_ok() {
        return Ok(());
    }
    if side == Side::Either && neutral(rw, lhs) {
        return rw.replace(op, rhs);
    }
    Err(Miss(
        "no operand is the neutral constant in the result's shape",
    ))
}

fn multiply_by_zero(op: OpId, rw: &mut Rewriter<'_>) -> Result<(), Miss> {
    let (lhs, rhs) = binary(rw, op);
    if rw.ty(lhs).dtype.is_float() {
        return Err(Miss("a float times 0 may be NaN or -0"));
    }
    let is_zero = |g: &Graph, value| splat(g, value).is_some_and(|own| own.is(f64::NAN, 0));
    let zero = [lhs, rhs].into_iter().find(|&value| is_zero(rw, value));
    rw.replace(op, zero.ok_or(Miss("no operand is 0"))?)
}

/// The most elements of a constant that a pattern writes out.
const SMALL: i64 = 1024;

fn subtract_itself(op: OpId, rw: &mut Rewriter<'_>) -> Result<(), Miss> {
    let (lhs, rhs) = binary(rw, op);
    let ty = rw.ty(lhs);
    if lhs != rhs || ty.dtype.is_float() {
        return Err(Miss("the operands are not the same integers"));
    }
    let count = ty.count().filter(|&count| count <= SMALL);
    let (count, shape) = count
        .zip(ty.static_shape())
        .ok_or(Miss("the zeros are too many to write"))?;
    let shape = shape.into_iter().map(|extent| extent as usize).collect();
    let zeros = Tensor::new(shape, Buffer::zeros(ty.dtype, count as usize));
    let zeros = rw.constant(op, &zeros);
    rw.replace(op, zeros)
}

fn multiply_by_minus_one(op: OpId, rw: &mut Rewriter<'_>) -> Result<(), Miss> {
    let (lhs, rhs) = binary(rw, op);
    let minus_one = |g: &Graph, value| splat(g, value).is_some_and(|own| own.is(-1.0, -1));
    let other = match (minus_one(rw, lhs), minus_one(rw, rhs)) {
        (_, true) => lhs,
        (true, false) => rhs,
        (false, false) => return Err(Miss("no operand is -1")),
    };
    same_type(rw, op, other)?;
    rw.replace_with(op, Neg::DEF, &[other], &[])
}

fn subtract_from_zero(op: OpId, rw: &mut Rewriter<'_>) -> Result<(), Miss> {
    let (lhs, rhs) = binary(rw, op);
    if !splat(rw, lhs).is_some_and(|own| own.is(-0.0, 0)) {
        return Err(Miss("the left operand is not the zero that negates"));
    }
    same_type(rw, op, rhs)?;
    rw.replace_with(op, Neg::DEF, &[rhs], &[])
}

fn add_negated(op: OpId, rw: &mut Rewriter<'_>) -> Result<(), Miss> {
    let (lhs, rhs) = binary(rw, op);
    match (under::<Neg>(rw, lhs), under::<Neg>(rw, rhs)) {
        (_, Some(negated)) => rw.replace_with(op, Sub::DEF, &[lhs, negated], &[]),
        (Some(negated), None) => rw.replace_with(op, Sub::DEF, &[rhs, negated], &[]),
        (None, None) => Err(Miss("no operand is negated")),
    }
}

fn subtract_negated(op: OpId, rw: &mut Rewriter<'_>) -> Result<(), Miss> {
    let (lhs, rhs) = binary(rw, op);
    let negated = under::<Neg>(rw, rhs).ok_or(Miss("the right operand is not negated"))?;
    rw.replace_with(op, Add::DEF, &[lhs, negated], &[])
}

/// Takes the unary op `T` off both operands.
fn strip_both<T: Op>(op: OpId, rw: &mut Rewriter<'_>) -> Result<(), Miss> {
    let (lhs, rhs) = binary(rw, op);
    let inner = under::<T>(rw, lhs).zip(under::<T>(rw, rhs));
    let (lhs, rhs) = inner.ok_or(Miss("one operand is not negated"))?;
    rw.replace_with(op, rw.def(op), &[lhs, rhs], &[])
}

fn divide_negated(op: OpId, rw: &mut Rewriter<'_>) -> Result<(), Miss> {
    let (lhs, _) = binary(rw, op);
    if !rw.ty(lhs).dtype.is_float() {
        return Err(Miss("integer division by -1 may have no result"));
    }
    strip_both::<Neg>(op, rw)
}

fn negate_negated(op: OpId, rw: &mut Rewriter<'_>) -> Result<(), Miss> {
    let inner = under::<Neg>(rw, rw.operands(op)[0]).ok_or(Miss("the operand is not negated"))?;
    rw.replace(op, inner)
}

/// Replaces an op by its operand where that is the result of a `T`.
fn keep_inner<T: Op>(op: OpId, rw: &mut Rewriter<'_>) -> Result<(), Miss> {
    let operand = rw.operands(op)[0];
    under::<T>(rw, operand).ok_or(Miss("the operand has another op"))?;
    rw.replace(op, operand)
}

fn abs_negated(op: OpId, rw: &mut Rewriter<'_>) -> Result<(), Miss> {
    let inner = under::<Neg>(rw, rw.operands(op)[0]).ok_or(Miss("the operand is not negated"))?;
    rw.replace_with(op, Abs::DEF, &[inner], &[])
}

fn binary(g: &Graph, op: OpId) -> (ValueId, ValueId) {
    (g.operands(op)[0], g.operands(op)[1])
}

/// The operand of the unary `T` that defines `value`.
fn under<T: Op>(g: &Graph, value: ValueId) -> Option<ValueId> {
    let op = g.defining_op(value).filter(|&op| g.is::<T>(op))?;
    Some(g.operands(op)[0])
}

fn same_type(g: &Graph, op: OpId, value: ValueId) -> Result<(), Miss> {
    if g.type_id(g.result(op)) == g.type_id(value) {
        Ok(())
    } else {
        Err(Miss("the other operand is broadcast"))
    }
}
