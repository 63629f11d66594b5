//! Functions made of exponentials.
//!
//! The steps of [`mind_mil`]'s own evaluation, in `f64`, so that both give the same bits; `gelu` of halves in `f32`,
//! which has digits enough for them.

use std::f64::consts::FRAC_2_PI;

use mind_core::ops::elementwise::{Gelu, Sigmoid};
use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};
use mind_mil::MilOp;
use mind_mil::coefficients::{GELU_CUBE, GELU_SIGMOID, SMALL};
use mind_mil::ops::activation as act;

use crate::doubles::{below_in_size, chosen, in_doubles};
use crate::elementwise::{computed, halves, per_channel};
use crate::emit::{Emit, Import, Imported};

pub(crate) const ROWS: &[(&MilOp, Import)] = &[
    (&act::ELU, |op, e| {
        let alpha = f64::from(e.call(op)?.float("alpha").unwrap_or(0.0) as f32);
        in_doubles(op, e, |e, x| {
            let (above, below) = halves(e, x)?;
            let below = e.max_n(below, -LARGE)?;
            let power = power_less_one(e, below)?;
            let below = e.mul_n(power, alpha)?;
            e.add(above, below)
        })
    }),
    (&act::SOFTPLUS, |op, e| in_doubles(op, e, softplus)),
    (&act::SOFTPLUS_PARAMETRIC, |op, e| {
        let (alpha, beta) = (per_channel(op, e, "alpha")?, per_channel(op, e, "beta")?);
        computed(op, e, |e, x, _| {
            let scaled = e.mul(x, beta)?;
            let wide = e.convert(scaled, DType::F64)?;
            let result = softplus(e, wide)?;
            let result = e.convert(result, DType::F32)?;
            e.mul(result, alpha)
        })
    }),
    (&act::GELU, gelu),
];

/// The power of this size is past every `f32`, that of its negative nothing beside 1.
const LARGE: f64 = 100.0;

/// `e^x - 1` of an `x` of at most [`LARGE`] in size.
fn power_less_one(e: &mut Emit<'_>, x: ValueId) -> Imported {
    let square = e.mul(x, x)?;
    let half = e.div_n(square, 2.0)?;
    let small = e.add(x, half)?;
    let power = e.exp(x)?;
    let large = e.sub_n(power, 1.0)?;
    let is_small = below_in_size(e, x, SMALL)?;
    chosen(e, is_small, small, large)
}

/// `max(x, 0) + ln(1 + e^-|x|)`.
fn softplus(e: &mut Emit<'_>, x: ValueId) -> Imported {
    let above = e.max_n(x, 0.0)?;
    let size = e.abs(x)?;
    let negative = e.mul_n(size, -1.0)?;
    let power = e.exp(negative)?;
    let square = e.mul(power, power)?;
    let half = e.div_n(square, 2.0)?;
    let small = e.sub(power, half)?;
    let sum = e.add_n(power, 1.0)?;
    let large = e.log(sum)?;
    let is_small = below_in_size(e, power, SMALL)?;
    let log = chosen(e, is_small, small, large)?;
    e.add(above, log)
}

fn gelu(op: OpId, e: &mut Emit<'_>) -> Imported {
    let mode = e.call(op)?.word("mode").to_owned();
    let gate: fn(&mut Emit<'_>, ValueId) -> Imported = match mode.as_str() {
        "TANH_APPROXIMATION" => |e, x| {
            let cubic = e.mul_n(x, GELU_CUBE)?;
            let cubic = e.mul(cubic, x)?;
            let cubic = e.mul(cubic, x)?;
            let sum = e.add(x, cubic)?;
            let inner = e.mul_n(sum, FRAC_2_PI.sqrt())?;
            e.mul_n(inner, 2.0)
        },
        "SIGMOID_APPROXIMATION" => |e, x| e.mul_n(x, GELU_SIGMOID),
        _ => {
            let x = e.argument(op, "x")?;
            return Ok(Gelu::build(&mut e.b, x)?);
        }
    };
    let gated = |e: &mut Emit<'_>, x: ValueId| {
        let gate = gate(e, x)?;
        let gate = Sigmoid::build(&mut e.b, gate)?;
        e.mul(x, gate)
    };
    let x = e.argument(op, "x")?;
    match e.dtype(x) {
        DType::F16 => computed(op, e, |e, x, _| gated(e, x)),
        _ => in_doubles(op, e, gated),
    }
}
