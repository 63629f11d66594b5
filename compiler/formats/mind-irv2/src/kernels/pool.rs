//! Kernels that read the first position only: pooling and classification.

use mind_core::ops::elementwise::Tanh;
use mind_core::ops::shape::Reshape;
use mind_ir::ValueId;

use super::Call;
use crate::graph::emit::{Built, fixed};

/// `tanh(W x + b)` for the first position.
pub(super) fn pooler(call: &mut Call<'_>) -> Built<()> {
    let product = of_first(call)?;
    let bent = Tanh::build(call.e, product)?;
    set(call, "pooled", bent)
}

/// `W x + b` for the first position: a score for each class.
pub(super) fn classifier(call: &mut Call<'_>) -> Built<()> {
    let product = of_first(call)?;
    set(call, "scores", product)
}

/// Returns `W x + b` for the first position, as a matrix with one row.
fn of_first(call: &mut Call<'_>) -> Built<ValueId> {
    let (x, weight) = (call.get("input", 2)?, call.get("w", 2)?);
    let bias = call.maybe("bias");
    let first = call.e.sliced(x, 0, (0, 1))?;
    call.e.linear(first, weight, bias)
}

/// Sets `arg` to the only row of a matrix.
fn set(call: &mut Call<'_>, arg: &str, row: ValueId) -> Built<()> {
    let width = call.e.extent(row, 1);
    let vector = Reshape::with(&[fixed(width)]).build(call.e, row)?;
    call.set(arg, vec![vector]);
    Ok(())
}
