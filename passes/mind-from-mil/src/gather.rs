//! Imports gathers.

use mind_convert::{EmitCore, Refusal};
use mind_core::eval::bounds::Bounds;
use mind_core::ops::gather::{GatherElements, GatherNd};
use mind_core::ops::index::Gather;
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};
use mind_mil::MilOp;
use mind_mil::call::integers;
use mind_mil::ops::index;

use crate::emit::{Emit, Import, One};

pub(crate) const ROWS: &[(&MilOp, Import)] = &[
    (&index::GATHER, gather),
    (&index::GATHER_ALONG_AXIS, along_axis),
    (&index::GATHER_ND, nd),
];

/// Imports a gather of slices at `indices`; negative indices count from the end.
fn gather(op: OpId, e: &mut Emit<'_>) -> One {
    let x = e.argument(op, "x")?;
    let call = e.call(op)?;
    let axis = call.axis(call.int("axis").unwrap_or(0), e.rank(x))?;
    let batch = call.int("batch_dims").unwrap_or(0);
    if batch != 0 {
        return batched(op, e, x, axis, batch);
    }
    let known = call.tensor("indices").known();
    let extent = e.shape(x)?[axis];
    let (indices, bounds) = match known {
        Some(tensor) => {
            let places = integers(&tensor).into_iter();
            let places = places.map(|place| if place < 0 { place + extent } else { place });
            let places = Tensor::of(tensor.shape().to_vec(), places.collect::<Vec<i64>>());
            (e.tensor(&places), Bounds::Strict)
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

/// Returns slices along `axis` with batched indices, as tuples of one index.
fn batched(op: OpId, e: &mut Emit<'_>, x: ValueId, axis: usize, batch: i64) -> One {
    let indices = indices(op, e)?;
    let (rank, list) = (e.rank(x), e.shape(indices)?);
    let most = axis.min(list.len());
    let fitting = usize::try_from(batch).ok().filter(|own| *own <= most);
    let batch =
        fitting.ok_or_else(|| Refusal::value("batch_dims", batch, format_args!("0 to {most}")))?;
    let tuples = e.reshape_to(indices, &[&list[..], &[1]].concat())?;
    // The axis moves after the batch dimensions, and the dimensions between them move after the indices.
    let between: Vec<i64> = (batch as i64..axis as i64).collect();
    let front = (0..batch as i64).chain([axis as i64]);
    let order = front
        .chain(between.iter().copied())
        .chain(axis as i64 + 1..rank as i64);
    let x = e.transpose(x, &order.collect::<Vec<i64>>())?;
    let new = GatherNd::with()
        .batch_dims(batch as i64)
        .bounds(Bounds::FromEnd)
        .build(&mut e.b, x, tuples)?;
    let own = (list.len() - batch) as i64;
    let (start, count) = (batch as i64, between.len() as i64);
    let all = (rank as i64 - 1) + own - start;
    let order = (0..start)
        .chain(start + own..start + own + count)
        .chain(start..start + own)
        .chain(start + own + count..start + all);
    e.transpose(new, &order.collect::<Vec<i64>>())
}

/// Returns the argument `indices`; constant ones are converted to `i64`.
///
/// # Errors
///
/// Data-dependent indices of a dtype that core does not take.
pub(crate) fn indices(op: OpId, e: &mut Emit<'_>) -> One {
    if let Some(tensor) = e.call(op)?.tensor("indices").known() {
        let list = integers(&tensor);
        return Ok(e.tensor(&Tensor::of(tensor.shape().to_vec(), list)));
    }
    let indices = e.argument(op, "indices")?;
    match e.dtype(indices) {
        DType::I32 => Ok(indices),
        _ => e.convert(indices, DType::I32),
    }
}

/// Imports a gather of elements at `indices` along an axis.
fn along_axis(op: OpId, e: &mut Emit<'_>) -> One {
    let x = e.argument(op, "x")?;
    let call = e.call(op)?;
    let axis = call.axis(call.int("axis").unwrap_or(0), e.rank(x))?;
    let indices = indices(op, e)?;
    Ok(GatherElements::with()
        .axis(axis as i64)
        .bounds(Bounds::FromEnd)
        .build(&mut e.b, x, indices)?)
}

/// Imports a gather of slices at index tuples.
fn nd(op: OpId, e: &mut Emit<'_>) -> One {
    let x = e.argument(op, "x")?;
    let batch = e.call(op)?.int("batch_dims").unwrap_or(0);
    let indices = indices(op, e)?;
    Ok(GatherNd::with()
        .batch_dims(batch)
        .bounds(Bounds::FromEnd)
        .build(&mut e.b, x, indices)?)
}
