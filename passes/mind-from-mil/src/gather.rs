//! Elements at places that a tensor gives.

use mind_core::ops::index::Gather;
use mind_ir::tensor::{Tensor, advance, row_major};
use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};
use mind_mil::MilOp;
use mind_mil::call::integers;
use mind_mil::ops::index;

use crate::emit::{Emit, Import, Imported};
use crate::refuse::Refused;

pub(crate) const ROWS: &[(&MilOp, Import)] = &[
    (&index::GATHER, gather),
    (&index::GATHER_ALONG_AXIS, along_axis),
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
    let indices = match known {
        Some(tensor) => {
            let places = integers(&tensor).into_iter();
            let places = places.map(|place| if place < 0 { place + extent } else { place });
            e.constant(&Tensor::of(
                tensor.shape().to_vec(),
                places.collect::<Vec<i64>>(),
            ))
        }
        None => {
            let indices = e.argument(op, "indices")?;
            from_front(e, indices, extent)?
        }
    };
    Ok(Gather::with()
        .axis(axis as i64)
        .build(&mut e.b, x, indices)?)
}

/// Indices of a run, negative ones counted from the front: `i + extent * -(i cut to -1..0)`.
fn from_front(e: &mut Emit<'_>, indices: ValueId, extent: i64) -> Imported {
    let indices = e.convert(indices, DType::I32)?;
    let extent = i32::try_from(extent).map_err(|_| Refused::new("the axis is too long"))?;
    let [least, none, extent] = [-1, 0, extent].map(|number| e.constant(&Tensor::scalar(number)));
    let negative = e.max(indices, least)?;
    let negative = e.min(negative, none)?;
    let shift = e.mul(negative, extent)?;
    e.sub(indices, shift)
}

/// Elements at constant `indices` along an axis, as a gather from all elements in one row.
fn along_axis(op: OpId, e: &mut Emit<'_>) -> Imported {
    let indices = e.known(op, "indices")?;
    let x = e.argument(op, "x")?;
    let shape = e.shape(x)?;
    let call = e.call(op)?;
    let axis = call.axis(call.int("axis").unwrap_or(0), shape.len())?;
    let own: Vec<usize> = shape.iter().map(|&extent| extent as usize).collect();
    let strides = row_major(&own);
    let mut index = vec![0usize; own.len()];
    let mut places = Vec::with_capacity(indices.count());
    for place in integers(&indices) {
        let place = if place < 0 {
            place + shape[axis]
        } else {
            place
        };
        if !(0..shape[axis]).contains(&place) {
            return Err(Refused::new(format!(
                "index {place} is outside of axis {axis}"
            )));
        }
        let at = index
            .iter()
            .enumerate()
            .map(|(dim, &step)| if dim == axis { place as usize } else { step });
        if at.clone().zip(&own).any(|(at, &extent)| at >= extent) {
            return Err(Refused::new("`indices` reach past `x`"));
        }
        places.push(
            at.zip(&strides)
                .map(|(at, stride)| at * stride)
                .sum::<usize>() as i64,
        );
        advance(&mut index, indices.shape());
    }
    let row = e.reshape(x, &[shape.iter().product()])?;
    let places = e.constant(&Tensor::of(indices.shape().to_vec(), places));
    Ok(Gather::with().axis(0).build(&mut e.b, row, places)?)
}
