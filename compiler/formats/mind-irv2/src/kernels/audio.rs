//! Audio kernels.

use mind_core::ops::elementwise::{Add, Gelu};
use mind_core::ops::index::Slice;
use mind_core::ops::join::Concat;
use mind_core::ops::pad::PadOp;
use mind_core::ops::shape::Reshape;
use mind_ir::ValueId;

use super::{Call, ambient};
use crate::audio::WINDOW;
use crate::graph::emit::{Built, Emitter, fixed};

/// Windows of frames of features.
pub(super) fn feature_windows(call: &mut Call<'_>) -> Built<()> {
    let frames = call.ambient(ambient::FEATURES)?;
    let rows = windows(call.e, frames, 1)?;
    call.set("out", vec![rows]);
    Ok(())
}

/// Windows of rows with stride 2.
pub(super) fn frame_windows(call: &mut Call<'_>) -> Built<()> {
    let rows = call.get("input", 2)?;
    let rows = windows(call.e, rows, 2)?;
    call.set("out", vec![rows]);
    Ok(())
}

/// `gelu(x Wᵀ + b)`.
pub(super) fn frame_project(call: &mut Call<'_>) -> Built<()> {
    let (x, weight) = (call.get("input", 2)?, call.get("w", 2)?);
    let bias = call.maybe("bias");
    let rows = call.e.linear(x, weight, bias)?;
    let bent = Gelu::build(call.e, rows)?;
    call.set("out", vec![bent]);
    Ok(())
}

/// Adds the position table to the rows of frames.
pub(super) fn frame_embedding(call: &mut Call<'_>) -> Built<()> {
    let (rows, positions) = (call.get("input", 2)?, call.get("pos", 2)?);
    let sum = Add::build(call.e, rows, positions)?;
    call.set("out", vec![sum]);
    Ok(())
}

/// Returns the windows of every `step`-th row of `x`. For each element, a window has that of the previous row, of the
/// row itself and of the next row; zeros beyond both ends.
fn windows(e: &mut Emitter, x: ValueId, step: usize) -> Built<ValueId> {
    let (count, width) = (e.extent(x, 0), e.extent(x, 1));
    let padded = PadOp::with(&[1, 0], &[1, 0]).build(e, x, None)?;
    let kept = count.div_ceil(step);
    let mut near = Vec::with_capacity(WINDOW);
    for first in 0..WINDOW {
        let last = first + kept.saturating_sub(1) * step + 1;
        let (starts, ends) = ([first as i64, 0], [last as i64, width as i64]);
        let rows = Slice::with(&starts, &ends, &[step as i64, 1]).build(e, padded)?;
        let column = [kept, width, 1].map(fixed);
        near.push(Reshape::with(&column).build(e, rows)?);
    }
    let beside = Concat::with(2).build(e, &near)?;
    Ok(Reshape::with(&[kept, width * WINDOW].map(fixed)).build(e, beside)?)
}
