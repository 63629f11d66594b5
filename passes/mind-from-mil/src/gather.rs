//! Elements at places that a tensor gives.

use mind_core::eval::bounds::Bounds;
use mind_core::ops::gather::{GatherElements, GatherNd};
use mind_core::ops::index::Gather;
use mind_ir::OpId;
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;
use mind_mil::MilOp;
use mind_mil::call::integers;
use mind_mil::ops::index;

use crate::emit::{Emit, Import, Imported};
use crate::refuse::Refused;

pub(crate) const ROWS: &[(&MilOp, Import)] = &[
    (&index::GATHER, gather),
    (&index::GATHER_ALONG_AXIS, along_axis),
    (&index::GATHER_ND, nd),
];

/// Slices at `indices`; a negative index counts from the end.
fn gather(op: OpId, e: &mut Emit<'_>) -> Imported {
    let x = e.argument(op, "x")?;
    let call = e.call(op)?;
    let axis = call.axis(call.int("axis").unwrap_or(0), e.rank(x))?;
    if call.int("batch_dims").unwrap_or(0) != 0 {
        return Err(Refused::new("core has no gather with batch dimensions"));
    }
    let known = call.tensor("indices").known();
    let extent = e.shape(x)?[axis];
    let (indices, bounds) = match known {
        Some(tensor) => {
            let places = integers(&tensor).into_iter();
            let places = places.map(|place| if place < 0 { place + extent } else { place });
            let places = Tensor::of(tensor.shape().to_vec(), places.collect::<Vec<i64>>());
            (e.constant(&places), Bounds::Strict)
        }
        None => {
            let indices = e.argument(op, "indices")?;
            (e.convert(indices, DType::I32)?, Bounds::FromEnd)
        }
    };
    Ok(Gather::with()
        .axis(axis as i64)
        .bounds(bounds)
        .build(&mut e.b, x, indices)?)
}

/// The argument `indices`, constant ones as `i64`.
///
/// # Errors
///
/// Indices of a run that core does not take.
pub(crate) fn indices(op: OpId, e: &mut Emit<'_>) -> Imported {
    if let Some(tensor) = e.call(op)?.tensor("indices").known() {
        let list = integers(&tensor);
        return Ok(e.constant(&Tensor::of(tensor.shape().to_vec(), list)));
    }
    let indices = e.argument(op, "indices")?;
    match e.dtype(indices) {
        DType::I32 => Ok(indices),
        dtype => Err(Refused::new(format!("core takes no indices of {dtype}"))),
    }
}

/// Elements at `indices` along an axis.
fn along_axis(op: OpId, e: &mut Emit<'_>) -> Imported {
    let x = e.argument(op, "x")?;
    let call = e.call(op)?;
    let axis = call.axis(call.int("axis").unwrap_or(0), e.rank(x))?;
    let indices = indices(op, e)?;
    Ok(GatherElements::with()
        .axis(axis as i64)
        .bounds(Bounds::FromEnd)
        .build(&mut e.b, x, indices)?)
}

/// Slices at tuples of indices.
fn nd(op: OpId, e: &mut Emit<'_>) -> Imported {
    let x = e.argument(op, "x")?;
    let batch = e.call(op)?.int("batch_dims").unwrap_or(0);
    let indices = indices(op, e)?;
    Ok(GatherNd::with()
        .batch_dims(batch)
        .bounds(Bounds::FromEnd)
        .build(&mut e.b, x, indices)?)
}
