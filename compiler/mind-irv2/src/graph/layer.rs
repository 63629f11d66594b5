//! The stages of a layer, each as ops on values that are there already.

use mind_core::ops::elementwise::{Add, Div, Mul, Sigmoid, Sqrt};
use mind_core::ops::reduce::{Mean, Sum};
use mind_core::ops::shape::Reshape;
use mind_ir::ValueId;

use super::attention::{Rotation, rotated};
use super::emit::{Built, Emitter, fixed};
use crate::Config;

/// `x r gamma` with `r = 1 / sqrt(mean(x²) + eps)` along the last axis, over its `true_extent` leading elements; the
/// others, if any, are zeros.
pub(super) fn normed(
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
    let eps = e.number(eps)?;
    let above = Add::build(e, mean, eps)?;
    let root = Sqrt::build(e, above)?;
    let one = e.number(1.0)?;
    let r = Div::build(e, one, root)?;
    let scaled = Mul::build(e, x, r)?;
    Mul::build(e, scaled, gamma)
}

/// A matrix `[out, in]` and what is added to its products, `[out]`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Linear {
    pub(super) weight: ValueId,
    pub(super) bias: Option<ValueId>,
}

impl Linear {
    pub(super) fn of(self, e: &mut Emitter, x: ValueId) -> Built<ValueId> {
        e.linear(x, self.weight, self.bias)
    }
}

/// The weights in front of attention.
#[derive(Clone, Copy, Debug)]
pub(super) struct Projections {
    pub(super) gamma: ValueId,
    pub(super) q: Linear,
    pub(super) k: Linear,
    pub(super) v: Linear,
    /// Of the normalisation of each head of q and of k, `[head_dim]`.
    pub(super) head_gammas: Option<[ValueId; 2]>,
}

/// Queries `[tokens, heads, head_dim]`, keys and values `[tokens, kv_heads, head_dim]` of `x`, `[tokens, D]`; heads are
/// as wide as the weights make them.
pub(super) fn projected(
    e: &mut Emitter,
    config: &Config,
    x: ValueId,
    weights: &Projections,
    rotation: Option<Rotation>,
) -> Built<[ValueId; 3]> {
    let tokens = e.shape(x)[0];
    let eps = config.rms_norm_eps;
    let normed_x = normed(e, x, weights.gamma, (config.hidden_size, eps))?;
    let heads = |e: &mut Emitter, linear: Linear, heads: usize| {
        let all = linear.of(e, normed_x)?;
        let width = e.extent(all, 1) / heads;
        Reshape::with(&[tokens, fixed(heads), fixed(width)]).build(e, all)
    };
    let mut q = heads(e, weights.q, config.num_attention_heads)?;
    let mut k = heads(e, weights.k, config.num_kv_heads)?;
    let v = heads(e, weights.v, config.num_kv_heads)?;
    if let Some([q_gamma, k_gamma]) = weights.head_gammas {
        q = normed(e, q, q_gamma, (config.head_dim, eps))?;
        k = normed(e, k, k_gamma, (config.head_dim, eps))?;
    }
    if let Some(rotation) = rotation {
        q = rotated(e, q, rotation)?;
        k = rotated(e, k, rotation)?;
    }
    Ok([q, k, v])
}

/// The weights behind attention.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest {
    pub(super) output: Linear,
    pub(super) gamma: ValueId,
    pub(super) gate: Linear,
    pub(super) up: Linear,
    pub(super) down: Linear,
}

/// What a layer makes of its input `x` and of what attention gave, `[tokens, heads head_dim]`.
pub(super) fn finished(
    e: &mut Emitter,
    config: &Config,
    x: ValueId,
    mixed: ValueId,
    weights: &Rest,
) -> Built<ValueId> {
    let output = weights.output.of(e, mixed)?;
    let residual = Add::build(e, x, output)?;
    let over = (config.hidden_size, config.rms_norm_eps);
    let inner = normed(e, residual, weights.gamma, over)?;
    let gate = weights.gate.of(e, inner)?;
    let up = weights.up.of(e, inner)?;
    let sigmoid = Sigmoid::build(e, gate)?;
    let silu = Mul::build(e, gate, sigmoid)?;
    let gated = Mul::build(e, silu, up)?;
    let down = weights.down.of(e, gated)?;
    Add::build(e, residual, down)
}
