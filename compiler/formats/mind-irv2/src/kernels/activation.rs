//! Activation functions of the MLP.

use mind_core::ops::elementwise::{Add, Gelu, Mul, Relu, Sigmoid, Tanh};
use mind_ir::ValueId;

use super::Call;
use crate::attributes::Activation;
use crate::graph::emit::{Built, Emitter};

/// `silu(gate) up`.
pub(super) fn swiglu(call: &mut Call<'_>) -> Built<()> {
    gated(call, "swiglu_out", Activation::Silu)
}

/// `activation(gate) up`, with the activation of the configuration.
pub(super) fn gated_activation(call: &mut Call<'_>) -> Built<()> {
    gated(call, "act_out", call.config.activation)
}

fn gated(call: &mut Call<'_>, out: &str, activation: Activation) -> Built<()> {
    let &[gate, up] = call.all("fc1_out") else {
        let count = call.all("fc1_out").len();
        let reason = format!("`fc1_out` has {count} values, expected 2 (gate and up)");
        return Err(call.error(reason));
    };
    let bent = activated(call.e, gate, activation)?;
    let gated = Mul::build(call.e, bent, up)?;
    call.set(out, vec![gated]);
    Ok(())
}

/// `activation(x)`, with the activation of the configuration.
pub(super) fn activation(call: &mut Call<'_>) -> Built<()> {
    let (x, own) = (call.get("fc1_out", 2)?, call.config.activation);
    let y = activated(call.e, x, own)?;
    call.set("act_out", vec![y]);
    Ok(())
}

pub(super) fn activated(e: &mut Emitter, x: ValueId, activation: Activation) -> Built<ValueId> {
    Ok(match activation {
        Activation::Silu => {
            let sigmoid = Sigmoid::build(e, x)?;
            Mul::build(e, x, sigmoid)?
        }
        Activation::Gelu => Gelu::build(e, x)?,
        Activation::GeluTanh => {
            let square = Mul::build(e, x, x)?;
            let cube = Mul::build(e, square, x)?;
            let share = e.number(0.044_715)?;
            let bend = Mul::build(e, cube, share)?;
            let sum = Add::build(e, x, bend)?;
            let root = e.number((2.0 / std::f64::consts::PI).sqrt())?;
            let inner = Mul::build(e, sum, root)?;
            let tanh = Tanh::build(e, inner)?;
            let one = e.number(1.0)?;
            let above = Add::build(e, tanh, one)?;
            let half = e.number(0.5)?;
            let halved = Mul::build(e, x, half)?;
            Mul::build(e, halved, above)?
        }
        Activation::Relu => Relu::build(e, x)?,
        Activation::Relu2 => {
            let relu = Relu::build(e, x)?;
            Mul::build(e, relu, relu)?
        }
    })
}
