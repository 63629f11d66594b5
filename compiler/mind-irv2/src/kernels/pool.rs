//! One vector for all positions.

use mind_core::ops::elementwise::Tanh;
use mind_core::ops::shape::Reshape;

use super::Call;
use crate::graph::emit::{Built, fixed};

/// `tanh(W x + b)` of the first position.
pub(super) fn pooler(call: &mut Call<'_>) -> Built<()> {
    let (x, weight) = (call.get("input", 2)?, call.get("w", 2)?);
    let bias = call.maybe("bias");
    let first = call.e.sliced(x, 0, (0, 1))?;
    let product = call.e.linear(first, weight, bias)?;
    let bent = Tanh::build(call.e, product)?;
    let width = call.e.extent(bent, 1);
    let pooled = Reshape::with(&[fixed(width)]).build(call.e, bent)?;
    call.set("pooled", vec![pooled]);
    Ok(())
}
