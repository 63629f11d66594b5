//! Lowers slices with data-dependent starts to gathers along each axis.

use mind_core::eval::bounds::Bounds;
use mind_core::ops::compare::Select;
use mind_core::ops::dynamic::{DynamicSlice, DynamicUpdateSlice};
use mind_core::ops::elementwise::{Add, Maximum, Minimum, Sub};
use mind_core::ops::logic::And;
use mind_ir::builder::Builder;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::Dim;
use mind_ir::verify::VerifyError;
use mind_ir::{OpId, ValueId};
use mind_tensor::ops::broadcast::Broadcast;
use mind_tensor::ops::index::Gather;

use crate::emit::{LowerKnown, Lowered, map, shape};
use crate::gather::{counted, number, within};
use crate::known::{Known, LONGEST};

pub(crate) const ROWS: &[(&OpDef, LowerKnown)] = &[
    (DynamicSlice::DEF, lower_slice),
    (DynamicUpdateSlice::DEF, lower_update),
];

/// Returns the extents of a value, if all are known and small enough for lists of indices.
fn extents(b: &Builder<'_>, value: ValueId) -> Option<Vec<i64>> {
    let shape = b.graph.ty(value).static_shape()?;
    shape
        .iter()
        .all(|&extent| extent <= LONGEST)
        .then_some(shape)
}

fn lower_slice(op: OpId, b: &mut Builder<'_>) -> Known {
    let view = DynamicSlice::from_id(op);
    let (mut value, bounds) = (view.input(b.graph), view.bounds(b.graph));
    let (starts, sizes) = (view.starts(b.graph).to_vec(), view.sizes(b.graph).to_vec());
    let Some(own) = extents(b, value) else {
        return Ok(None);
    };
    if sizes.contains(&0) {
        let ty = b.graph.ty(b.graph.result(op)).to_owned();
        let zero = Tensor::new(Vec::new(), Buffer::zeros(ty.dtype, 1));
        return Ok(Some(mind_core::splat(b, ty.view(), &zero)));
    }
    for (axis, (&size, &extent)) in sizes.iter().zip(&own).enumerate() {
        if size == extent && bounds == Bounds::Clamp {
            continue;
        }
        let start = inside(b, starts[axis], extent, size, bounds)?;
        let positions = map_indices(b, start, size, |b, start, index| {
            Add::build(b, start, index)
        })?;
        value = Gather::with(axis as i64).build(b, value, positions)?;
    }
    Ok(Some(value))
}

fn lower_update(op: OpId, b: &mut Builder<'_>) -> Known {
    let view = DynamicUpdateSlice::from_id(op);
    let (input, update, bounds) = (
        view.input(b.graph),
        view.update(b.graph),
        view.bounds(b.graph),
    );
    let starts = view.starts(b.graph).to_vec();
    let Some((own, sizes)) = extents(b, input).zip(extents(b, update)) else {
        return Ok(None);
    };
    if sizes.contains(&0) {
        return Ok(Some(input));
    }
    let (whole, mut value, mut operands) = (shape(b, input), update, vec![input]);
    for (axis, (&size, &extent)) in sizes.iter().zip(&own).enumerate() {
        let start = inside(b, starts[axis], extent, size, bounds)?;
        let positions = map_indices(b, start, extent, |b, start, index| {
            let place = Sub::build(b, index, start)?;
            let (first, last) = (number(b, 0), number(b, size - 1));
            let place = Minimum::build(b, place, last)?;
            Maximum::build(b, place, first)
        })?;
        value = Gather::with(axis as i64).build(b, value, positions)?;
        let is_inside = map_indices(b, start, extent, |b, start, index| {
            let place = Sub::build(b, index, start)?;
            within(b, place, size as usize)
        })?;
        let is_inside = Broadcast::with(&[axis as i64], &whole).build(b, &[is_inside])?;
        operands.push(is_inside);
    }
    operands.insert(1, value);
    let updated = map(b, &operands, |b, scalars| {
        let [old, new, first, masks @ ..] = scalars else {
            unreachable!("a window has an axis")
        };
        let mut is_inside = *first;
        for &mask in masks {
            is_inside = And::build(b, is_inside, mask)?;
        }
        Select::build(b, is_inside, *new, *old)
    })?;
    Ok(Some(updated))
}

/// Emits the start of a slice of `size` as an `i64` that is valid for `extent`. It is clamped with `clamp`, and
/// otherwise gathered from a list of all valid starts, because the gather reports invalid ones.
fn inside(b: &mut Builder<'_>, start: ValueId, extent: i64, size: i64, bounds: Bounds) -> Lowered {
    let starts = extent - size + 1;
    let length = match bounds {
        Bounds::Clamp => starts,
        Bounds::FromEnd | Bounds::Strict | Bounds::Skip => extent,
    };
    let start = map(b, &[start], |b, scalars| {
        counted(b, scalars[0], length as usize, bounds)
    })?;
    if bounds == Bounds::Clamp {
        return Ok(start);
    }
    let list: Vec<i64> = (0..starts).collect();
    let list = mind_core::constant(b, &Tensor::of(vec![list.len()], list));
    Gather::with(0).build(b, list, start)
}

/// Emits `body` for each index below `extent`, with `start` as its first argument.
fn map_indices(
    b: &mut Builder<'_>,
    start: ValueId,
    extent: i64,
    body: impl FnOnce(&mut Builder<'_>, ValueId, ValueId) -> Result<ValueId, Box<VerifyError>>,
) -> Lowered {
    let list: Vec<i64> = (0..extent).collect();
    let list = mind_core::constant(b, &Tensor::of(vec![list.len()], list));
    let start = Broadcast::with(&[], &[Dim::Fixed(extent)]).build(b, &[start])?;
    map(b, &[start, list], |b, scalars| {
        body(b, scalars[0], scalars[1])
    })
}
