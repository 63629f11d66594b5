//! Ops with data-dependent shapes, specialised to known extents.

use mind_core::ops::runtime_shape::{DynamicBroadcastTo, DynamicIota, DynamicReshape};
use mind_ir::ValueId;
use mind_ir::opdef::Op;
use mind_ir::tensor::broadcast_strides;
use mind_loops::extents::known;
use mind_vir::program::{Algorithm, Elements, Extents, IndexType};

use super::{Call, count};

/// Returns the reshape that `call` evaluates; `None` if it evaluates another op.
pub(super) fn reshape(call: Call<'_>) -> Option<Algorithm> {
    let own = call.g.view::<DynamicReshape>(call.inner)?;
    if own.refuse_ones(call.g) && result(call).contains(&1) {
        // An evaluation gives the reason.
        return None;
    }
    let [input, extents] = call.op.inputs(call.g) else {
        return None;
    };
    let elements = Elements::Same {
        count: count(&known(call.g, *input)),
        size: call.g.ty(*input).dtype.size(),
    };
    checked(call, *extents, elements)
}

/// Returns the broadcast that `call` evaluates; `None` if it evaluates another op.
pub(super) fn broadcast(call: Call<'_>) -> Option<Algorithm> {
    let g = call.g;
    g.view::<DynamicBroadcastTo>(call.inner)?;
    let [input, extents] = call.op.inputs(g) else {
        return None;
    };
    let (own, target) = (known(g, *input), result(call));
    let strides = match target.contains(&0) {
        true => vec![0; target.len()],
        false => broadcast_strides(&own, &target).to_vec(),
    };
    let elements = Elements::Stretched {
        count: count(&own),
        size: g.ty(*input).dtype.size(),
        strides,
    };
    checked(call, *extents, elements)
}

/// Returns the iota that `call` evaluates; `None` if it evaluates another op.
pub(super) fn iota(call: Call<'_>) -> Option<Algorithm> {
    let g = call.g;
    let op = g.view::<DynamicIota>(call.inner)?;
    let extents = *call.op.inputs(g).first()?;
    let axis = op.axis(g).rem_euclid(result(call).len() as i64) as usize;
    let dtype = op.dtype(g);
    checked(call, extents, Elements::Indices { dtype, axis })
}

fn checked(call: Call<'_>, extents: ValueId, elements: Elements) -> Option<Algorithm> {
    Some(Algorithm::Extents(Extents {
        index: IndexType::of(call.g.ty(extents).dtype)?,
        extents: result(call),
        elements,
    }))
}

/// Returns the extents of the result.
fn result(call: Call<'_>) -> Vec<usize> {
    known(call.g, call.g.result(call.op.id()))
}
