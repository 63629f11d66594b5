//! Lowers resizes that MIL does not have to weighted sums of gathered slices, axis by axis.

use mind_convert::Refusal;
use mind_core::eval::resize::{Filter, ResizedAxis, Sample};
use mind_core::ops::sample::{Interpolation, Resize};
use mind_ir::ValueId;
use mind_ir::eval::{DimEnv, EvalCx};
use mind_ir::tensor::{FloatNum, Tensor};
use mind_ir::types::DType;
use mind_ir::with_float;
use mind_mil::ops::binary::{ADD, MUL};
use mind_mil::ops::unary::CAST;

use crate::emit::Argument::{Value, Word};
use crate::emit::{Emit, Lowered};
use crate::movement::gather;
use crate::select;

/// Maximum number of taps along an axis, because each is three ops.
const MOST_TAPS: usize = 64;

/// Resizes axis by axis from the last, as the interpreter does. Nearest elements are gathered without arithmetic.
///
/// # Errors
///
/// Data-dependent scales, interpolated integers, or a filter of more than [`MOST_TAPS`] taps.
pub(crate) fn by_taps(e: &mut Emit<'_, '_>, op: Resize) -> Lowered {
    let (filter, mut x) = (op.filter(e.g()), op.input(e.g()));
    let dtype = e.dtype(x);
    if filter.mode != Interpolation::Nearest && !dtype.is_float() {
        let mode = filter.mode.name();
        return Err(Refusal::no_counterpart(format!(
            "mode `{mode}` of {dtype} has no counterpart"
        )));
    }
    let axes = axes(e, op)?;
    // Sums of f16 in a program of f32 round once, as those of the interpreter do.
    let is_widened = filter.mode != Interpolation::Nearest && dtype != e.float();
    if is_widened {
        x = e.op(&CAST, &[("x", Value(x)), ("dtype", Word("fp32"))])?;
    }
    let mut outside = Vec::new();
    for axis in axes.iter().rev() {
        axis.check(&filter)?;
        let samples: Vec<Sample> = (0..axis.size).map(|at| axis.sample(&filter, at)).collect();
        x = along(e, x, axis, &samples)?;
        if samples.contains(&Sample::Outside) {
            let is_outside = samples.iter().map(|own| *own == Sample::Outside);
            outside.push((axis.dimension, is_outside.collect::<Vec<bool>>()));
        }
    }
    for (dimension, places) in outside {
        x = fill(e, x, dimension, &places, &filter)?;
    }
    if is_widened {
        x = e.op(&CAST, &[("x", Value(x)), ("dtype", Word("fp16"))])?;
    }
    Ok(x)
}

/// Returns the resized axes, whose scales must be constant.
fn axes(e: &Emit<'_, '_>, op: Resize) -> Result<Vec<ResizedAxis>, Refusal> {
    let extents = e.shape(op.input(e.g()))?;
    let extents: Vec<usize> = extents.iter().map(|&extent| extent as usize).collect();
    let scales = match op.scales(e.g()) {
        Some(scales) => {
            let known = e.elements(scales).filter(|own| own.dtype() != DType::F16);
            Some(known.ok_or_else(|| {
                Refusal::unsupported(
                    "its scales are not constants of f32",
                    "write them as constants that no other op reads; `mind-run --bind` and `-O2` make constants of inputs",
                )
            })?)
        }
        None => None,
    };
    let dims = DimEnv::default();
    let axes = op.resized_by(&EvalCx::run(e.g(), &dims), &extents, scales.as_ref());
    Ok(axes?)
}

/// Returns `x` resampled along one axis.
fn along(e: &mut Emit<'_, '_>, x: ValueId, axis: &ResizedAxis, samples: &[Sample]) -> Lowered {
    let lists: Vec<Vec<(usize, f64)>> = samples.iter().map(taps).collect();
    let count = lists.iter().map(Vec::len).max().unwrap_or(1);
    if count > MOST_TAPS {
        return Err(Refusal::unsupported(
            format!(
                "an element is made of {count} others, and {MOST_TAPS} are the most that are written out"
            ),
            "resize in two steps, each by a smaller factor",
        ));
    }
    let lists: Vec<Vec<(usize, f64)>> = lists.into_iter().map(|own| padded(own, count)).collect();
    let mut sum = None;
    for tap in 0..count {
        let places = lists.iter().map(|list| list[tap].0 as i32).collect();
        let slices = slices(e, x, axis, places)?;
        if count == 1 {
            return Ok(slices);
        }
        let weights: Vec<f64> = lists.iter().map(|list| list[tap].1).collect();
        let weights = weights_of(e, x, axis.dimension, &weights);
        let product = e.op(&MUL, &[("x", Value(slices)), ("y", Value(weights))])?;
        sum = Some(match sum {
            None => product,
            Some(sum) => e.op(&ADD, &[("x", Value(sum)), ("y", Value(product))])?,
        });
    }
    Ok(sum.unwrap_or(x))
}

/// Returns the source elements of a sample and their weights.
fn taps(sample: &Sample) -> Vec<(usize, f64)> {
    match sample {
        Sample::Outside => vec![(0, 1.0)],
        Sample::Element(at) => vec![(*at, 1.0)],
        Sample::Between { low, high, part } => vec![(*low, 1.0 - part), (*high, *part)],
        Sample::Chain(taps) => taps.clone(),
    }
}

/// Extends the taps to `count` by repeating the last one and dividing its weight among the copies, because a tap with
/// weight 0 would turn an infinite element into NaN.
fn padded(mut taps: Vec<(usize, f64)>, count: usize) -> Vec<(usize, f64)> {
    let Some((at, weight)) = taps.pop() else {
        return vec![(0, 0.0); count];
    };
    let copies = count - taps.len();
    taps.resize(count, (at, weight / copies as f64));
    taps
}

/// Returns the slices of `x` at the indices `places` along an axis; `x` itself if these are all of them in order.
fn slices(e: &mut Emit<'_, '_>, x: ValueId, axis: &ResizedAxis, places: Vec<i32>) -> Lowered {
    if places.iter().copied().eq(0..axis.extent as i32) {
        return Ok(x);
    }
    let places = e.constant(&Tensor::of(vec![places.len()], places));
    let bounds = mind_core::eval::bounds::Bounds::Strict;
    gather(e, x, places, axis.dimension as i64, bounds)
}

/// Returns weights along `dimension` in the rank and dtype of `x`.
fn weights_of(e: &mut Emit<'_, '_>, x: ValueId, dimension: usize, weights: &[f64]) -> ValueId {
    let mut shape = vec![1; e.g().ty(x).rank()];
    shape[dimension] = weights.len();
    let tensor = with_float!(e.dtype(x), T => {
        let weights = weights.iter().map(|&own| <T as FloatNum>::from_f64(own));
        Tensor::of(shape, weights.collect::<Vec<T>>())
    }, else unreachable!("only floats are between elements"));
    e.constant(&tensor)
}

/// Replaces `places` along `dimension` that are outside of the region by the fill value.
fn fill(
    e: &mut Emit<'_, '_>,
    x: ValueId,
    dimension: usize,
    places: &[bool],
    filter: &Filter,
) -> Lowered {
    let mut shape = vec![1; e.g().ty(x).rank()];
    shape[dimension] = places.len();
    let cond = e.constant(&Tensor::of(shape, places.to_vec()));
    let number = with_float!(e.dtype(x), T => {
        Tensor::scalar(<T as FloatNum>::from_f64(filter.fill))
    }, else {
        return Err(Refusal::no_counterpart("a region beyond the elements of integers has no counterpart"))
    });
    let number = e.constant(&number);
    select::lower(e, cond, number, x)
}
