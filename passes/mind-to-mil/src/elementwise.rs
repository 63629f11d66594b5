//! Lowers elementwise arithmetic.

use mind_convert::Refusal;
use mind_core::ops::compare::{Compare, Direction, Select};
use mind_core::ops::elementwise::{Div, Gelu, Log, Mul, Neg, Relu, Remainder};
use mind_core::ops::power::{Expm1, Log1p, Log2, Pow, Rsqrt};
use mind_core::ops::rounding::Trunc;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};
use mind_mil::MilOp;
use mind_mil::ops::activation::GELU;
use mind_mil::ops::binary::{
    ADD, LESS, LOGICAL_AND, LOGICAL_OR, LOGICAL_XOR, MAXIMUM, MOD, MUL, POW, REAL_DIV, SUB,
};
use mind_mil::ops::unary::{ABS, ATANH, CAST, EXP, FLOOR, LOG, LOGICAL_NOT, RSQRT, SIGN, TANH};
use mind_mil::scalar::op_of;

use crate::config::Layout;
use crate::emit::Argument::{Int, Number, Value, Word};
use crate::emit::{Argument, Emit, Lower, Lowered};
use crate::integers;
use crate::select;

/// The functions that need a lowering of their own; the others are rows of [`mind_mil::scalar`].
pub(crate) const ROWS: &[(&OpDef, Lower)] = &[
    (Mul::DEF, lower_mul),
    (Div::DEF, lower_div),
    (Relu::DEF, lower_relu),
    (Neg::DEF, lower_neg),
    (Log::DEF, |op, e| lower_log(op, e, 0.0)),
    (Log1p::DEF, lower_log1p),
    (Log2::DEF, lower_log2),
    (Expm1::DEF, lower_expm1),
    (Trunc::DEF, lower_trunc),
    (Remainder::DEF, lower_remainder),
    (Pow::DEF, |op, e| {
        let [x, y] = operands(op, e);
        if !e.dtype(x).is_float() {
            return Err(Refusal::no_counterpart("`pow` of integers does not wrap"));
        }
        pair(e, &POW, x, y)
    }),
    (Rsqrt::DEF, |op, e| {
        let [x, _] = operands(op, e);
        e.op(&RSQRT, &[("x", Value(x)), ("epsilon", epsilon(e, x, 0.0))])
    }),
    (Compare::DEF, lower_compare),
    (Select::DEF, |op, e| {
        let view = Select::from_id(op);
        let (cond, a, b) = (view.pred(e.g()), view.on_true(e.g()), view.on_false(e.g()));
        select::lower(e, cond, a, b)
    }),
    (Gelu::DEF, |op, e| {
        let [x, _] = operands(op, e);
        e.op(&GELU, &[("x", Value(x)), ("mode", Word("EXACT"))])
    }),
];

/// Lowers a truncated remainder of floats to the sign of `x` times the `mod` of the magnitudes. Integers take other
/// ops, because the least integer has no magnitude.
fn lower_remainder(op: OpId, e: &mut Emit<'_, '_>) -> Lowered {
    let [x, y] = operands(op, e);
    if !e.dtype(x).is_float() {
        return integers::remainder(e, x, y);
    }
    let magnitude = e.op(&ABS, &[("x", Value(x))])?;
    let divisor = e.op(&ABS, &[("x", Value(y))])?;
    let left = pair(e, &MOD, magnitude, divisor)?;
    let sign = e.op(&SIGN, &[("x", Value(x))])?;
    pair(e, &MUL, left, sign)
}

pub(crate) fn operands(op: OpId, e: &Emit<'_, '_>) -> [ValueId; 2] {
    let operands = e.g().operands(op);
    [operands[0], operands[operands.len() - 1]]
}

/// Lowers an op whose scalar function is a MIL op.
pub(crate) fn scalar(op: OpId, e: &mut Emit<'_, '_>) -> Lowered {
    let row = e.g().scalar(op).and_then(op_of);
    let row = row.ok_or_else(|| Refusal::no_counterpart("MIL has no such function"))?;
    let operands = e.g().operands(op).to_vec();
    let args = ["x", "y"].into_iter().zip(operands);
    let args: Vec<(&str, Argument<'_>)> = args.map(|(name, x)| (name, Value(x))).collect();
    e.op(row, &args)
}

/// Emits the binary op `row` of `x` and `y`.
pub(crate) fn pair(e: &mut Emit<'_, '_>, row: &'static MilOp, x: ValueId, y: ValueId) -> Lowered {
    e.op(row, &[("x", Value(x)), ("y", Value(y))])
}

/// Lowers a product. In the layouts for the engine, a reduction times zero is emitted as `t - t`, which equals it
/// except for the sign of zero, because the engine's code generator fails on the product.
fn lower_mul(op: OpId, e: &mut Emit<'_, '_>) -> Lowered {
    let [x, y] = operands(op, e);
    if e.config.layout == Layout::Keep {
        return scalar(op, e);
    }
    for (value, other) in [(x, y), (y, x)] {
        let reduction = e
            .g()
            .defining_op(value)
            .is_some_and(|op| e.g().def(op).short_name().starts_with("reduce_"));
        if reduction && e.uniform(other) == Some(0.0) {
            let zero = pair(e, &SUB, value, value)?;
            let same = e.shape(other)?.iter().all(|&extent| extent == 1)
                && e.shape(other)?.len() <= e.shape(value)?.len();
            return if same {
                Ok(zero)
            } else {
                pair(e, &ADD, zero, other)
            };
        }
    }
    scalar(op, e)
}

/// Lowers comparisons. MIL compares only numbers, so comparisons of truth values become logic, with false less than
/// true.
fn lower_compare(op: OpId, e: &mut Emit<'_, '_>) -> Lowered {
    let [x, y] = operands(op, e);
    if e.dtype(x) != DType::Bool {
        return scalar(op, e);
    }
    let not = |e: &mut Emit<'_, '_>, x: ValueId| e.op(&LOGICAL_NOT, &[("x", Value(x))]);
    match Compare::from_id(op).direction(e.g()) {
        Direction::Ne => pair(e, &LOGICAL_XOR, x, y),
        Direction::Eq => {
            let differ = pair(e, &LOGICAL_XOR, x, y)?;
            not(e, differ)
        }
        Direction::Lt => {
            let is_false = not(e, x)?;
            pair(e, &LOGICAL_AND, is_false, y)
        }
        Direction::Gt => {
            let is_false = not(e, y)?;
            pair(e, &LOGICAL_AND, x, is_false)
        }
        Direction::Le => {
            let is_false = not(e, x)?;
            pair(e, &LOGICAL_OR, is_false, y)
        }
        Direction::Ge => {
            let is_false = not(e, y)?;
            pair(e, &LOGICAL_OR, x, is_false)
        }
    }
}

fn lower_div(op: OpId, e: &mut Emit<'_, '_>) -> Lowered {
    let [x, y] = operands(op, e);
    match e.dtype(x).is_float() {
        true => scalar(op, e),
        false => integers::quotient(e, x, y),
    }
}

fn lower_relu(op: OpId, e: &mut Emit<'_, '_>) -> Lowered {
    let [x, _] = operands(op, e);
    match e.dtype(x) {
        dtype if dtype.is_float() => scalar(op, e),
        DType::I32 => e.op(&MAXIMUM, &[("x", Value(x)), ("y", Int(0))]),
        dtype => Err(Refusal::no_counterpart(format!("`relu` takes no {dtype}"))),
    }
}

fn lower_neg(op: OpId, e: &mut Emit<'_, '_>) -> Lowered {
    let [x, _] = operands(op, e);
    match e.dtype(x) {
        dtype if dtype.is_float() => e.op(&MUL, &[("x", Value(x)), ("y", Number(-1.0, dtype))]),
        DType::I32 => e.op(&MUL, &[("x", Value(x)), ("y", Int(-1))]),
        dtype => Err(Refusal::no_counterpart(format!(
            "`mul` by -1 is not written for {dtype}"
        ))),
    }
}

/// Lowers to `ln(x + shift)`. The epsilon is always written, because `log` adds a nonzero one by default.
fn lower_log(op: OpId, e: &mut Emit<'_, '_>, shift: f64) -> Lowered {
    let [x, _] = operands(op, e);
    e.op(&LOG, &[("x", Value(x)), ("epsilon", epsilon(e, x, shift))])
}

/// Returns the epsilon argument in the dtype of `x`.
fn epsilon(e: &Emit<'_, '_>, x: ValueId, epsilon: f64) -> Argument<'static> {
    Number(epsilon, e.dtype(x))
}

fn lower_log2(op: OpId, e: &mut Emit<'_, '_>) -> Lowered {
    in_steps(op, e, |e, x| {
        let log = e.op(&LOG, &[("x", Value(x)), ("epsilon", epsilon(e, x, 0.0))])?;
        let log2_e = Number(std::f64::consts::LOG2_E, e.dtype(log));
        e.op(&MUL, &[("x", Value(log)), ("y", log2_e)])
    })
}

/// Lowers `e^x - 1`. In f32 it becomes `tanh(x / 2) (e^x + 1)`, which keeps the precision near 0. In f16 the
/// subtraction is used, because the engine's table of `tanh` has a larger error.
fn lower_expm1(op: OpId, e: &mut Emit<'_, '_>) -> Lowered {
    in_steps(op, e, |e, x| {
        let power = e.op(&EXP, &[("x", Value(x))])?;
        let dtype = e.dtype(power);
        let with = |e: &mut Emit<'_, '_>, row, x, number| {
            e.op(row, &[("x", Value(x)), ("y", Number(number, dtype))])
        };
        if dtype == DType::F16 {
            return with(e, &SUB, power, 1.0);
        }
        let half = with(e, &MUL, x, 0.5)?;
        let tangent = e.op(&TANH, &[("x", Value(half))])?;
        let above = with(e, &ADD, power, 1.0)?;
        pair(e, &MUL, tangent, above)
    })
}

/// Lowers `ln(1 + x)`. In f32 it becomes `2 atanh(x / (x + 2))` near 0, which keeps the precision there.
fn lower_log1p(op: OpId, e: &mut Emit<'_, '_>) -> Lowered {
    let far = lower_log(op, e, 1.0)?;
    let [x, _] = operands(op, e);
    if e.dtype(x) == DType::F16 {
        return Ok(far);
    }
    let dtype = e.dtype(x);
    let shifted = e.op(&ADD, &[("x", Value(x)), ("y", Number(2.0, dtype))])?;
    let ratio = pair(e, &REAL_DIV, x, shifted)?;
    let tangent = e.op(&ATANH, &[("x", Value(ratio))])?;
    let near = e.op(&MUL, &[("x", Value(tangent)), ("y", Number(2.0, dtype))])?;
    let size = e.op(&ABS, &[("x", Value(x))])?;
    let is_near = e.op(&LESS, &[("x", Value(size)), ("y", Number(0.5, dtype))])?;
    select::lower(e, is_near, near, far)
}

/// Lowers `trunc` to the sign times the `floor` of the magnitude; both are exact.
fn lower_trunc(op: OpId, e: &mut Emit<'_, '_>) -> Lowered {
    let [x, _] = operands(op, e);
    let sign = e.op(&SIGN, &[("x", Value(x))])?;
    let size = e.op(&ABS, &[("x", Value(x))])?;
    let size = e.op(&FLOOR, &[("x", Value(size))])?;
    pair(e, &MUL, sign, size)
}

/// Emits a function of several ops, which round to f32 in a program of f32.
fn in_steps(
    op: OpId,
    e: &mut Emit<'_, '_>,
    function: impl FnOnce(&mut Emit<'_, '_>, ValueId) -> Lowered,
) -> Lowered {
    let [x, _] = operands(op, e);
    if e.dtype(x) == e.float() {
        return function(e, x);
    }
    let wide = e.op(&CAST, &[("x", Value(x)), ("dtype", Word("fp32"))])?;
    let result = function(e, wide)?;
    e.op(&CAST, &[("x", Value(result)), ("dtype", Word("fp16"))])
}
