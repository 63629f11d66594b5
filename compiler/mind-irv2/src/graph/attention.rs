//! Heads: rotation and attention.

use mind_core::ops::elementwise::Sub;
use mind_core::ops::join::Concat;
use mind_core::ops::normalize::Softmax;
use mind_core::ops::shape::ExpandDims;
use mind_ir::ValueId;
use mind_ir::opdef::Op;

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
    let cos = e.reshape(by.cos, &row)?;
    let sin = e.reshape(by.sin, &row)?;
    let lower = e.sliced(x, 2, (0, pairs))?;
    let upper = e.sliced(x, 2, (pairs, 2 * pairs))?;
    let (straight, across) = (e.mul(lower, cos)?, e.mul(upper, sin)?);
    let turned_lower = e.op(Sub::DEF, &[straight, across], &[])?;
    let (straight, across) = (e.mul(upper, cos)?, e.mul(lower, sin)?);
    let turned_upper = e.add(straight, across)?;
    let mut parts = vec![turned_lower, turned_upper];
    let width = e.extent(x, 2);
    if width > 2 * pairs {
        parts.push(e.sliced(x, 2, (2 * pairs, width))?);
    }
    e.op(Concat::DEF, &parts, &Concat::attrs(2))
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
        keys: e.transpose(seen.keys, &[1, 2, 0])?,
        values: e.transpose(seen.values, &[1, 0, 2])?,
        ..seen
    };
    let joined = [tokens, fixed(groups * group * width)];
    if tokens == fixed(1) {
        // The query heads of a group are the rows of one product, which reads keys and values once.
        let q = e.reshape(q, &[fixed(groups), fixed(group), fixed(width)])?;
        let mixed = mixed(e, config, q, seen)?;
        return e.reshape(mixed, &joined);
    }
    let q = e.reshape(q, &[tokens, fixed(groups), fixed(group), fixed(width)])?;
    let q = e.transpose(q, &[1, 2, 0, 3])?;
    for operand in [&mut seen.keys, &mut seen.values] {
        *operand = e.op(ExpandDims::DEF, &[*operand], &ExpandDims::attrs(&[1]))?;
    }
    let mixed = mixed(e, config, q, seen)?;
    let mixed = e.transpose(mixed, &[2, 0, 1, 3])?;
    e.reshape(mixed, &joined)
}

/// The values that queries see, weighted: `q` is `[.., rows, head_dim]`, keys `[.., head_dim, seen]`, values
/// `[.., seen, head_dim]`.
fn mixed(e: &mut Emitter, config: &Config, q: ValueId, seen: Seen) -> Built<ValueId> {
    let scores = e.matmul(q, seen.keys)?;
    let scale = e.number(1.0 / (config.head_dim as f64).sqrt())?;
    let scores = e.mul(scores, scale)?;
    let scores = e.add(scores, seen.mask)?;
    let last = e.shape(scores).len() as i64 - 1;
    let weights = e.op(Softmax::DEF, &[scores], &Softmax::attrs(last))?;
    e.matmul(weights, seen.values)
}
