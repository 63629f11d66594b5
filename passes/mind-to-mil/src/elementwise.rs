//! Arithmetic.

use mind_core::ops::elementwise::{
    Abs, Add, Div, Erf, Exp, Gelu, Log, Maximum, Minimum, Mul, Neg, Relu, Sigmoid, Sqrt, Sub, Tanh,
};
use mind_ir::opdef::{Op, OpDef};
use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};
use mind_mil::MilOp;
use mind_mil::ops::activation::{GELU, RELU, SIGMOID};
use mind_mil::ops::binary::{ADD, MAXIMUM, MINIMUM, MUL, REAL_DIV, SUB};
use mind_mil::ops::unary::{ABS, ERF, EXP, LOG, SQRT, TANH};

use crate::emit::Argument::{Int, Number, Value, Word};
use crate::emit::{Argument, Emit, Lower, Lowered};
use crate::refuse::Refused;

pub(crate) const ROWS: &[(&OpDef, Lower)] = &[
    (Add::DEF, |op, e| binary(op, e, &ADD)),
    (Sub::DEF, |op, e| binary(op, e, &SUB)),
    (Mul::DEF, lower_mul),
    (Div::DEF, lower_div),
    (Maximum::DEF, |op, e| binary(op, e, &MAXIMUM)),
    (Minimum::DEF, |op, e| binary(op, e, &MINIMUM)),
    (Relu::DEF, lower_relu),
    (Neg::DEF, lower_neg),
    (Exp::DEF, |op, e| unary(op, e, &EXP, &[])),
    (Log::DEF, lower_log),
    (Abs::DEF, |op, e| unary(op, e, &ABS, &[])),
    (Sqrt::DEF, |op, e| unary(op, e, &SQRT, &[])),
    (Erf::DEF, |op, e| unary(op, e, &ERF, &[])),
    (Sigmoid::DEF, |op, e| unary(op, e, &SIGMOID, &[])),
    (Tanh::DEF, |op, e| unary(op, e, &TANH, &[])),
    (Gelu::DEF, |op, e| unary(op, e, &GELU, &[("mode", "EXACT")])),
];

fn operands(op: OpId, e: &Emit<'_, '_>) -> [ValueId; 2] {
    let operands = e.g().operands(op);
    [operands[0], operands[operands.len() - 1]]
}

fn unary(op: OpId, e: &mut Emit<'_, '_>, row: &'static MilOp, words: &[(&str, &str)]) -> Lowered {
    let [x, _] = operands(op, e);
    let mut args: Vec<(&str, Argument<'_>)> = vec![("x", Value(x))];
    args.extend(words.iter().map(|&(name, word)| (name, Word(word))));
    e.op(row, &args)
}

fn binary(op: OpId, e: &mut Emit<'_, '_>, row: &'static MilOp) -> Lowered {
    let [x, y] = operands(op, e);
    pair(e, row, x, y)
}

/// `row` of `x` and `y`.
pub(crate) fn pair(e: &mut Emit<'_, '_>, row: &'static MilOp, x: ValueId, y: ValueId) -> Lowered {
    e.op(row, &[("x", Value(x)), ("y", Value(y))])
}

/// A reduction times zero fails when the engine's code is generated; `t - t` is such a zero.
fn lower_mul(op: OpId, e: &mut Emit<'_, '_>) -> Lowered {
    let [x, y] = operands(op, e);
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
    binary(op, e, &MUL)
}

fn lower_div(op: OpId, e: &mut Emit<'_, '_>) -> Lowered {
    let [x, _] = operands(op, e);
    match e.dtype(x).is_float() {
        true => binary(op, e, &REAL_DIV),
        false => Err(Refused::new(
            "`floor_div` rounds down where integer division truncates",
        )),
    }
}

fn lower_relu(op: OpId, e: &mut Emit<'_, '_>) -> Lowered {
    let [x, _] = operands(op, e);
    match e.dtype(x) {
        dtype if dtype.is_float() => unary(op, e, &RELU, &[]),
        DType::I32 => e.op(&MAXIMUM, &[("x", Value(x)), ("y", Int(0))]),
        dtype => Err(Refused::new(format!("`relu` takes no {dtype}"))),
    }
}

fn lower_neg(op: OpId, e: &mut Emit<'_, '_>) -> Lowered {
    let [x, _] = operands(op, e);
    match e.dtype(x) {
        dtype if dtype.is_float() => e.op(&MUL, &[("x", Value(x)), ("y", Number(-1.0, dtype))]),
        DType::I32 => e.op(&MUL, &[("x", Value(x)), ("y", Int(-1))]),
        dtype => Err(Refused::new(format!(
            "`mul` by -1 is not written for {dtype}"
        ))),
    }
}

/// Without the epsilon that `log` adds by default; the argument is always written.
fn lower_log(op: OpId, e: &mut Emit<'_, '_>) -> Lowered {
    let [x, _] = operands(op, e);
    let dtype = if e.config.opset < mind_mil::Opset::Ios17 {
        DType::F32
    } else {
        e.dtype(x)
    };
    e.op(&LOG, &[("x", Value(x)), ("epsilon", Number(0.0, dtype))])
}
