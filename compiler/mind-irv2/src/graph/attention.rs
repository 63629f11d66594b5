//! Heads: rotation and attention.

use mind_core::ops::contract::MatMul;
use mind_core::ops::elementwise::{Add, Mul, Sub};
use mind_core::ops::join::Concat;
use mind_core::ops::normalize::Softmax;
use mind_core::ops::shape::{ExpandDims, Reshape, Transpose};
use mind_ir::ValueId;

use super::emit::{Built, Emitter, fixed};
use crate::Config;

/// The rows of the rotation: cosines and sines, `[tokens, pairs]` each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rotation {
    pub(super) cos: ValueId,
    pub(super) sin: ValueId,
    /// Pairs of elements of a head that turn.
    pub(super) pairs: usize,
}

/// `x` of `[tokens, heads, head_dim]` with element `i` and `i + pairs` of each head turned by their angle.
pub(super) fn rotated(e: &mut Emitter, x: ValueId, by: Rotation) -> Built<ValueId> {
    let pairs = by.pairs;
    let shape = e.shape(x);
    let row = [shape[0], fixed(1), fixed(pairs)];
    let cos = Reshape::with(&row).build(e, by.cos)?;
    let sin = Reshape::with(&row).build(e, by.sin)?;
    let lower = e.sliced(x, 2, (0, pairs))?;
    let upper = e.sliced(x, 2, (pairs, 2 * pairs))?;
    let (straight, across) = (Mul::build(e, lower, cos)?, Mul::build(e, upper, sin)?);
    let turned_lower = Sub::build(e, straight, across)?;
    let (straight, across) = (Mul::build(e, upper, cos)?, Mul::build(e, lower, sin)?);
    let turned_upper = Add::build(e, straight, across)?;
    let mut parts = vec![turned_lower, turned_upper];
    let width = e.extent(x, 2);
    if width > 2 * pairs {
        parts.push(e.sliced(x, 2, (2 * pairs, width))?);
    }
    Concat::with(2).build(e, &parts)
}

/// What a query sees: keys and values, `[seen, kv_heads, head_dim]` each, and the mask that is added to scores,
/// `[tokens, seen]`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) keys: ValueId,
    pub(super) values: ValueId,
    pub(super) mask: ValueId,
}

/// Attention of `q`, `[tokens, heads, head_dim]`: `[tokens, heads head_dim]`. Query head `h` reads the keys and
/// values of head `h / group_size`.
pub(super) fn attended(e: &mut Emitter, config: &Config, q: ValueId, seen: Seen) -> Built<ValueId> {
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
        // The query heads of a group are the rows of one product, which reads keys and values once.
        let q = Reshape::with(&[fixed(groups), fixed(group), fixed(width)]).build(e, q)?;
        let mixed = mixed(e, config, q, seen)?;
        return Reshape::with(&joined).build(e, mixed);
    }
    let q = Reshape::with(&[tokens, fixed(groups), fixed(group), fixed(width)]).build(e, q)?;
    let q = Transpose::with().permutation(&[1, 2, 0, 3]).build(e, q)?;
    for operand in [&mut seen.keys, &mut seen.values] {
        *operand = ExpandDims::with(&[1]).build(e, *operand)?;
    }
    let mixed = mixed(e, config, q, seen)?;
    let mixed = Transpose::with()
        .permutation(&[2, 0, 1, 3])
        .build(e, mixed)?;
    Reshape::with(&joined).build(e, mixed)
}

/// The values that queries see, weighted: `q` is `[.., rows, head_dim]`, keys `[.., head_dim, seen]`, values
/// `[.., seen, head_dim]`.
fn mixed(e: &mut Emitter, config: &Config, q: ValueId, seen: Seen) -> Built<ValueId> {
    let scores = MatMul::build(e, q, seen.keys)?;
    let scale = e.number(1.0 / (config.head_dim as f64).sqrt())?;
    let scores = Mul::build(e, scores, scale)?;
    let scores = Add::build(e, scores, seen.mask)?;
    let last = e.shape(scores).len() as i64 - 1;
    let weights = Softmax::with().axis(last).build(e, scores)?;
    MatMul::build(e, weights, seen.values)
}
