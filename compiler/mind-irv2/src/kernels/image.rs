//! Images as rows of patches.

use mind_core::ops::elementwise::Add;
use mind_core::ops::join::Concat;
use mind_core::ops::shape::Reshape;

use super::{Call, ambient};
use crate::graph::emit::{Built, fixed};

/// `x Wᵀ + b` of each patch.
pub(super) fn patch_project(call: &mut Call<'_>) -> Built<()> {
    let (x, weight) = (call.ambient(ambient::PATCHES)?, call.get("w", 2)?);
    let bias = call.maybe("bias");
    let rows = call.e.linear(x, weight, bias)?;
    call.set("out", vec![rows]);
    Ok(())
}

/// The row of the image as a whole in front of those of its patches, each with its row of the table of positions.
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
