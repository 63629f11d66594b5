//! Lowers resizes to gathers along one axis at a time and a map.

use mind_core::ops::sample::{Interpolation, Resize, ResizedAxis, Sample};
use mind_ir::builder::Builder;
use mind_ir::eval::{DimEnv, EvalCx};
use mind_ir::opdef::{Op, OpDef, Trait};
use mind_ir::tensor::Tensor;
use mind_ir::{Graph, OpId, ValueId};

use crate::emit::{LowerKnown, shape};
use crate::interpolate::{Interpolated, interpolated};
use crate::known::{Known, LONGEST};
use crate::window::extents;

pub(crate) const ROWS: &[(&OpDef, LowerKnown)] = &[(Resize::DEF, lower_resize)];

/// Lowers a resize if its taps and weights are known.
fn lower_resize(op: OpId, b: &mut Builder<'_>) -> Known {
    let view = Resize::from_id(op);
    let (input, filter) = (view.input(b.graph), view.filter(b.graph));
    let Some(axes) = resized(view, b) else {
        return Ok(None);
    };
    let axes: Vec<(usize, Vec<Sample>)> = axes
        .iter()
        .map(|axis| {
            let samples = (0..axis.size).map(|at| axis.sample(&filter, at));
            (axis.dimension, samples.collect())
        })
        .collect();
    interpolated(
        b,
        input,
        &Interpolated {
            axes,
            fill: filter.fill,
            moves: filter.mode == Interpolation::Nearest,
        },
    )
}

/// Returns the resized axes; `None` if they are not known, too long, or invalid.
fn resized(view: Resize, b: &Builder<'_>) -> Option<Vec<ResizedAxis>> {
    let g = &*b.graph;
    let extents = extents(&shape(b, view.input(g)))?;
    let scales = match view.scales(g) {
        Some(scales) => Some(constant(g, scales)?),
        None => None,
    };
    let dims = DimEnv::default();
    let cx = EvalCx::run(g, &dims);
    let axes = view.resized_by(&cx, &extents, scales.as_ref()).ok()?;
    let filter = view.filter(g);
    let fits = |axis: &ResizedAxis| axis.size as i64 <= LONGEST && axis.check(&filter).is_ok();
    axes.iter().all(fits).then_some(axes)
}

/// Returns the value of a constant.
fn constant(g: &Graph, value: ValueId) -> Option<Tensor> {
    let op = g
        .defining_op(value)
        .filter(|&op| g.def(op).has(Trait::Constant))?;
    let dims = DimEnv::default();
    let results = g.def(op).eval?(op, &EvalCx::run(g, &dims), &[]).ok()?;
    results.into_iter().next()
}
