//! Lowers padding: a constant is concatenated along each axis, and other modes become a gather.

use mind_core::ops::pad::{Margins, PadMode, PadOp};
use mind_ir::ValueId;
use mind_ir::builder::Builder;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::{Dim, Shape};
use mind_tensor::ops::broadcast::Broadcast;
use mind_tensor::ops::index::Gather;
use mind_tensor::ops::join::Concat;

use crate::emit::{LowerKnown, Lowered, reshape, shape, slice_axis};
use crate::known::{Known, LONGEST};

pub(crate) const ROWS: &[(&OpDef, LowerKnown)] = &[(PadOp::DEF, |op, b| {
    let view = PadOp::from_id(op);
    let (input, mode, margins) = (
        view.input(b.graph),
        view.mode(b.graph),
        Margins::of(view, b.graph),
    );
    match mode {
        PadMode::Constant => constant(b, input, view.value(b.graph), &margins),
        PadMode::Edge | PadMode::Reflect | PadMode::Wrap => repeated(b, input, mode, &margins),
    }
})];

/// Emits `input` padded with `value` around and between its elements.
pub(crate) fn constant(
    b: &mut Builder<'_>,
    input: ValueId,
    value: Option<ValueId>,
    margins: &[Margins],
) -> Known {
    let Some(extents) = b.graph.ty(input).static_shape() else {
        return Ok(None);
    };
    let value = value.unwrap_or_else(|| {
        let zero = Buffer::zeros(b.graph.ty(input).dtype, 1);
        mind_core::constant(b, &Tensor::new(Vec::new(), zero))
    });
    let mut padded = input;
    for (axis, (&margins, extent)) in margins.iter().zip(extents).enumerate() {
        padded = dilated(b, padded, value, axis, margins.interior)?;
        let extent = extent + (extent - 1).max(0) * margins.interior;
        padded = bordered(b, padded, value, axis, extent, margins)?;
    }
    Ok(Some(padded))
}

/// Emits `input` with `count` copies of `value` between adjacent elements along `axis`. The copies are concatenated to
/// each element along a new axis, which is then merged into `axis`, and those after the last element are sliced off.
fn dilated(
    b: &mut Builder<'_>,
    input: ValueId,
    value: ValueId,
    axis: usize,
    count: i64,
) -> Lowered {
    let own = shape(b, input);
    let Some(extent @ 2..) = own[axis].fixed().filter(|_| count > 0) else {
        return Ok(input);
    };
    let mut thin = own.clone();
    thin.insert(axis + 1, Dim::Fixed(1));
    let elements = reshape(b, input, &thin, &[])?;
    thin[axis + 1] = Dim::Fixed(count);
    let values = filled(b, value, &thin)?;
    let joined = Concat::with(axis as i64 + 1).build(b, &[elements, values])?;
    let mut flat = own;
    flat[axis] = Dim::Fixed(extent * (count + 1));
    let flat = reshape(b, joined, &flat, &[])?;
    slice_axis(b, flat, axis, 0, extent * (count + 1) - count)
}

/// Emits `input` with `value` added before and after the `extent` elements along `axis`, or with elements cropped.
fn bordered(
    b: &mut Builder<'_>,
    input: ValueId,
    value: ValueId,
    axis: usize,
    extent: i64,
    Margins { low, high, .. }: Margins,
) -> Lowered {
    let own = shape(b, input);
    let fill = |b: &mut Builder<'_>, extent: i64| {
        let mut shape = own.clone();
        shape[axis] = Dim::Fixed(extent);
        filled(b, value, &shape)
    };
    if low == 0 && high == 0 {
        return Ok(input);
    }
    let (start, end) = ((-low).max(0), extent - (-high).max(0));
    if start >= end {
        return fill(b, extent + low + high);
    }
    let mut parts = Vec::with_capacity(3);
    if low > 0 {
        parts.push(fill(b, low)?);
    }
    parts.push(match (start, end) {
        (0, end) if end == extent => input,
        (start, end) => slice_axis(b, input, axis, start, end)?,
    });
    if high > 0 {
        parts.push(fill(b, high)?);
    }
    match parts[..] {
        [only] => Ok(only),
        _ => Concat::with(axis as i64).build(b, &parts),
    }
}

/// Emits `value`, broadcast to `shape`.
fn filled(b: &mut Builder<'_>, value: ValueId, shape: &Shape) -> Lowered {
    Broadcast::with(&[], shape).build(b, &[value])
}

/// Emits a gather of the indices that `mode` repeats along each axis.
fn repeated(b: &mut Builder<'_>, input: ValueId, mode: PadMode, margins: &[Margins]) -> Known {
    let own = shape(b, input);
    let mut lists = Vec::new();
    for (axis, &margins) in margins.iter().enumerate().filter(|(_, own)| !own.is_zero()) {
        let Some(extent) = own[axis].fixed() else {
            return Ok(None);
        };
        let Some(length @ ..=LONGEST) = margins
            .low
            .checked_add(margins.high)
            .and_then(|added| added.checked_add(extent))
        else {
            return Ok(None);
        };
        let place = |index| margins.source(mode, index as usize, extent as usize);
        let places = (0..length).map(|index| place(index).expect("a repeated element") as i64);
        lists.push((axis, places.collect::<Vec<i64>>()));
    }
    let mut padded = input;
    for (axis, places) in lists {
        let places = mind_core::constant(b, &Tensor::of(vec![places.len()], places));
        padded = Gather::with(axis as i64).build(b, padded, places)?;
    }
    Ok(Some(padded))
}
