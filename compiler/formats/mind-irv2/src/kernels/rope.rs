//! The kernel of rotary embeddings.

use mind_core::ops::elementwise::{Add, Mul, Sub};
use mind_core::ops::join::Concat;
use mind_core::ops::shape::Reshape;
use mind_ir::ValueId;

use super::Call;
use crate::graph::emit::{Built, Emitter, fixed};

/// Rotates `q` and `k` by the angles of their positions.
pub(super) fn rope(call: &mut Call<'_>) -> Built<()> {
    let (cos, sin) = (call.get("cos_cache", 2)?, call.get("sin_cache", 2)?);
    for heads in ["q", "k"] {
        let x = call.get(heads, 3)?;
        let turned = rotated(call.e, x, [cos, sin])?;
        call.set(heads, vec![turned]);
    }
    Ok(())
}

/// Returns `x` of `[tokens, heads, head_dim]` with elements `i` and `i + pairs` of each head rotated; cosines and sines
/// are `[tokens, pairs]`.
fn rotated(e: &mut Emitter, x: ValueId, [cos, sin]: [ValueId; 2]) -> Built<ValueId> {
    let pairs = e.extent(cos, 1);
    let shape = e.shape(x);
    let row = [shape[0], fixed(1), fixed(pairs)];
    let cos = Reshape::with(&row).build(e, cos)?;
    let sin = Reshape::with(&row).build(e, sin)?;
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
    Ok(Concat::with(2).build(e, &parts)?)
}
