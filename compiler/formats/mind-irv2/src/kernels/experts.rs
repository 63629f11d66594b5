//! Kernels for mixtures of experts: routing, and the experts themselves.

use mind_core::ops::compare::{Compare, Direction, Select};
use mind_core::ops::elementwise::{Add, Div, Mul, Sigmoid};
use mind_core::ops::extents::Iota;
use mind_core::ops::normalize::Softmax;
use mind_core::ops::reduce::Sum;
use mind_core::ops::shape::Reshape;
use mind_ir::ValueId;
use mind_ir::types::DType;

use super::Call;
use super::activation::activated;
use crate::attributes::Activation;
use crate::graph::emit::{Built, Emitter, fixed};

/// Computes the routing weights, `[tokens, experts]`. They are 0 except for the experts with the largest scores; of
/// experts with equal scores, those with lower numbers are chosen.
pub(super) fn router(call: &mut Call<'_>) -> Built<()> {
    let (x, weight) = (call.get("input", 2)?, call.get("w", 2)?);
    let Some(experts) = call.config.experts else {
        return Err(call.error("the model has no experts".to_owned()));
    };
    let e = &mut *call.e;
    let tokens = e.shape(x)[0];
    let scores = e.linear(x, weight, None)?;
    let shares = Softmax::with().axis(1).build(e, scores)?;
    let (mut largest, places) = e.largest(shares, experts.per_token)?;
    if experts.normalised {
        let sum = Sum::with().axes(&[1]).keepdims(true).build(e, largest)?;
        largest = Div::build(e, largest, sum)?;
    }
    // A one-hot column for each chosen expert, multiplied by its weight.
    let column = [tokens, fixed(experts.per_token), fixed(1)];
    let (largest, places) = (
        Reshape::with(&column).build(e, largest)?,
        Reshape::with(&column).build(e, places)?,
    );
    let numbers = [fixed(1), fixed(1), fixed(experts.count)];
    let numbers = Iota::with(DType::I64, &numbers).axis(2).build(e)?;
    let is_own = Compare::with(Direction::Eq).build(e, places, numbers)?;
    let none = e.number(0.0)?;
    let spread = Select::build(e, is_own, largest, none)?;
    let routing = Sum::with().axes(&[1]).build(e, spread)?;
    call.set("routing", vec![routing]);
    Ok(())
}

/// Sums the outputs of each token's experts times their routing weights, in the order of their numbers.
pub(super) fn experts(call: &mut Call<'_>) -> Built<()> {
    let (x, routing) = (call.get("input", 2)?, call.get("routing", 2)?);
    let (up, down) = (call.all("w1").to_vec(), call.all("w2").to_vec());
    let activation = call.config.activation;
    let e = &mut *call.e;
    let nothing = e.number(0.0)?;
    let mut sum = nothing;
    for (expert, (pair, &down)) in up.chunks_exact(2).zip(&down).enumerate() {
        let share = e.sliced(routing, 1, (expert, expert + 1))?;
        let weights = ExpertWeights {
            gate: pair[0],
            up: pair[1],
            down,
        };
        let made = shared_out(e, x, share, weights, activation)?;
        let added = Add::build(e, sum, made)?;
        // Selected instead of adding 0, because the output of an expert that is not chosen may be NaN.
        let is_chosen = Compare::with(Direction::Gt).build(e, share, nothing)?;
        sum = Select::build(e, is_chosen, added, sum)?;
    }
    call.set("out", vec![sum]);
    Ok(())
}

/// The matrices of an expert.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExpertWeights {
    pub(crate) gate: ValueId,
    pub(crate) up: ValueId,
    pub(crate) down: ValueId,
}

/// Returns the output of an expert for the rows of `x`, multiplied by the routing weights, `[rows, 1]`.
pub(crate) fn shared_out(
    e: &mut Emitter,
    x: ValueId,
    share: ValueId,
    weights: ExpertWeights,
    activation: Activation,
) -> Built<ValueId> {
    let gate = e.linear(x, weights.gate, None)?;
    let up = e.linear(x, weights.up, None)?;
    let bent = activated(e, gate, activation)?;
    let inner = Mul::build(e, bent, up)?;
    let made = e.linear(inner, weights.down, None)?;
    Ok(Mul::build(e, made, share)?)
}

/// `x sigmoid(input gateᵀ)`, with a scalar gate for each token.
pub(super) fn sigmoid_gate(call: &mut Call<'_>) -> Built<()> {
    let (input, gate, x) = (
        call.get("input", 2)?,
        call.get("gate", 1)?,
        call.get("x", 2)?,
    );
    let row = [fixed(1), call.e.shape(gate)[0]];
    let row = Reshape::with(&row).build(call.e, gate)?;
    let score = call.e.linear(input, row, None)?;
    let share = Sigmoid::build(call.e, score)?;
    let y = Mul::build(call.e, x, share)?;
    call.set("out", vec![y]);
    Ok(())
}
