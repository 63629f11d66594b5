//! Image kernels.

use mind_core::ops::elementwise::Add;
use mind_core::ops::join::Concat;
use mind_core::ops::shape::Reshape;

use super::{Call, ambient};
use crate::graph::emit::{Built, fixed};

/// `x Wᵀ + b` for each patch.
pub(super) fn patch_project(call: &mut Call<'_>) -> Built<()> {
    let (x, weight) = (call.ambient(ambient::PATCHES)?, call.get("w", 2)?);
    let bias = call.maybe("bias");
    let rows = call.e.linear(x, weight, bias)?;
    call.set("out", vec![rows]);
    Ok(())
}

/// Prepends the row of the whole image to those of its patches, and adds the position table.
pub(super) fn image_embedding(call: &mut Call<'_>) -> Built<()> {
    let (patches, whole) = (call.get("input", 2)?, call.get("cls", 1)?);
    let positions = call.get("pos", 2)?;
    let width = call.e.extent(whole, 0);
    let whole = Reshape::with(&[fixed(1), fixed(width)]).build(call.e, whole)?;
    let rows = Concat::with(0).build(call.e, &[whole, patches])?;
    let rows = Add::build(call.e, rows, positions)?;
    call.set("out", vec![rows]);
    Ok(())
}
