//! Kernels for table lookups, projections and residual additions.

use mind_core::ops::elementwise::{Add, Mul};
use mind_core::ops::index::Gather;
use mind_core::ops::shape::Reshape;
use mind_ir::ValueId;

use super::attention::capped;
use super::{Call, ambient};
use crate::attributes::Attribute;
use crate::graph::emit::{Built, fixed};

/// Looks up tokens in the embedding table, and adds token types and positions if the model has these tables.
pub(super) fn embedding(call: &mut Call<'_>) -> Built<()> {
    let (table, tokens) = (call.get("table", 2)?, call.ambient(ambient::TOKENS)?);
    let rows = Gather::build(call.e, table, tokens)?;
    let mut x = scaled(call, rows, Attribute::EmbeddingScale)?;
    if let Some(types) = call.maybe("types") {
        let kinds = call.ambient(ambient::TYPES)?;
        let rows = Gather::build(call.e, types, kinds)?;
        x = Add::build(call.e, x, rows)?;
    }
    if let Some(learned) = call.maybe("pos") {
        let positions = call.ambient(ambient::POSITIONS)?;
        let rows = Gather::build(call.e, learned, positions)?;
        x = Add::build(call.e, x, rows)?;
    }
    call.set("out", vec![x]);
    Ok(())
}

/// Returns `x` times an attribute.
fn scaled(call: &mut Call<'_>, x: ValueId, by: Attribute) -> Built<ValueId> {
    let scale = call.attribute(by);
    if scale == by.neutral() {
        return Ok(x);
    }
    let scale = call.e.number(scale)?;
    Ok(Mul::build(call.e, x, scale)?)
}

/// Returns `x Wᵀ + b`.
fn product(call: &mut Call<'_>, x: ValueId, weight: &str, bias: &str) -> Built<ValueId> {
    let (weight, bias) = (call.get(weight, 2)?, call.maybe(bias));
    call.e.linear(x, weight, bias)
}

/// Projects queries, `[tokens, heads, head_dim]`, and keys and values, `[tokens, kv_heads, head_dim]`. The width of
/// heads follows from the weights, because these may be padded.
pub(super) fn qkv_project(call: &mut Call<'_>) -> Built<()> {
    q_project(call)?;
    kv_project(call)
}

/// Projects queries only.
pub(super) fn q_project(call: &mut Call<'_>) -> Built<()> {
    let heads = call.config.num_attention_heads;
    projected(call, &[("q", ["wq", "bq"], heads)])
}

/// Projects keys and values only.
pub(super) fn kv_project(call: &mut Call<'_>) -> Built<()> {
    let heads = call.config.num_kv_heads;
    projected(
        call,
        &[("k", ["wk", "bk"], heads), ("v", ["wv", "bv"], heads)],
    )
}

/// Multiplies the input by weights, and splits each product into heads.
fn projected(call: &mut Call<'_>, rows: &[(&str, [&str; 2], usize)]) -> Built<()> {
    let x = call.get("input", 2)?;
    let tokens = call.e.shape(x)[0];
    for &(out, [weight, bias], heads) in rows {
        let all = product(call, x, weight, bias)?;
        let width = call.e.extent(all, 1) / heads;
        let split = Reshape::with(&[tokens, fixed(heads), fixed(width)]).build(call.e, all)?;
        call.set(out, vec![split]);
    }
    Ok(())
}

/// The output projection of attention.
pub(super) fn attn_proj(call: &mut Call<'_>) -> Built<()> {
    let x = call.get("attn_out", 2)?;
    let y = product(call, x, "wo", "bo")?;
    call.set("proj_tmp", vec![y]);
    Ok(())
}

/// `a + residual_scale b`.
pub(super) fn residual_add(call: &mut Call<'_>) -> Built<()> {
    let (a, b) = (call.get("a", 2)?, call.get("b", 2)?);
    let b = scaled(call, b, Attribute::ResidualScale)?;
    let sum = Add::build(call.e, a, b)?;
    call.set("out", vec![sum]);
    Ok(())
}

/// The up projections of the MLP: one product for each tensor of `w1`, for example gate and up.
pub(super) fn mlp_up(call: &mut Call<'_>) -> Built<()> {
    let x = call.get("input", 2)?;
    let (weights, biases) = (call.all("w1").to_vec(), call.all("b1").to_vec());
    let mut products = Vec::with_capacity(weights.len());
    for (at, weight) in weights.into_iter().enumerate() {
        products.push(call.e.linear(x, weight, biases.get(at).copied())?);
    }
    call.set("fc1_out", products);
    Ok(())
}

/// The down projection of the MLP.
pub(super) fn mlp_down(call: &mut Call<'_>) -> Built<()> {
    let x = call.get("swiglu_out", 2)?;
    let y = product(call, x, "w2", "b2")?;
    call.set("mlp_out", vec![y]);
    Ok(())
}

/// Logits, scaled and capped.
pub(super) fn lm_head(call: &mut Call<'_>) -> Built<()> {
    let (x, table) = (call.get("input", 2)?, call.get("w", 2)?);
    let bias = call.maybe("bias");
    let logits = call.e.linear(x, table, bias)?;
    let logits = scaled(call, logits, Attribute::LogitScale)?;
    let cap = call.attribute(Attribute::FinalLogitSoftcap);
    let logits = capped(call.e, logits, cap)?;
    call.set("logits", vec![logits]);
    Ok(())
}
