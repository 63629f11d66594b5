//! Tensors with other extents: the nearest elements, gathered axis by axis.

use mind_core::ops::sample::{Coordinates, Interpolation, Resize, Sample};
use mind_ir::OpId;
use mind_ir::builder::Builder;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::tensor::Tensor;
use mind_tensor::ops::index::Gather;

use crate::emit::{LowerKnown, shape};
use crate::known::{Known, LONGEST};
use crate::window::extents;

pub(crate) const ROWS: &[(&OpDef, LowerKnown)] = &[(Resize::DEF, lower_resize)];

/// A gather for each axis, where an element is the nearest of each and where that is depends on attributes alone.
fn lower_resize(op: OpId, b: &mut Builder<'_>) -> Known {
    let view = Resize::from_id(op);
    let filter = view.filter(b.graph);
    let is_fixed = view.scales(b.graph).is_none() && filter.coordinates != Coordinates::Crop;
    if filter.mode != Interpolation::Nearest || !is_fixed {
        return Ok(None);
    }
    let mut value = view.input(b.graph);
    let Some(extents) = extents(&shape(b, value)) else {
        return Ok(None);
    };
    let axes = view.resized(b.graph, &extents, None);
    if axes
        .iter()
        .any(|axis| axis.size as i64 > LONGEST || axis.extent == 0)
    {
        return Ok(None);
    }
    for axis in axes {
        let place = |at: usize| match axis.sample(&filter, at) {
            Sample::Element(element) => Some(element as i64),
            Sample::Outside | Sample::Between { .. } | Sample::Chain(_) => None,
        };
        let Some(places) = (0..axis.size).map(place).collect::<Option<Vec<i64>>>() else {
            return Ok(None);
        };
        let places = mind_core::constant(b, &Tensor::of(vec![places.len()], places));
        value = Gather::with(axis.dimension as i64).build(b, value, places)?;
    }
    Ok(Some(value))
}
