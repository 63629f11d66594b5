//! Lowers division, bitwise ops and shifts of 32-bit integers to MIL's integer arithmetic.
//!
//! `floor_div` and `mod` round down, where core truncates. A quotient by a power of two that is rounded down is an
//! arithmetic shift, and its `mod` by 2 is one bit, because integers are two's complements.

use mind_convert::Refusal;
use mind_core::eval::bounds::Bounds;
use mind_core::ops::logic::{And, Not, Or, ShiftLeft, ShiftRight, Xor};
use mind_ir::opdef::{Op, OpDef};
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, broadcast};
use mind_ir::{OpId, ValueId};
use mind_mil::MilOp;
use mind_mil::ops::binary::{
    ADD, EQUAL, FLOOR_DIV, LESS, LOGICAL_AND, LOGICAL_XOR, MAXIMUM, MOD, MUL, NOT_EQUAL, SUB,
};
use mind_mil::ops::movement::EXPAND_DIMS;
use mind_mil::ops::reduction::REDUCE_SUM;
use mind_mil::ops::unary::CAST;

use crate::broadcast::to_shape;
use crate::elementwise::{operands, pair, scalar};
use crate::emit::Argument::{Flag, Int, Ints, Value, Word};
use crate::emit::{Emit, Lower, Lowered};
use crate::movement::gather;
use crate::select;

pub(crate) const ROWS: &[(&OpDef, Lower)] = &[
    (And::DEF, lower_logic),
    (Or::DEF, lower_logic),
    (Xor::DEF, lower_logic),
    (Not::DEF, lower_logic),
    (ShiftLeft::DEF, lower_shift_left),
    (ShiftRight::DEF, lower_shift_right),
];

/// The width of an integer in bits.
const BITS: usize = 32;

/// Maximum rank of a MIL tensor.
const MAX_RANK: usize = 5;

/// Refuses integers of other widths than 32 bits.
fn checked(e: &Emit<'_, '_>, x: ValueId, ops: &str) -> Result<(), Refusal> {
    match e.dtype(x) {
        DType::I32 => Ok(()),
        dtype => Err(Refusal::no_counterpart(format!("MIL has no {ops} {dtype}"))),
    }
}

/// Emits the binary op `row` of `x` and an integer constant.
fn with(e: &mut Emit<'_, '_>, row: &'static MilOp, x: ValueId, y: i64) -> Lowered {
    e.op(row, &[("x", Value(x)), ("y", Int(y))])
}

/// Returns the truncated quotient of integers: the floored quotient, plus one if it is negative and there is a
/// remainder.
pub(crate) fn quotient(e: &mut Emit<'_, '_>, x: ValueId, y: ValueId) -> Lowered {
    checked(e, x, "division of")?;
    let floor = pair(e, &FLOOR_DIV, x, y)?;
    let rest = pair(e, &MOD, x, y)?;
    let is_inexact = with(e, &NOT_EQUAL, rest, 0)?;
    let is_negative = with(e, &LESS, floor, 0)?;
    let is_below = pair(e, &LOGICAL_AND, is_inexact, is_negative)?;
    let one = number(e, is_below)?;
    pair(e, &ADD, floor, one)
}

/// Returns the remainder of integers with the sign of `x`: `mod`, minus the divisor if it has the other sign.
pub(crate) fn remainder(e: &mut Emit<'_, '_>, x: ValueId, y: ValueId) -> Lowered {
    checked(e, x, "remainder of")?;
    let rest = pair(e, &MOD, x, y)?;
    let is_inexact = with(e, &NOT_EQUAL, rest, 0)?;
    let signs = [with(e, &LESS, x, 0)?, with(e, &LESS, rest, 0)?];
    let differ = pair(e, &LOGICAL_XOR, signs[0], signs[1])?;
    let is_other = pair(e, &LOGICAL_AND, is_inexact, differ)?;
    let other = pair(e, &SUB, rest, y)?;
    select::lower(e, is_other, other, rest)
}

/// Converts truth values to 1 and 0.
fn number(e: &mut Emit<'_, '_>, flag: ValueId) -> Lowered {
    e.op(&CAST, &[("x", Value(flag)), ("dtype", Word("int32"))])
}

/// Lowers bitwise logic. MIL has logic only for truth values, so integers are split into bits.
fn lower_logic(op: OpId, e: &mut Emit<'_, '_>) -> Lowered {
    let [x, y] = operands(op, e);
    if e.dtype(x) == DType::Bool {
        return scalar(op, e);
    }
    checked(e, x, "ops on the bits of")?;
    if e.g().is::<Not>(op) {
        // In two's complement `-1 - x` has every bit of `x` flipped.
        let ones = e.constant(&Tensor::scalar(-1i32));
        return pair(e, &SUB, ones, x);
    }
    if e.g().is::<And>(op) {
        for (x, mask) in [(x, y), (y, x)] {
            if let Some(low) = e.uniform(mask).and_then(low_bits)
                && e.g().ty(mask).rank() == 0
            {
                return with(e, &MOD, x, low);
            }
        }
        return each_bit(e, [x, y], &MUL);
    }
    let join = if e.g().is::<Or>(op) {
        &MAXIMUM
    } else {
        &NOT_EQUAL
    };
    each_bit(e, [x, y], join)
}

/// Returns the power of two whose `mod` is equivalent to an AND with `mask`; `None` if the mask is not a run of low
/// bits.
fn low_bits(mask: f64) -> Option<i64> {
    let above = mask as i64 + 1;
    let is_power = above > 1 && above < 1 << (BITS - 1) && above & (above - 1) == 0;
    is_power.then_some(above)
}

/// Combines the operands bit by bit, each as a tensor of bits along a new last dimension.
fn each_bit(e: &mut Emit<'_, '_>, operands: [ValueId; 2], join: &'static MilOp) -> Lowered {
    let [x, y] = operands.map(|value| e.g().ty(value).shape);
    let whole =
        broadcast(x, y).map_err(|_| Refusal::no_counterpart("its operands do not broadcast"))?;
    let whole: Option<Vec<i64>> = whole.iter().map(|dim| dim.fixed()).collect();
    // A tensor of maximum rank is flattened, because the bits need another dimension.
    let is_flat = x.len().max(y.len()) == MAX_RANK;
    let mut operand = |value: ValueId| {
        let value = match is_flat {
            true => flat(e, value, whole.as_deref())?,
            false => value,
        };
        bits(e, value)
    };
    let (x, y) = (operand(operands[0])?, operand(operands[1])?);
    let mut joined = pair(e, join, x, y)?;
    if e.dtype(joined) == DType::Bool {
        joined = number(e, joined)?;
    }
    let powers: Vec<i32> = (0..BITS).map(|bit| (1u32 << bit) as i32).collect();
    let powers = e.constant(&Tensor::of(vec![BITS], powers));
    let weighted = pair(e, &MUL, joined, powers)?;
    let args = [
        ("x", Value(weighted)),
        ("axes", Ints(&[-1])),
        ("keep_dims", Flag(false)),
    ];
    let result = e.op(&REDUCE_SUM, &args)?;
    match whole.filter(|_| is_flat) {
        Some(shape) => e.reshape(result, &shape),
        None => Ok(result),
    }
}

/// Broadcasts `x` to the shape `whole` and flattens it.
fn flat(e: &mut Emit<'_, '_>, x: ValueId, whole: Option<&[i64]>) -> Lowered {
    let whole = whole.ok_or_else(|| {
        Refusal::no_counterpart(format!(
            "the bits of rank {MAX_RANK} need an extent that is not known"
        ))
    })?;
    let first = whole.len() - e.g().ty(x).rank();
    let dims: Vec<i64> = (first as i64..whole.len() as i64).collect();
    let x = to_shape(e, x, &dims, whole)?;
    e.reshape(x, &[whole.iter().product()])
}

/// Returns the bits of integers along a new last dimension, lowest first.
fn bits(e: &mut Emit<'_, '_>, x: ValueId) -> Lowered {
    let x = match e.elements(x) {
        Some(tensor) => {
            let shape = [tensor.shape(), &[1]].concat();
            e.constant(&tensor.with_shape(shape))
        }
        None => e.op(&EXPAND_DIMS, &[("x", Value(x)), ("axes", Ints(&[-1]))])?,
    };
    let mut shifted = x;
    for divisors in divisors() {
        let divisors = e.constant(&Tensor::of(vec![BITS], divisors));
        shifted = pair(e, &FLOOR_DIV, shifted, divisors)?;
    }
    with(e, &MOD, shifted, 2)
}

/// Returns two lists of divisors that together shift by 0 to 31 bits, because `2^31` does not fit in 32 bits.
fn divisors() -> [Vec<i32>; 2] {
    let half = BITS / 2;
    let by = |shift: fn(usize, usize) -> usize| {
        let each = (0..BITS).map(|bit| 1i32 << shift(bit, half));
        each.collect::<Vec<i32>>()
    };
    [
        by(|bit, half| bit.min(half)),
        by(|bit, half| bit.saturating_sub(half)),
    ]
}

/// Lowers a left shift to a product with a power of two, or with 0 if all bits are shifted out.
fn lower_shift_left(op: OpId, e: &mut Emit<'_, '_>) -> Lowered {
    let [x, y] = operands(op, e);
    checked(e, x, "shifts of")?;
    let places = places(e, y, BITS as i64)?;
    let powers = (0..BITS).map(|bit| (1u32 << bit) as i32).chain([0]);
    let factor = entries(e, powers.collect(), places)?;
    pair(e, &MUL, x, factor)
}

/// Lowers a right shift to a floored quotient by a power of two. Shifts of 31 or more leave only the sign.
fn lower_shift_right(op: OpId, e: &mut Emit<'_, '_>) -> Lowered {
    let [x, y] = operands(op, e);
    checked(e, x, "shifts of")?;
    let places = places(e, y, BITS as i64 - 1)?;
    let mut shifted = x;
    for divisors in divisors() {
        let divisor = entries(e, divisors, places)?;
        shifted = pair(e, &FLOOR_DIV, shifted, divisor)?;
    }
    Ok(shifted)
}

/// Returns the shift amount, or `beyond` where it is negative or not below the width.
fn places(e: &mut Emit<'_, '_>, y: ValueId, beyond: i64) -> Lowered {
    let none = with(e, &FLOOR_DIV, y, BITS as i64)?;
    let is_within = with(e, &EQUAL, none, 0)?;
    let beyond = e.constant(&Tensor::scalar(beyond as i32));
    select::lower(e, is_within, y, beyond)
}

/// Returns the entries of a list at the indices `places`.
fn entries(e: &mut Emit<'_, '_>, list: Vec<i32>, places: ValueId) -> Lowered {
    let list = e.constant(&Tensor::of(vec![list.len()], list));
    gather(e, list, places, 0, Bounds::Strict)
}
