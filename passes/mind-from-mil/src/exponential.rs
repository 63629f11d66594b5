//! Functions made of exponentials.
//!
//! The steps of [`mind_mil`]'s own evaluation, in `f64`, so that both give the same bits; `gelu` of halves in `f32`,
//! which has digits enough for them.

use std::f64::consts::FRAC_2_PI;

use mind_core::ops::elementwise::{Gelu, Neg, Sigmoid};
use mind_core::ops::power::{Expm1, Log1p};
use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};
use mind_mil::MilOp;
use mind_mil::coefficients::{GELU_CUBE, GELU_SIGMOID};
use mind_mil::ops::activation as act;

use crate::doubles::in_doubles;
use crate::elementwise::{above_zero, computed, per_channel};
use crate::emit::{Emit, Import, Imported};

pub(crate) const ROWS: &[(&MilOp, Import)] = &[
    (&act::ELU, |op, e| {
        let alpha = f64::from(e.call(op)?.float("alpha").unwrap_or(0.0) as f32);
        in_doubles(op, e, |e, x| {
            let power = Expm1::build(&mut e.b, x)?;
            let below = e.mul_n(power, alpha)?;
            above_zero(e, x, below)
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

/// `max(x, 0) + ln(1 + e^-|x|)`.
fn softplus(e: &mut Emit<'_>, x: ValueId) -> Imported {
    let above = e.max_n(x, 0.0)?;
    let size = e.abs(x)?;
    let negative = Neg::build(&mut e.b, size)?;
    let power = e.exp(negative)?;
    let log = Log1p::build(&mut e.b, power)?;
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
