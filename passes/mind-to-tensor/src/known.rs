//! Lowers ops whose results become constants or gathers of constants if their extents are known.

use mind_core::axes::resolve;
use mind_core::eval::convert::cast;
use mind_core::ops::convert::Cast;
use mind_core::ops::elementwise::{Add, Mul, Sub};
use mind_core::ops::extents::{ExtentOf, Iota};
use mind_core::ops::shape::Reverse;
use mind_ir::builder::Builder;
use mind_ir::eval::{DimEnv, EvalCx};
use mind_ir::opdef::{Op, OpDef};
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::{DType, Dim, TensorType};
use mind_ir::verify::VerifyError;
use mind_ir::{OpId, ValueId};
use mind_tensor::ops::broadcast::Broadcast;
use mind_tensor::ops::index::Gather;

use crate::emit::{LowerKnown, Lowered, map, reshape, shape, slice_axis};

pub(crate) const ROWS: &[(&OpDef, LowerKnown)] = &[
    (Reverse::DEF, lower_reverse),
    (Iota::DEF, lower_iota),
    (ExtentOf::DEF, lower_dim),
];

/// The longest list of indices that becomes a constant.
pub(crate) const LONGEST: i64 = 1 << 22;

/// The replacement of an op; `None` if it is not lowered.
pub(crate) type Known = Result<Option<ValueId>, Box<VerifyError>>;

/// Lowers a reversal to a gather of the indices in reverse order, one axis at a time.
fn lower_reverse(op: OpId, b: &mut Builder<'_>) -> Known {
    let view = Reverse::from_id(op);
    let (mut value, axes) = (view.input(b.graph), view.axes(b.graph).to_vec());
    let shape = shape(b, value);
    let mut extents = Vec::with_capacity(axes.len());
    for axis in axes {
        let axis = resolve("reverse", axis, shape.len())?;
        match shape[axis].fixed() {
            Some(0..=1) => {}
            Some(extent) => extents.push((axis, extent)),
            None => return Ok(None),
        }
    }
    if shape.contains(&Dim::Fixed(0)) {
        return Ok(Some(value));
    }
    for (axis, extent) in extents {
        let places = backwards(b, extent)?;
        value = Gather::with(axis as i64).build(b, value, places)?;
    }
    Ok(Some(value))
}

/// Emits the indices below `extent` in reverse order.
fn backwards(b: &mut Builder<'_>, extent: i64) -> Lowered {
    if extent <= LONGEST {
        let places: Vec<i64> = (0..extent).rev().collect();
        return Ok(mind_core::constant(
            b,
            &Tensor::of(vec![places.len()], places),
        ));
    }
    let indices = indices(b, DType::I64, extent)?;
    map(b, &[indices], |b, scalars| {
        let last = mind_core::constant(b, &Tensor::scalar(extent - 1));
        Sub::build(b, last, scalars[0])
    })
}

/// Lowers an iota to the indices along its axis, broadcast.
fn lower_iota(op: OpId, b: &mut Builder<'_>) -> Known {
    let view = Iota::from_id(op);
    let shape = view.shape(b.graph).to_vec();
    let axis = resolve("iota", view.axis(b.graph), shape.len())?;
    let dtype = view.dtype(b.graph);
    iota(b, dtype, &shape, axis)
}

/// Emits the index along `axis` at every position of `shape`; `None` if its extent is not known.
pub(crate) fn iota(b: &mut Builder<'_>, dtype: DType, shape: &[Dim], axis: usize) -> Known {
    let Some(extent) = shape[axis].fixed() else {
        return Ok(None);
    };
    let is_known = shape.iter().all(|dim| dim.fixed().is_some());
    if is_known && shape.contains(&Dim::Fixed(0)) {
        let ty = TensorType::new(dtype, shape.iter().copied());
        let zero = Tensor::new(Vec::new(), Buffer::zeros(dtype, 1));
        return Ok(Some(mind_core::splat(b, ty.view(), &zero)));
    }
    let row = indices(b, dtype, extent)?;
    match shape.len() {
        1 => Ok(Some(row)),
        _ => Ok(Some(
            Broadcast::with(&[axis as i64], shape).build(b, &[row])?,
        )),
    }
}

/// Emits the indices below `extent`. A long list is computed at run time, because a constant takes memory in the
/// program: an index is a multiple of [`BLOCK`] plus an offset, and both are emitted recursively.
fn indices(b: &mut Builder<'_>, dtype: DType, extent: i64) -> Lowered {
    /// The number of offsets, which are one constant.
    const BLOCK: i64 = 1 << 12;
    if extent <= LONGEST {
        let list = Tensor::of(vec![extent as usize], (0..extent).collect::<Vec<i64>>());
        let dims = DimEnv::default();
        let list = cast(&EvalCx::run(b.graph, &dims), &list, dtype);
        let list = list.map_err(|_| too_large(b, extent))?;
        return Ok(mind_core::constant(b, &list));
    }
    let blocks = (extent - 1) / BLOCK + 1;
    let bytes = blocks.checked_mul(BLOCK * DType::I64.size() as i64);
    bytes.ok_or_else(|| too_large(b, extent))?;
    let shape = [Dim::Fixed(blocks), Dim::Fixed(BLOCK)];
    let (high, low) = (
        indices(b, DType::I64, blocks)?,
        indices(b, DType::I64, BLOCK)?,
    );
    let high = Broadcast::with(&[0], &shape).build(b, &[high])?;
    let low = Broadcast::with(&[1], &shape).build(b, &[low])?;
    let all = map(b, &[high, low], |b, scalars| {
        let block = mind_core::constant(b, &Tensor::scalar(BLOCK));
        let first = Mul::build(b, scalars[0], block)?;
        let index = Add::build(b, first, scalars[1])?;
        match dtype {
            DType::I64 => Ok(index),
            _ => Cast::with(dtype).build(b, index),
        }
    })?;
    let flat = reshape(b, all, &[Dim::Fixed(blocks * BLOCK)], &[])?;
    match blocks * BLOCK == extent {
        true => Ok(flat),
        false => slice_axis(b, flat, 0, 0, extent),
    }
}

/// Returns the error for a list of indices that is too large.
fn too_large(b: &Builder<'_>, extent: i64) -> Box<VerifyError> {
    let ty = TensorType::fixed(DType::I64, &[extent]);
    let ty = ty.view().text(b.graph.symbols());
    Box::new(VerifyError::TooLarge { ty })
}

/// Lowers to a constant.
fn lower_dim(op: OpId, b: &mut Builder<'_>) -> Known {
    let view = ExtentOf::from_id(op);
    let shape = shape(b, view.input(b.graph));
    match shape[resolve("dim", view.axis(b.graph), shape.len())?] {
        Dim::Fixed(extent) => Ok(Some(mind_core::constant(b, &Tensor::scalar(extent)))),
        Dim::Symbol(_) | Dim::Dynamic => Ok(None),
    }
}
