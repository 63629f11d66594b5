//! Imports scatters into caches, unpooling, `Col2Im` and reversed sequences.

use mind_convert::{Argument, EmitCore, Refusal};
use mind_core::eval::bounds::Bounds;
use mind_core::ops::broadcast::BroadcastTo;
use mind_core::ops::compare::{Compare, Direction};
use mind_core::ops::gather::GatherNd;
use mind_core::ops::pad::PadOp;
use mind_core::ops::scatter::{ScatterNd, Update};
use mind_core::ops::shape::ExpandDims;
use mind_ir::ValueId;
use mind_ir::scalar::ScalarFn;
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim};

use super::Operator;
use super::pool::{spatial_list, spatial_pads};
use crate::import::emit::{Emit, One};
use crate::import::node::Node;
use crate::import::value::Extent;

pub(super) const ROWS: &[Operator] = &[
    Operator::one("ReverseSequence", &[10, 28], reverse_sequence),
    Operator::one("TensorScatter", &[24], tensor_scatter),
    Operator::one("MaxUnpool", &[9, 11, 22], max_unpool),
    Operator::one("Col2Im", &[18], col2im),
];

/// Returns the positions 0, 1, .. along `axis` in the given rank, with extent 1 along the others.
pub(super) fn places(e: &mut Emit<'_>, extent: Extent, axis: usize, rank: usize) -> One {
    let mut shape = vec![Extent::Known(1); rank];
    shape[axis] = extent;
    e.iota(DType::I64, &shape, axis)
}

/// Returns positions as [`places`] does, as many as `x` has along its axis `of`, whose extent may be data-dependent.
pub(super) fn places_along(
    e: &mut Emit<'_>,
    x: ValueId,
    of: usize,
    axis: usize,
    rank: usize,
) -> One {
    let extent = e.extent_at(x, of);
    places(e, extent, axis, rank)
}

/// Returns zeros of a dtype.
fn zeros(e: &mut Emit<'_>, of: DType, shape: &[Dim]) -> One {
    let zero = e.number(of, 0.0);
    Ok(BroadcastTo::with(shape).build(e, zero)?)
}

/// Returns the permutation that moves the axes `first` to the front, and its inverse.
fn moved_first(first: &[usize], rank: usize) -> (Vec<i64>, Vec<i64>) {
    let others = (0..rank).filter(|axis| !first.contains(axis));
    let order: Vec<usize> = first.iter().copied().chain(others).collect();
    let mut back = vec![0; rank];
    for (to, &from) in order.iter().enumerate() {
        back[from] = to as i64;
    }
    (order.into_iter().map(|axis| axis as i64).collect(), back)
}

/// Reverses the first elements of each sequence, as many as its length; the others stay.
fn reverse_sequence(n: &mut Node<'_, '_, '_>) -> One {
    let (batch, time) = (
        n.int("batch_axis")?.unwrap_or(1),
        n.int("time_axis")?.unwrap_or(0),
    );
    let (x, lengths) = (n.input(0)?, n.input(1)?);
    let rank = n.e.rank(x);
    let (batch, time) = (n.e.axis(batch, rank)?, n.e.axis(time, rank)?);
    if batch == time {
        return Err(Refusal::value(
            "time_axis",
            time,
            format_args!("another axis than `batch_axis`, {batch}"),
        ));
    }
    let e = &mut n.e;
    let (order, back) = moved_first(&[batch, time], rank);
    let x = e.transpose(x, &order)?;
    let lengths = e.convert(lengths, DType::I64)?;
    let lengths = ExpandDims::with(&[1]).build(e, lengths)?;
    let place = places_along(e, x, 1, 1, 2)?;
    let inside = Compare::with(Direction::Lt).build(e, place, lengths)?;
    let last = e.apply_number(ScalarFn::Sub, lengths, 1.0)?;
    let mirrored = e.apply(ScalarFn::Sub, &[last, place])?;
    let from = e.apply(ScalarFn::Select, &[inside, mirrored, place])?;
    let from = ExpandDims::with(&[2]).build(e, from)?;
    let reversed = GatherNd::with().batch_dims(1).build(e, x, from)?;
    e.transpose(reversed, &back)
}

/// Returns a cache updated with new elements, from the write index of each sequence of the batch on.
fn tensor_scatter(n: &mut Node<'_, '_, '_>) -> One {
    let circular = match n.word("mode")?.unwrap_or("linear") {
        "linear" => false,
        "circular" => true,
        other => return Err(Refusal::word("mode", other, &["linear", "circular"])),
    };
    let axis = n.int("axis")?.unwrap_or(-2);
    let (cache, update, starts) = (n.input(0)?, n.input(1)?, n.optional(2)?);
    let rank = n.e.rank(cache);
    let axis = n.e.axis(axis, rank)?;
    if axis == 0 {
        return Err(Refusal::value("axis", 0, "an axis after that of the batch"));
    }
    let room = n.e.extent(cache, axis)?;
    let e = &mut n.e;
    let (order, back) = moved_first(&[0, axis], rank);
    let (cache, update) = (e.transpose(cache, &order)?, e.transpose(update, &order)?);
    let &[batch, steps, ..] = &e.extents_of(update)[..] else {
        return Err(Refusal::rank(
            n.operand(1),
            n.e.g().type_text(update),
            "2 or more",
        ));
    };
    let mut place = places(e, steps, 1, 2)?;
    if let Some(starts) = starts {
        let starts = e.convert(starts, DType::I64)?;
        let starts = ExpandDims::with(&[1]).build(e, starts)?;
        place = e.apply(ScalarFn::Add, &[starts, place])?;
    }
    if circular {
        place = e.apply_number(ScalarFn::Mod, place, room as f64)?;
    }
    let row = places(e, batch, 0, 2)?;
    let mut index = [row, place];
    for part in &mut index {
        let whole = e.broadcast_extents(*part, &[batch, steps])?;
        *part = ExpandDims::with(&[2]).build(e, whole)?;
    }
    let index = e.concat(&index, 2)?;
    let written = ScatterNd::with().build(e, cache, index, update)?;
    e.transpose(written, &back)
}

/// Imports max unpooling: the maxima are scattered to their indices among zeros.
fn max_unpool(n: &mut Node<'_, '_, '_>) -> One {
    let (x, index) = (n.input(0)?, n.input(1)?);
    let shape = n.e.shape(x)?;
    let spatial = shape.len().saturating_sub(2);
    if n.ints("kernel_shape")?.is_none() {
        return Err(Refusal::missing("kernel_shape"));
    }
    let taps = spatial_list(n, "kernel_shape", spatial, 1)?;
    let strides = spatial_list(n, "strides", spatial, 1)?;
    let pads = spatial_pads(n, spatial)?.unwrap_or_else(|| vec![0; 2 * spatial]);
    let mut whole = shape.clone();
    for at in 0..spatial {
        let extent = (shape[2 + at] - 1).checked_mul(strides[at]);
        let padded =
            extent.and_then(|own| own.checked_sub(pads[at].checked_add(pads[spatial + at])?));
        let own = padded.and_then(|own| own.checked_add(taps[at]));
        let own = own.filter(|own| *own >= 0);
        whole[2 + at] = own.ok_or_else(|| {
            let found = padded.map_or_else(
                || "out of range".to_owned(),
                |own| (own + taps[at]).to_string(),
            );
            Refusal::extent(
                format_args!("dimension {} of the result", 2 + at),
                found,
                "0 or more",
            )
        })?;
    }
    let wanted = n.ints_in(2)?.unwrap_or_else(|| whole.clone());
    if wanted.len() != whole.len() || wanted.iter().any(|own| *own < 0) {
        let expected = format!("{} extents of 0 or more", whole.len());
        return Err(Refusal::value(
            n.operand(2),
            format_args!("{wanted:?}"),
            expected,
        ));
    }
    let (count, places) = (elements(&whole)?, elements(&shape)?);
    let e = &mut n.e;
    let flat = zeros(e, e.dtype(x), &[Dim::Fixed(count)])?;
    let x = e.reshape_to(x, &[places])?;
    let index = e.reshape_to(index, &[places, 1])?;
    let flat = ScatterNd::with().build(e, flat, index, x)?;
    let pooled = e.reshape_to(flat, &whole)?;
    resized(e, pooled, &whole, &wanted)
}

/// Crops or pads `x` with zeros at the end of each axis to the extents `wanted`.
fn resized(e: &mut Emit<'_>, x: ValueId, own: &[i64], wanted: &[i64]) -> One {
    let high: Vec<i64> = wanted.iter().zip(own).map(|(to, from)| to - from).collect();
    if high.iter().all(|own| *own == 0) {
        return Ok(x);
    }
    Ok(PadOp::with(&vec![0; own.len()], &high).build(e, x, None)?)
}

/// Returns the number of elements of a shape.
pub(super) fn elements(shape: &[i64]) -> Result<i64, Refusal> {
    let count = shape
        .iter()
        .try_fold(1i64, |count, extent| count.checked_mul(*extent));
    count.ok_or_else(|| {
        Refusal::too_large(
            "the number of elements",
            format_args!("that of {shape:?}"),
            "2^63 - 1",
        )
    })
}

/// Maximum number of elements in all windows of an image.
pub(super) const MOST_TAPS: i64 = 1 << 24;

/// Imports `Col2Im`: columns of windows are added at their positions in the image.
fn col2im(n: &mut Node<'_, '_, '_>) -> One {
    let x = n.input(0)?;
    let known = |at: usize| {
        let own = n.ints_in(at)?;
        own.ok_or_else(|| Refusal::missing(n.operand(at)))
    };
    let (image, block) = (known(1)?, known(2)?);
    let rank = image.len();
    if block.len() != rank {
        let reason = "1 for each extent of the image";
        return Err(Refusal::length(n.operand(2), block.len(), rank, reason));
    }
    let strides = spatial_list(n, "strides", rank, 1)?;
    let dilations = spatial_list(n, "dilations", rank, 1)?;
    let pads = spatial_pads(n, rank)?.unwrap_or_else(|| vec![0; 2 * rank]);
    let lists: [(Argument, &[i64], i64); 5] = [
        (n.operand(1).into(), &image, 1),
        (n.operand(2).into(), &block, 1),
        ("strides".into(), &strides, 1),
        ("dilations".into(), &dilations, 1),
        ("pads".into(), &pads, 0),
    ];
    for (argument, list, least) in lists {
        if !list.iter().all(|own| (least..1 << 31).contains(own)) {
            let expected = format!("numbers from {least} to 2^31 - 1");
            return Err(Refusal::value(argument, format_args!("{list:?}"), expected));
        }
    }
    let windows = Windows {
        padded: (0..rank)
            .map(|at| image[at] + pads[at] + pads[rank + at])
            .collect(),
        block,
        strides,
        dilations,
    };
    let area = elements(&windows.padded)?;
    let (places, taps, count) = windows.places()?;
    let &[batch, columns, own] = &n.e.shape(x)?[..] else {
        return Err(Refusal::rank(n.operand(0), n.e.g().type_text(x), 3));
    };
    if columns % taps != 0 || own != count {
        return Err(Refusal::extent(
            n.operand(0),
            format_args!("[{batch}, {columns}, {own}]"),
            format_args!(
                "a multiple of {taps} columns of {count} (windows of {taps} elements at {count} places)"
            ),
        ));
    }
    let channels = columns / taps;
    let e = &mut n.e;
    let x = e.reshape_to(x, &[batch, channels, taps * count])?;
    let x = e.transpose(x, &[2, 0, 1])?;
    let index = e.tensor(&Tensor::of(vec![places.len(), 1], places));
    let blank = zeros(e, e.dtype(x), &[area, batch, channels].map(Dim::Fixed))?;
    let added = ScatterNd::with().kind(Update::Add).bounds(Bounds::Strict);
    let added = added.build(e, blank, index, x)?;
    let added = e.transpose(added, &[1, 2, 0])?;
    let shape = [&[batch, channels][..], &windows.padded].concat();
    let padded = e.reshape_to(added, &shape)?;
    let crop = |pads: &[i64]| {
        [
            &[0, 0][..],
            &pads.iter().map(|own| -own).collect::<Vec<_>>(),
        ]
        .concat()
    };
    if pads.iter().all(|own| *own == 0) {
        return Ok(padded);
    }
    Ok(PadOp::with(&crop(&pads[..rank]), &crop(&pads[rank..])).build(e, padded, None)?)
}

/// Sliding windows over a padded image.
struct Windows {
    padded: Vec<i64>,
    block: Vec<i64>,
    strides: Vec<i64>,
    dilations: Vec<i64>,
}

impl Windows {
    /// Returns the position in the image of each tap in each window, with the windows varying fastest, the number of
    /// taps in a window, and the number of windows.
    fn places(&self) -> Result<(Vec<i64>, i64, i64), Refusal> {
        let rank = self.block.len();
        let counts: Vec<i64> = (0..rank)
            .map(|at| {
                let reach = (self.block[at] - 1) * self.dilations[at] + 1;
                ((self.padded[at] - reach).div_euclid(self.strides[at]) + 1).max(0)
            })
            .collect();
        let (taps, count) = (elements(&self.block)?, elements(&counts)?);
        if taps.checked_mul(count).is_none_or(|all| all > MOST_TAPS) {
            let found = format!("{taps} in each of {count}");
            return Err(Refusal::too_large(
                "the number of elements of all windows",
                found,
                MOST_TAPS,
            ));
        }
        let mut places = Vec::with_capacity((taps * count) as usize);
        for tap in 0..taps {
            for window in 0..count {
                let (mut tap, mut window, mut pitch, mut place) = (tap, window, 1, 0);
                for at in (0..rank).rev() {
                    let own = window % counts[at] * self.strides[at]
                        + tap % self.block[at] * self.dilations[at];
                    (tap, window) = (tap / self.block[at], window / counts[at]);
                    place += own * pitch;
                    pitch *= self.padded[at];
                }
                places.push(place);
            }
        }
        Ok((places, taps, count))
    }
}
