//! Normalisation kernels.

use mind_core::ops::elementwise::{Add, Div, Mul, Sqrt, Sub};
use mind_core::ops::reduce::{Mean, Sum};
use mind_core::ops::shape::Reshape;
use mind_ir::ValueId;

use super::Call;
use crate::attributes::Attribute;
use crate::graph::emit::{Built, Emitter, fixed};

/// `out = input r gamma`.
pub(super) fn rmsnorm(call: &mut Call<'_>) -> Built<()> {
    let x = call.get("input", 2)?;
    let gamma = gain(call, "gamma")?;
    let over = (call.true_extent("gamma"), call.config.rms_norm_eps);
    let y = normed(call.e, x, gamma, over)?;
    call.set("out", vec![y]);
    Ok(())
}

/// `out = (input - mean) r gamma + beta`.
pub(super) fn layernorm(call: &mut Call<'_>) -> Built<()> {
    let (x, gamma, beta) = (
        call.get("input", 2)?,
        call.get("gamma", 1)?,
        call.maybe("beta"),
    );
    let (true_extent, eps) = (call.true_extent("gamma"), call.config.rms_norm_eps);
    let e = &mut *call.e;
    let count = e.number(true_extent as f64)?;
    let sum = Sum::with().axes(&[1]).keepdims(true).build(e, x)?;
    let mean = Div::build(e, sum, count)?;
    let deviation = Sub::build(e, x, mean)?;
    // Padding is excluded from the variance, because subtracting the mean made it different from 0.
    let own = e.sliced(deviation, 1, (0, true_extent))?;
    let square = Mul::build(e, own, own)?;
    let sum = Sum::with().axes(&[1]).keepdims(true).build(e, square)?;
    let variance = Div::build(e, sum, count)?;
    let r = inverse_root(e, variance, eps)?;
    let scaled = Mul::build(e, deviation, r)?;
    let mut y = Mul::build(e, scaled, gamma)?;
    if let Some(beta) = beta {
        y = Add::build(e, y, beta)?;
    }
    call.set("out", vec![y]);
    Ok(())
}

/// Normalises `q` and `k`, each over all its heads together.
pub(super) fn qk_norm_full(call: &mut Call<'_>) -> Built<()> {
    for (heads, gamma) in [("q", "q_gamma"), ("k", "k_gamma")] {
        let x = call.get(heads, 3)?;
        let count = call.e.extent(x, 1) * call.config.head_dim;
        let gamma = gain(call, gamma)?;
        let shape = call.e.shape(x);
        let joined = [shape[0], fixed(call.e.extent(x, 1) * call.e.extent(x, 2))];
        let flat = Reshape::with(&joined).build(call.e, x)?;
        let y = normed(call.e, flat, gamma, (count, call.config.rms_norm_eps))?;
        let y = Reshape::with(&shape).build(call.e, y)?;
        call.set(heads, vec![y]);
    }
    Ok(())
}

/// Normalises `q` and `k`, each head separately.
pub(super) fn qk_norm(call: &mut Call<'_>) -> Built<()> {
    for (heads, gamma) in [("q", "q_gamma"), ("k", "k_gamma")] {
        let x = call.get(heads, 3)?;
        let over = (call.true_extent(gamma), call.config.rms_norm_eps);
        let gamma = gain(call, gamma)?;
        let y = normed(call.e, x, gamma, over)?;
        call.set(heads, vec![y]);
    }
    Ok(())
}

/// Returns the gain of a normalisation.
fn gain(call: &mut Call<'_>, arg: &str) -> Built<ValueId> {
    let gamma = call.get(arg, 1)?;
    let offset = call.attribute(Attribute::GammaOffset);
    if offset == 0.0 {
        return Ok(gamma);
    }
    let offset = call.e.number(offset)?;
    Ok(Add::build(call.e, gamma, offset)?)
}

/// Returns `x r gamma` with `r = 1 / sqrt(mean(x²) + eps)` along the last axis. The mean is over the `true_extent`
/// leading elements; the others, if any, must be zero.
fn normed(
    e: &mut Emitter,
    x: ValueId,
    gamma: ValueId,
    (true_extent, eps): (usize, f64),
) -> Built<ValueId> {
    let shape = e.shape(x);
    let (last, stored) = (shape.len() as i64 - 1, shape.last().copied());
    let square = Mul::build(e, x, x)?;
    let mean = if stored == Some(fixed(true_extent)) {
        Mean::with().axes(&[last]).keepdims(true).build(e, square)?
    } else {
        let sum = Sum::with().axes(&[last]).keepdims(true).build(e, square)?;
        let count = e.number(true_extent as f64)?;
        Div::build(e, sum, count)?
    };
    let r = inverse_root(e, mean, eps)?;
    let scaled = Mul::build(e, x, r)?;
    Ok(Mul::build(e, scaled, gamma)?)
}

/// Returns `1 / sqrt(x + eps)`.
fn inverse_root(e: &mut Emitter, x: ValueId, eps: f64) -> Built<ValueId> {
    let eps = e.number(eps)?;
    let above = Add::build(e, x, eps)?;
    let root = Sqrt::build(e, above)?;
    let one = e.number(1.0)?;
    Ok(Div::build(e, one, root)?)
}
