//! Elements that move to other places: written into a cache, back from windows, and in the other order.

use mind_core::eval::bounds::Bounds;
use mind_core::ops::broadcast::BroadcastTo;
use mind_core::ops::compare::{Compare, Direction};
use mind_core::ops::extents::{ExtentOf, Iota};
use mind_core::ops::gather::GatherNd;
use mind_core::ops::pad::PadOp;
use mind_core::ops::runtime_shape::DynamicIota;
use mind_core::ops::scatter::{ScatterNd, Update};
use mind_core::ops::shape::ExpandDims;
use mind_ir::ValueId;
use mind_ir::scalar::ScalarFn;
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim};

use super::Operator;
use crate::import::emit::{Emit, One};
use crate::import::node::Node;
use crate::refused::Refused;

pub(super) const ROWS: &[Operator] = &[
    Operator::one("ReverseSequence", &[10, 28], reverse_sequence),
    Operator::one("TensorScatter", &[24], tensor_scatter),
    Operator::one("MaxUnpool", &[9, 11, 22], max_unpool),
    Operator::one("Col2Im", &[18], col2im),
];

/// 0, 1, .. along `axis` of a value of that rank, 1 along the others.
pub(super) fn places(e: &mut Emit<'_>, extent: Dim, axis: usize, rank: usize) -> One {
    let mut shape = vec![Dim::Fixed(1); rank];
    shape[axis] = extent;
    let places = Iota::with(DType::I64, &shape).axis(axis as i64);
    Ok(places.build(e)?)
}

/// As [`places`], as many as `x` has along its axis `of`, which only a run may know.
pub(super) fn places_along(
    e: &mut Emit<'_>,
    x: ValueId,
    of: usize,
    axis: usize,
    rank: usize,
) -> One {
    let own = e.dims(x)[of];
    if own != Dim::Dynamic {
        return places(e, own, axis, rank);
    }
    let extent = ExtentOf::with(of as i64).build(e, x)?;
    let one = e.tensor(&Tensor::scalar(1i64));
    let extents = (0..rank).map(|at| {
        let own = if at == axis { extent } else { one };
        e.reshape_to(own, &[1])
    });
    let extents: Vec<ValueId> = extents.collect::<Result<_, Refused>>()?;
    let extents = e.concat(&extents, 0)?;
    let mut shape = vec![Dim::Fixed(1); rank];
    shape[axis] = Dim::Dynamic;
    let places = DynamicIota::with(DType::I64, &shape).axis(axis as i64);
    Ok(places.build(e, extents)?)
}

/// Zeros of a dtype.
fn zeros(e: &mut Emit<'_>, of: DType, shape: &[Dim]) -> One {
    let zero = e.number(of, 0.0);
    Ok(BroadcastTo::with(shape).build(e, zero)?)
}

/// The order of axes in which `first` come before the others, and the one that undoes it.
fn moved_first(first: &[usize], rank: usize) -> (Vec<i64>, Vec<i64>) {
    let others = (0..rank).filter(|axis| !first.contains(axis));
    let order: Vec<usize> = first.iter().copied().chain(others).collect();
    let mut back = vec![0; rank];
    for (to, &from) in order.iter().enumerate() {
        back[from] = to as i64;
    }
    (order.into_iter().map(|axis| axis as i64).collect(), back)
}

/// The first elements of each sequence in the other order, as many as it has; the rest as they are.
fn reverse_sequence(n: &mut Node<'_, '_, '_>) -> One {
    let (batch, time) = (
        n.int("batch_axis")?.unwrap_or(1),
        n.int("time_axis")?.unwrap_or(0),
    );
    let (x, lengths) = (n.input(0)?, n.input(1)?);
    let rank = n.e.rank(x);
    let (batch, time) = (n.e.axis(batch, rank)?, n.e.axis(time, rank)?);
    if batch == time {
        return Err(Refused::new("its axes are the same one"));
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

/// A cache with new elements from the place that each sequence of the batch has reached.
fn tensor_scatter(n: &mut Node<'_, '_, '_>) -> One {
    let circular = match n.word("mode")?.unwrap_or("linear") {
        "linear" => false,
        "circular" => true,
        other => return Err(Refused::new(format!("`mode` \"{other}\" is not supported"))),
    };
    let axis = n.int("axis")?.unwrap_or(-2);
    let (cache, update, starts) = (n.input(0)?, n.input(1)?, n.optional(2)?);
    let rank = n.e.rank(cache);
    let axis = n.e.axis(axis, rank)?;
    if axis == 0 {
        return Err(Refused::new("its axis is the one of the batch"));
    }
    let room = n.e.extent(cache, axis)?;
    let e = &mut n.e;
    let (order, back) = moved_first(&[0, axis], rank);
    let (cache, update) = (e.transpose(cache, &order)?, e.transpose(update, &order)?);
    let &[batch, steps, ..] = &e.dims(update)[..] else {
        return Err(Refused::new("its cache has no sequences"));
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
        let whole = BroadcastTo::with(&[batch, steps]).build(e, *part)?;
        *part = ExpandDims::with(&[2]).build(e, whole)?;
    }
    let index = e.concat(&index, 2)?;
    let written = ScatterNd::with().build(e, cache, index, update)?;
    e.transpose(written, &back)
}

/// The largest elements of windows where they were, among zeros.
fn max_unpool(n: &mut Node<'_, '_, '_>) -> One {
    let (x, index) = (n.input(0)?, n.input(1)?);
    let shape = n.e.shape(x)?;
    let spatial = shape.len().saturating_sub(2);
    let taps = n
        .ints("kernel_shape")?
        .ok_or_else(|| Refused::new("`kernel_shape` is left out"))?;
    let (ones, zero) = (vec![1; spatial], vec![0; 2 * spatial]);
    let strides = n.ints("strides")?.unwrap_or(&ones);
    let pads = n.ints("pads")?.unwrap_or(&zero);
    if [taps.len(), strides.len(), pads.len()] != [spatial, spatial, 2 * spatial] {
        return Err(Refused::new(
            "a list has not one entry for each spatial dimension",
        ));
    }
    let mut whole = shape.clone();
    for at in 0..spatial {
        let extent = (shape[2 + at] - 1).checked_mul(strides[at]);
        let padded =
            extent.and_then(|own| own.checked_sub(pads[at].checked_add(pads[spatial + at])?));
        let own = padded.and_then(|own| own.checked_add(taps[at]));
        let own = own.filter(|own| *own >= 0);
        whole[2 + at] = own.ok_or_else(|| Refused::new("its result has a negative extent"))?;
    }
    let wanted = n.ints_in(2)?.unwrap_or_else(|| whole.clone());
    if wanted.len() != whole.len() || wanted.iter().any(|own| *own < 0) {
        return Err(Refused::new(format!(
            "{wanted:?} is no shape of its result"
        )));
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

/// The first elements along each axis, or zeros behind them, to the extents `wanted`.
fn resized(e: &mut Emit<'_>, x: ValueId, own: &[i64], wanted: &[i64]) -> One {
    let high: Vec<i64> = wanted.iter().zip(own).map(|(to, from)| to - from).collect();
    if high.iter().all(|own| *own == 0) {
        return Ok(x);
    }
    Ok(PadOp::with(&vec![0; own.len()], &high).build(e, x, None)?)
}

/// The number of elements of a shape.
pub(super) fn elements(shape: &[i64]) -> Result<i64, Refused> {
    let count = shape
        .iter()
        .try_fold(1i64, |count, extent| count.checked_mul(*extent));
    count.ok_or_else(|| Refused::new("its result is too large"))
}

/// The most elements that windows of an image have.
pub(super) const MOST_TAPS: i64 = 1 << 24;

/// The columns of windows, added where they were in an image.
fn col2im(n: &mut Node<'_, '_, '_>) -> One {
    let x = n.input(0)?;
    let known = |at: usize| {
        let own = n.ints_in(at)?;
        own.ok_or_else(|| Refused::new(format!("input {at} is left out")))
    };
    let (image, block) = (known(1)?, known(2)?);
    let rank = image.len();
    let (ones, zero) = (vec![1; rank], vec![0; 2 * rank]);
    let strides = n.ints("strides")?.unwrap_or(&ones);
    let dilations = n.ints("dilations")?.unwrap_or(&ones);
    let pads = n.ints("pads")?.unwrap_or(&zero);
    if [block.len(), strides.len(), dilations.len(), pads.len()] != [rank, rank, rank, 2 * rank] {
        return Err(Refused::new(
            "a list has not one entry for each spatial dimension",
        ));
    }
    let lists = image.iter().chain(&block).chain(strides).chain(dilations);
    let is_small = |own: &i64| (1..1 << 31).contains(own);
    if !lists.clone().all(is_small) || !pads.iter().all(|own| (0..1 << 31).contains(own)) {
        return Err(Refused::new(
            "a window, stride, dilation or pad is out of range",
        ));
    }
    let windows = Windows {
        padded: (0..rank)
            .map(|at| image[at] + pads[at] + pads[rank + at])
            .collect(),
        block,
        strides: strides.to_vec(),
        dilations: dilations.to_vec(),
    };
    let area = elements(&windows.padded)?;
    let (places, taps, count) = windows.places()?;
    let &[batch, columns, own] = &n.e.shape(x)?[..] else {
        return Err(Refused::new("its columns are not of rank 3"));
    };
    if columns % taps != 0 || own != count {
        return Err(Refused::new(format!(
            "windows of {taps} elements at {count} places do not make [{batch}, {columns}, {own}]"
        )));
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

/// Windows that slide over an image with its pads.
struct Windows {
    padded: Vec<i64>,
    block: Vec<i64>,
    strides: Vec<i64>,
    dilations: Vec<i64>,
}

impl Windows {
    /// The places in the image of each tap in each window, window after window for each tap; how many taps a window has,
    /// and how many windows there are.
    fn places(&self) -> Result<(Vec<i64>, i64, i64), Refused> {
        let rank = self.block.len();
        let counts: Vec<i64> = (0..rank)
            .map(|at| {
                let reach = (self.block[at] - 1) * self.dilations[at] + 1;
                ((self.padded[at] - reach).div_euclid(self.strides[at]) + 1).max(0)
            })
            .collect();
        let (taps, count) = (elements(&self.block)?, elements(&counts)?);
        if taps.checked_mul(count).is_none_or(|all| all > MOST_TAPS) {
            return Err(Refused::new("its windows have too many elements"));
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
