//! Scatters.

use mind_core::eval::bounds;
use mind_core::ops::scatter::{self, ScatterElements, ScatterNd};
use mind_ir::ValueId;
use mind_loops::extents::{dense, known};
use mind_vir::program::{Algorithm, Bounds, Dimension, IndexType, Scattering, Update};

use super::{Call, count};

/// Returns the scatter along an axis that `call` evaluates; `None` if it evaluates another op.
pub(super) fn elements(call: Call<'_>) -> Option<Algorithm> {
    let g = call.g;
    let op = g.view::<ScatterElements>(call.inner)?;
    let operands = call.op.inputs(g);
    let data = dimensions(call, operands[0]);
    let axis = op.axis(g).rem_euclid(data.len() as i64) as usize;
    let list = known(g, operands[1]).into_iter().enumerate();
    let tuples = list.map(|(at, extent)| Dimension {
        extent,
        stride: if at == axis { 0 } else { data[at].stride },
    });
    let (tuples, axes) = (tuples.collect(), vec![data[axis]]);
    scattering(call, (op.kind(g), op.bounds(g)), (tuples, axes, 1))
}

/// Returns the scatter of slices that `call` evaluates; `None` if it evaluates another op.
pub(super) fn slices(call: Call<'_>) -> Option<Algorithm> {
    let g = call.g;
    let op = g.view::<ScatterNd>(call.inner)?;
    let operands = call.op.inputs(g);
    let data = dimensions(call, operands[0]);
    let list = known(g, operands[1]);
    let (&length, outer) = list.split_last()?;
    let (axes, slice) = data.split_at_checked(length)?;
    let slice: Vec<usize> = slice.iter().map(|own| own.extent).collect();
    let tuples = outer.iter().map(|&extent| Dimension { extent, stride: 0 });
    let tuples = tuples.collect();
    scattering(
        call,
        (op.kind(g), op.bounds(g)),
        (tuples, axes.to_vec(), count(&slice)),
    )
}

fn scattering(
    call: Call<'_>,
    (kind, limits): (scatter::Update, bounds::Bounds),
    (tuples, axes, width): (Vec<Dimension>, Vec<Dimension>, usize),
) -> Option<Algorithm> {
    let (g, operands) = (call.g, call.op.inputs(call.g));
    let data = known(g, operands[0]);
    Some(Algorithm::Scatter(Scattering {
        dtype: g.ty(operands[0]).dtype,
        index: IndexType::of(g.ty(operands[1]).dtype)?,
        update: match kind {
            scatter::Update::Replace => Update::Replace,
            scatter::Update::Add => Update::Add,
            scatter::Update::Mul => Update::Mul,
            scatter::Update::Min => Update::Min,
            scatter::Update::Max => Update::Max,
        },
        bounds: match limits {
            bounds::Bounds::Strict => Bounds::Strict,
            bounds::Bounds::FromEnd => Bounds::FromEnd,
            bounds::Bounds::Clamp => Bounds::Clamp,
            bounds::Bounds::Skip => Bounds::Skip,
        },
        elements: count(&data),
        tuples,
        axes,
        width,
    }))
}

/// Returns the dimensions of an array.
fn dimensions(call: Call<'_>, value: ValueId) -> Vec<Dimension> {
    let extents = known(call.g, value);
    let strides = dense(&extents);
    let dimensions = extents.into_iter().zip(strides);
    let dimensions = dimensions.map(|(extent, stride)| Dimension {
        extent,
        stride: stride as usize,
    });
    dimensions.collect()
}
