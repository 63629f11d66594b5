//! Attention kernels.

use mind_core::ops::contract::MatMul;
use mind_core::ops::elementwise::{Add, Div, Mul, Tanh};
use mind_core::ops::normalize::Softmax;
use mind_core::ops::shape::{ExpandDims, Reshape, Transpose};
use mind_ir::ValueId;

use super::{Call, ambient};
use crate::attributes::Attribute;
use crate::config::Config;
use crate::graph::emit::{Built, Emitter, fixed};

/// Causal attention.
pub(super) fn attention(call: &mut Call<'_>) -> Built<()> {
    let mask = call.ambient(ambient::MASK)?;
    masked(call, Some(mask))
}

/// Bidirectional attention, with a mask if there is one.
pub(super) fn bidirectional(call: &mut Call<'_>) -> Built<()> {
    let mask = call.maybe_ambient(ambient::MASK);
    masked(call, mask)
}

/// Cross-attention to encoder output, with a mask if that has padding.
pub(super) fn across(call: &mut Call<'_>) -> Built<()> {
    let mask = call.maybe_ambient(ambient::SOURCE_MASK);
    masked(call, mask)
}

fn masked(call: &mut Call<'_>, mask: Option<ValueId>) -> Built<()> {
    let seen = Seen {
        keys: call.get("k", 3)?,
        values: call.get("v", 3)?,
        bias: call.maybe("bias"),
        mask,
    };
    let scale = match call.attribute(Attribute::AttentionScale) {
        0.0 => 1.0 / (call.config.head_dim as f64).sqrt(),
        scale => scale,
    };
    let scoring = Scoring {
        scale,
        cap: call.attribute(Attribute::AttnLogitSoftcap),
    };
    let q = call.get("q", 3)?;
    let mixed = attended(call.e, call.config, q, seen, scoring)?;
    call.set("attn_out", vec![mixed]);
    Ok(())
}

/// The operands of attention other than queries: keys and values, `[seen, kv_heads, head_dim]` each, the bias of the
/// scores of each head, `[heads, tokens, seen]`, and the mask, `[tokens, seen]`.
#[derive(Clone, Copy, Debug)]
struct Seen {
    keys: ValueId,
    values: ValueId,
    bias: Option<ValueId>,
    mask: Option<ValueId>,
}

/// The scaling of scores.
#[derive(Clone, Copy, Debug)]
struct Scoring {
    scale: f64,
    /// The softcap; 0 for none.
    cap: f64,
}

/// Returns the attention output for `q`, `[tokens, heads, head_dim]`, as `[tokens, heads head_dim]`. Query head `h`
/// reads the keys and values of head `h / group_size`.
fn attended(
    e: &mut Emitter,
    config: &Config,
    q: ValueId,
    seen: Seen,
    scoring: Scoring,
) -> Built<ValueId> {
    let tokens = e.shape(q)[0];
    let (groups, group) = (config.num_kv_heads, config.group_size());
    let width = e.extent(q, 2);
    let mut seen = Seen {
        keys: Transpose::with()
            .permutation(&[1, 2, 0])
            .build(e, seen.keys)?,
        values: Transpose::with()
            .permutation(&[1, 0, 2])
            .build(e, seen.values)?,
        ..seen
    };
    let joined = [tokens, fixed(groups * group * width)];
    if tokens == fixed(1) {
        if let Some(bias) = &mut seen.bias {
            let keys = e.shape(*bias)[2];
            *bias = Reshape::with(&[fixed(groups), fixed(group), keys]).build(e, *bias)?;
        }
        // The query heads of a group become the rows of one product, because it then reads keys and values only once.
        let q = Reshape::with(&[fixed(groups), fixed(group), fixed(width)]).build(e, q)?;
        let mixed = mixed(e, q, seen, scoring)?;
        return Ok(Reshape::with(&joined).build(e, mixed)?);
    }
    let q = Reshape::with(&[tokens, fixed(groups), fixed(group), fixed(width)]).build(e, q)?;
    let q = Transpose::with().permutation(&[1, 2, 0, 3]).build(e, q)?;
    if let Some(bias) = &mut seen.bias {
        let keys = e.shape(*bias)[2];
        *bias = Reshape::with(&[fixed(groups), fixed(group), tokens, keys]).build(e, *bias)?;
    }
    for operand in [&mut seen.keys, &mut seen.values] {
        *operand = ExpandDims::with(&[1]).build(e, *operand)?;
    }
    let mixed = mixed(e, q, seen, scoring)?;
    let mixed = Transpose::with()
        .permutation(&[2, 0, 1, 3])
        .build(e, mixed)?;
    Ok(Reshape::with(&joined).build(e, mixed)?)
}

/// Returns `softmax(q keys) values` for `q` of `[.., rows, head_dim]`, keys of `[.., head_dim, seen]` and values of
/// `[.., seen, head_dim]`.
fn mixed(e: &mut Emitter, q: ValueId, seen: Seen, scoring: Scoring) -> Built<ValueId> {
    let scores = MatMul::build(e, q, seen.keys)?;
    let scale = e.number(scoring.scale)?;
    let scores = Mul::build(e, scores, scale)?;
    let scores = capped(e, scores, scoring.cap)?;
    let added = [seen.bias, seen.mask].into_iter().flatten();
    let mut added = added;
    let scores = added.try_fold(scores, |scores, own| Built::Ok(Add::build(e, scores, own)?))?;
    let last = e.shape(scores).len() as i64 - 1;
    let weights = Softmax::with().axis(last).build(e, scores)?;
    Ok(MatMul::build(e, weights, seen.values)?)
}

/// Returns `cap tanh(x / cap)`, or `x` if `cap` is 0.
pub(super) fn capped(e: &mut Emitter, x: ValueId, cap: f64) -> Built<ValueId> {
    if cap == 0.0 {
        return Ok(x);
    }
    let cap = e.number(cap)?;
    let share = Div::build(e, x, cap)?;
    let bent = Tanh::build(e, share)?;
    Ok(Mul::build(e, bent, cap)?)
}
