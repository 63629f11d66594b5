//! Imports slices and splits.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::compare::{Compare, Direction};
use mind_core::ops::index::{Gather, Slice};
use mind_core::ops::pad::PadOp;
use mind_core::ops::runtime_shape::DynamicIota;
use mind_core::ops::shape::Reverse;
use mind_ir::ValueId;
use mind_ir::scalar::ScalarFn;
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim};

use super::{Many, Operator};
use crate::import::emit::{Emit, One};
use crate::import::node::Node;
use crate::import::value::Value;

pub(super) const ROWS: &[Operator] = &[
    Operator::one("Slice", &[1, 10, 11, 13], slice).moving(),
    Operator::many("Split", &[2, 11, 13, 18], split).moving(),
    Operator::one("CenterCropPad", &[18], center),
];

fn split(n: &mut Node<'_, '_, '_>) -> Many {
    let x = n.input(0)?;
    let axis = n.int("axis")?.unwrap_or(0);
    let axis = n.e.axis(axis, n.e.rank(x))?;
    let Dim::Fixed(extent) = n.e.dims(x)[axis] else {
        return split_at_run_time(n, x, axis);
    };
    if n.opset >= 13 && matches!(n.given(1), Some(Value::Op(_) | Value::Extents(_))) {
        return split_at_run_time(n, x, axis);
    }
    let sizes = match n.ints_since(13, "split", 1)? {
        Some(sizes) => sizes,
        None => {
            let count = n
                .int("num_outputs")?
                .unwrap_or(n.proto.output.len() as i64)
                .max(1);
            let own = extent.div_euclid(count) + i64::from(extent % count != 0);
            let starts = (0..count).map(|part| (part * own).min(extent));
            starts.map(|start| own.min(extent - start)).collect()
        }
    };
    let sum = sizes
        .iter()
        .try_fold(0i64, |sum, own| sum.checked_add(*own));
    if sum != Some(extent) {
        let expected = format!("{extent}, the extent of axis {axis}");
        return Err(Refusal::extent(
            format_args!("the sum of the sizes {sizes:?}"),
            sum.map_or_else(|| "more than 2^63 - 1".to_owned(), |sum| sum.to_string()),
            expected,
        ));
    }
    let mut start = 0;
    let mut parts = Vec::with_capacity(sizes.len());
    for size in sizes {
        parts.push(n.e.part(x, axis, start, start + size)?);
        start += size;
    }
    Ok(parts)
}

/// Splits an axis of unknown extent, or by data-dependent sizes. Data-dependent sizes are not checked, but the last
/// part ends where the axis does.
fn split_at_run_time(n: &mut Node<'_, '_, '_>, x: ValueId, axis: usize) -> Many {
    let count = n.proto.output.len().max(1);
    let attribute = if n.opset < 13 { n.ints("split")? } else { None };
    let sizes = match (attribute, n.opset >= 13 && n.given(1).is_some()) {
        (Some(sizes), _) => Some(n.e.tensor(&Tensor::of(vec![sizes.len()], sizes.to_vec()))),
        (None, true) => Some(n.input(1)?),
        (None, false) => None,
    };
    if let Some(sizes) = sizes {
        let found = n.e.extent(sizes, 0)? as usize;
        if found != count {
            return Err(Refusal::length("split", found, count, "1 for each output"));
        }
    }
    let parts = n.int("num_outputs")?.unwrap_or(count as i64);
    if parts != count as i64 {
        let expected = format!("{count}, the number of outputs");
        return Err(Refusal::value("num_outputs", parts, expected));
    }
    let e = &mut n.e;
    let extent = e.extent_value(x, axis)?;
    let sizes = sizes.map(|own| e.convert(own, DType::I64)).transpose()?;
    // All parts but the last have the same size, rounded up.
    let more = e.apply_number(ScalarFn::Add, extent, (count - 1) as f64)?;
    let even = e.apply_number(ScalarFn::Div, more, count as f64)?;
    let mut start = e.number(DType::I64, 0.0);
    let mut found = Vec::with_capacity(count);
    for part in 0..count {
        let size = match sizes {
            Some(sizes) => {
                let own = e.part(sizes, 0, part as i64, part as i64 + 1)?;
                e.reshape_to(own, &[])?
            }
            None => even,
        };
        let end = match (part + 1 == count, sizes) {
            (true, None) => extent,
            (_, _) => e.apply(ScalarFn::Add, &[start, size])?,
        };
        found.push(cut_at_run_time(e, x, axis, [start, end], 1)?);
        start = end;
    }
    Ok(found)
}

/// Returns the refusal of lists whose lengths differ from that of the starts.
fn wrong_lists(count: usize, lengths: [usize; 3]) -> Refusal {
    let names = ["ends", "axes", "steps"];
    let mut lists = names.iter().zip(lengths);
    let other = lists.find(|(_, found)| *found != count);
    let (name, found) = other.unwrap_or((&"ends", count));
    Refusal::length(*name, found, count, "1 for each start")
}

/// Crops or pads each axis around its centre. If the difference is odd, the smaller half is at the begin.
fn center(n: &mut Node<'_, '_, '_>) -> One {
    let x = n.input(0)?;
    let shape = n.e.shape(x)?;
    let wanted = n.ints_in(1)?.unwrap_or_default();
    let all: Vec<i64> = (0..shape.len() as i64).collect();
    let axes = n.ints("axes")?.unwrap_or(&all);
    if axes.len() != wanted.len() {
        return Err(Refusal::length(
            n.operand(1),
            wanted.len(),
            axes.len(),
            "1 for each axis",
        ));
    }
    let (mut low, mut high) = (vec![0; shape.len()], vec![0; shape.len()]);
    for (&axis, &extent) in axes.iter().zip(&wanted) {
        let axis = n.e.axis(axis, shape.len())?;
        let more = extent.checked_sub(shape[axis]).filter(|_| extent >= 0);
        let more =
            more.ok_or_else(|| Refusal::value(n.operand(1), extent, "extents of 0 or more"))?;
        (low[axis], high[axis]) = (more / 2, more - more / 2);
    }
    Ok(PadOp::with(&low, &high).build(&mut n.e, x, None)?)
}

fn slice(n: &mut Node<'_, '_, '_>) -> One {
    let x = n.input(0)?;
    let rank = n.e.rank(x);
    let list = |n: &Node<'_, '_, '_>, name: &'static str, at: usize| n.ints_since(10, name, at);
    let axes = list(n, "axes", 3)?;
    let steps = match n.opset {
        ..10 => None,
        _ => n.ints_in(4)?,
    };
    let (starts, ends) = match (list(n, "starts", 1), list(n, "ends", 2)) {
        (Ok(Some(starts)), Ok(Some(ends))) => (starts, ends),
        (Ok(None), _) | (_, Ok(None)) => {
            return Err(Refusal::missing("starts and ends".to_owned()));
        }
        (Err(_), _) | (_, Err(_)) => return slice_at_run_time(n, axes, steps),
    };
    let axes = axes.unwrap_or_else(|| (0..starts.len() as i64).collect());
    let steps = steps.unwrap_or_else(|| vec![1; starts.len()]);
    if [ends.len(), axes.len(), steps.len()] != [starts.len(); 3] {
        return Err(wrong_lists(
            starts.len(),
            [ends.len(), axes.len(), steps.len()],
        ));
    }
    let (mut from, mut to, mut by) = (
        vec![0; rank],
        vec![mind_ir::attr::OPEN_END; rank],
        vec![1; rank],
    );
    let (mut reversed, mut open) = (Vec::new(), Vec::new());
    for (at, &axis) in axes.iter().enumerate() {
        let axis = n.e.axis(axis, rank)?;
        let cut = Cut {
            start: starts[at],
            end: ends[at],
            step: steps[at],
        };
        if cut.step == 0 {
            return Err(Refusal::value("steps", 0, "steps other than 0"));
        }
        if cut.is_whole() {
            continue;
        }
        if cut.step < 0 && (cut.end == i64::MAX || cut.end == i64::from(i32::MAX)) {
            n.warn(format!(
                "along axis {axis} it ends at {} with step {}, so that it has no elements, as the standard says; ONNX \
                 Runtime takes that end for the first element: write {} for it",
                cut.end,
                cut.step,
                i64::MIN
            ));
        }
        let extent = match n.e.dims(x)[axis] {
            Dim::Fixed(extent) => extent,
            Dim::Symbol(_) => {
                let dimension = format!("dimension {axis}, which it cuts,");
                let refusal = Refusal::not_constant(dimension, "is not known");
                return Err(refusal.help("`--dim NAME=EXTENT` gives the extent"));
            }
            Dim::Dynamic => {
                open.push((axis, cut));
                continue;
            }
        };
        let (upward, is_reversed) = cut.upward(extent);
        (from[axis], to[axis], by[axis]) = (upward.start, upward.end, upward.step);
        if is_reversed {
            reversed.push(axis as i64);
        }
    }
    let mut own = Slice::with(&from, &to, &by).build(&mut n.e, x)?;
    if !reversed.is_empty() {
        own = Reverse::with(&reversed).build(&mut n.e, own)?;
    }
    for (axis, cut) in open {
        let bounds = [cut.start, cut.end].map(|own| n.e.tensor(&Tensor::scalar(own)));
        own = cut_at_run_time(&mut n.e, own, axis, bounds, cut.step)?;
    }
    Ok(own)
}

/// Slices with data-dependent bounds, which are clamped to the axis.
fn slice_at_run_time(
    n: &mut Node<'_, '_, '_>,
    axes: Option<Vec<i64>>,
    steps: Option<Vec<i64>>,
) -> One {
    let (mut x, starts, ends) = (n.input(0)?, n.input(1)?, n.input(2)?);
    let e = &mut n.e;
    let (rank, count) = (e.rank(x), e.extent(starts, 0)?);
    let axes = axes.unwrap_or_else(|| (0..count.min(rank as i64)).collect());
    let steps = steps.unwrap_or_else(|| vec![1; axes.len()]);
    if axes.len() as i64 != count || steps.len() != axes.len() || e.extent(ends, 0)? != count {
        let count = usize::try_from(count).unwrap_or(0);
        let found = e.extent(ends, 0)? as usize;
        return Err(wrong_lists(count, [found, axes.len(), steps.len()]));
    }
    let (starts, ends) = (e.convert(starts, DType::I64)?, e.convert(ends, DType::I64)?);
    for (at, (&axis, &step)) in axes.iter().zip(&steps).enumerate() {
        if step == 0 {
            return Err(Refusal::value("steps", 0, "steps other than 0"));
        }
        let axis = e.axis(axis, rank)?;
        let [start, end] = [starts, ends].map(|list| {
            let own = e.part(list, 0, at as i64, at as i64 + 1)?;
            e.reshape_to(own, &[])
        });
        x = cut_at_run_time(e, x, axis, [start?, end?], step)?;
    }
    Ok(x)
}

/// Returns every `step`-th element along an axis between two bounds, which are clamped to the axis.
fn cut_at_run_time(
    e: &mut Emit<'_>,
    x: ValueId,
    axis: usize,
    bounds: [ValueId; 2],
    step: i64,
) -> One {
    let size = e.extent_value(x, axis)?;
    let [start, end] = bounds;
    let start = place_inside(e, start, size, (0.0, step > 0))?;
    let least = if step > 0 { 0.0 } else { -1.0 };
    let end = place_inside(e, end, size, (least, step > 0))?;
    let span = match step > 0 {
        true => e.apply(ScalarFn::Sub, &[end, start])?,
        false => e.apply(ScalarFn::Sub, &[start, end])?,
    };
    let span = e.apply_number(ScalarFn::Maximum, span, 0.0)?;
    let stride = step.saturating_abs() as f64;
    let rounded = e.apply_number(ScalarFn::Add, span, stride - 1.0)?;
    let taken = e.apply_number(ScalarFn::Div, rounded, stride)?;
    let taken = e.reshape_to(taken, &[1])?;
    let places = DynamicIota::with(DType::I64, &[Dim::Dynamic]).build(e, taken)?;
    let places = e.apply_number(ScalarFn::Mul, places, step as f64)?;
    let places = e.apply(ScalarFn::Add, &[places, start])?;
    Ok(Gather::with().axis(axis as i64).build(e, x, places)?)
}

/// Returns a bound, counted from the end if it is negative and clamped to the axis: from `least` on, and for negative
/// steps up to the last position.
fn place_inside(
    e: &mut Emit<'_>,
    place: ValueId,
    size: ValueId,
    (least, is_upward): (f64, bool),
) -> One {
    let zero = e.number(DType::I64, 0.0);
    let is_behind = Compare::with(Direction::Lt).build(e, place, zero)?;
    let behind = e.apply(ScalarFn::Add, &[place, size])?;
    let own = e.apply(ScalarFn::Select, &[is_behind, behind, place])?;
    let own = e.apply_number(ScalarFn::Maximum, own, least)?;
    let last = e.apply_number(ScalarFn::Add, size, if is_upward { 0.0 } else { -1.0 })?;
    e.apply(ScalarFn::Minimum, &[own, last])
}

/// A slice of an axis: every `step`-th element from `start` to before `end`.
struct Cut {
    start: i64,
    end: i64,
    step: i64,
}

impl Cut {
    fn is_whole(&self) -> bool {
        self.start == 0 && self.step == 1 && self.end >= i64::from(i32::MAX)
    }

    /// Returns an equivalent slice with a positive step and bounds inside of the axis, and whether its elements must be
    /// reversed.
    fn upward(&self, extent: i64) -> (Cut, bool) {
        let place = |at: i64| {
            if at < 0 {
                at.saturating_add(extent)
            } else {
                at
            }
        };
        if self.step > 0 {
            let (start, end) = (
                place(self.start).clamp(0, extent),
                place(self.end).clamp(0, extent),
            );
            let cut = Cut {
                start,
                end: end.max(start),
                step: self.step,
            };
            return (cut, false);
        }
        // The standard clamps a start before the axis to the first position.
        let first = match extent {
            ..=0 => -1,
            _ => place(self.start).clamp(0, extent - 1),
        };
        let stop = place(self.end).clamp(-1, extent - 1);
        let stride = self.step.saturating_neg();
        let count = match first - stop {
            ..=0 => 0,
            span => (span - 1) / stride + 1,
        };
        let last = first - (count - 1).max(0) * stride;
        let cut = match count {
            0 => Cut {
                start: 0,
                end: 0,
                step: 1,
            },
            _ => Cut {
                start: last,
                end: first + 1,
                step: stride,
            },
        };
        (cut, count > 0)
    }
}
