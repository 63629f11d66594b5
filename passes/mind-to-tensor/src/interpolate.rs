//! Interpolation along one axis at a time.

use mind_core::ops::compare::Select;
use mind_core::ops::convert::Cast;
use mind_core::ops::elementwise::Mul;
use mind_core::ops::rounding::Round;
use mind_core::ops::sample::{Sample, computed_dtype};
use mind_ir::ValueId;
use mind_ir::builder::Builder;
use mind_ir::builtin::Fma;
use mind_ir::tensor::{Num, Tensor};
use mind_ir::types::{DType, Dim};
use mind_ir::with_num;
use mind_tensor::ops::broadcast::Broadcast;
use mind_tensor::ops::index::Gather;

use crate::emit::{Lowered, map, shape};
use crate::known::Known;

/// An interpolation of a tensor.
pub(crate) struct Interpolated {
    /// Dimensions in ascending order, with the taps of their new elements.
    pub(crate) axes: Vec<(usize, Vec<Sample>)>,
    /// The value outside of the input.
    pub(crate) fill: f64,
    /// Whether elements are copied without arithmetic.
    pub(crate) moves: bool,
}

/// The longest filter that is unrolled to a gather for each tap.
const TAPS: usize = 32;

/// Emits the interpolation, from the last axis to the first, rounded once at the end. Returns `None` if a filter is too
/// long.
pub(crate) fn interpolated(b: &mut Builder<'_>, input: ValueId, all: &Interpolated) -> Known {
    let (result, mut value) = (b.graph.ty(input).dtype, input);
    let compute = if all.moves {
        result
    } else {
        computed_dtype(result)
    };
    let stages = all.axes.iter().rev();
    let taps: Option<Vec<Taps>> = stages.map(|(_, samples)| Taps::of(samples)).collect();
    let Some(taps) = taps else {
        return Ok(None);
    };
    for ((axis, _), taps) in all.axes.iter().rev().zip(&taps) {
        value = stage(b, value, *axis, taps, compute)?;
    }
    finished(b, value, all, Dtypes { compute, result }).map(Some)
}

/// The dtype of the computation and that of the result.
#[derive(Clone, Copy)]
struct Dtypes {
    compute: DType,
    result: DType,
}

/// The taps along an axis.
enum Taps {
    /// Single elements.
    One(Vec<i64>),
    /// Pairs of elements, with the weight of the second; `None` selects the first element.
    Two(Vec<[i64; 2]>, Vec<Option<f64>>),
    /// Chains over pairs of an element and its weight.
    Chains(Vec<Vec<(usize, f64)>>),
}

impl Taps {
    /// Converts samples to taps; the taps of samples outside are arbitrary. `None` if there are too many.
    fn of(samples: &[Sample]) -> Option<Taps> {
        let (mut pairs, mut parts, mut chains) = (Vec::new(), Vec::new(), Vec::new());
        for sample in samples {
            let (pair, part, chain) = match sample {
                Sample::Outside => ([0; 2], None, Vec::new()),
                Sample::Element(at) => ([*at as i64; 2], None, Vec::new()),
                Sample::Between { low, high, part } => {
                    ([*low as i64, *high as i64], Some(*part), Vec::new())
                }
                Sample::Chain(taps) => ([0; 2], None, taps.clone()),
            };
            pairs.push(pair);
            parts.push(part);
            chains.push(chain);
        }
        Some(match chains.iter().map(Vec::len).max() {
            Some(1..=TAPS) => Taps::Chains(chains),
            Some(0) | None if parts.iter().all(Option::is_none) => {
                Taps::One(pairs.into_iter().map(|[at, _]| at).collect())
            }
            Some(0) | None => Taps::Two(pairs, parts),
            Some(_) => return None,
        })
    }
}

/// Emits the interpolation along one axis, in dtype `compute`.
fn stage(b: &mut Builder<'_>, value: ValueId, axis: usize, taps: &Taps, compute: DType) -> Lowered {
    match taps {
        Taps::One(places) => gathered(b, value, axis, places.clone()),
        Taps::Two(pairs, parts) => between(b, value, axis, (pairs, parts), compute),
        Taps::Chains(chains) => chained(b, value, axis, chains, compute),
    }
}

/// Emits `fma(high, part, low * (1 - part))`, or `low` where the weight is `None`.
fn between(
    b: &mut Builder<'_>,
    value: ValueId,
    axis: usize,
    (pairs, parts): (&[[i64; 2]], &[Option<f64>]),
    compute: DType,
) -> Lowered {
    let side = |side: usize| pairs.iter().map(|pair| pair[side]).collect();
    let low = gathered(b, value, axis, side(0))?;
    let high = gathered(b, value, axis, side(1))?;
    let part = parts.iter().map(|part| part.unwrap_or(0.0));
    let weights = [
        part.clone().collect(),
        part.map(|part| 1.0 - part).collect(),
    ];
    let like = shape(b, low);
    let [part, rest] =
        weights.map(|weights: Vec<f64>| numbers(compute, vec![weights.len()], &weights));
    let (part, rest) = (row(b, &part, axis, &like)?, row(b, &rest, axis, &like)?);
    let mut operands = vec![low, high, part, rest];
    if parts.iter().any(Option::is_none) {
        let is_between: Vec<bool> = parts.iter().map(Option::is_some).collect();
        operands.push(row(
            b,
            &Tensor::of(vec![parts.len()], is_between),
            axis,
            &like,
        )?);
    }
    map(b, &operands, |b, scalars| {
        let low = widened(b, scalars[0], compute)?;
        let high = widened(b, scalars[1], compute)?;
        let rest = Mul::build(b, low, scalars[3])?;
        let sum = Fma::build(b, high, scalars[2], rest)?;
        match scalars.get(4) {
            Some(&is_between) => Select::build(b, is_between, sum, low),
            None => Ok(sum),
        }
    })
}

/// Emits a chain of fused multiply-adds over the taps, from 0. Taps past the end of a shorter chain are masked.
fn chained(
    b: &mut Builder<'_>,
    value: ValueId,
    axis: usize,
    chains: &[Vec<(usize, f64)>],
    compute: DType,
) -> Lowered {
    let count = chains.iter().map(Vec::len).max().unwrap_or(0);
    let (mut operands, mut ends) = (Vec::new(), Vec::with_capacity(count));
    for tap in 0..count {
        let own = chains.iter().map(|chain| chain.get(tap));
        let places = own.clone().map(|tap| tap.map_or(0, |tap| tap.0 as i64));
        let element = gathered(b, value, axis, places.collect())?;
        let weights: Vec<f64> = own
            .clone()
            .map(|tap| tap.map_or(0.0, |tap| tap.1))
            .collect();
        let like = shape(b, element);
        operands.extend([
            element,
            row(
                b,
                &numbers(compute, vec![weights.len()], &weights),
                axis,
                &like,
            )?,
        ]);
        let has: Vec<bool> = own.map(|tap| tap.is_some()).collect();
        let some_end = has.contains(&false);
        ends.push(some_end);
        if some_end {
            operands.push(row(b, &Tensor::of(vec![has.len()], has), axis, &like)?);
        }
    }
    map(b, &operands, |b, scalars| {
        let mut scalars = scalars.iter().copied();
        let mut next = || scalars.next().expect("operands for each tap");
        let mut sum = mind_core::constant(b, &numbers(compute, Vec::new(), &[0.0]));
        for &some_end in &ends {
            let (element, weight) = (next(), next());
            let element = widened(b, element, compute)?;
            let longer = Fma::build(b, element, weight, sum)?;
            sum = if some_end {
                Select::build(b, next(), longer, sum)?
            } else {
                longer
            };
        }
        Ok(sum)
    })
}

/// Emits the fill outside of the input and the cast to the dtype of the result; integers round to nearest, ties to
/// even.
fn finished(b: &mut Builder<'_>, value: ValueId, all: &Interpolated, dtypes: Dtypes) -> Lowered {
    let like = shape(b, value);
    let mut operands = vec![value];
    for (axis, samples) in &all.axes {
        let inside = samples.iter().map(|sample| *sample != Sample::Outside);
        let inside: Vec<bool> = inside.collect();
        if inside.contains(&false) {
            operands.push(row(
                b,
                &Tensor::of(vec![inside.len()], inside),
                *axis,
                &like,
            )?);
        }
    }
    if operands.len() == 1 && dtypes.compute == dtypes.result {
        return Ok(value);
    }
    map(b, &operands, |b, scalars| {
        let mut value = widened(b, scalars[0], dtypes.compute)?;
        for &inside in &scalars[1..] {
            let fill = mind_core::constant(b, &numbers(dtypes.compute, Vec::new(), &[all.fill]));
            value = Select::build(b, inside, value, fill)?;
        }
        if dtypes.compute == dtypes.result {
            return Ok(value);
        }
        if dtypes.result.is_int() {
            value = Round::build(b, value)?;
        }
        Cast::with(dtypes.result).build(b, value)
    })
}

/// Emits a gather of `places` along `axis`.
fn gathered(b: &mut Builder<'_>, value: ValueId, axis: usize, places: Vec<i64>) -> Lowered {
    let extent = b.graph.ty(value).shape[axis].fixed();
    if extent == Some(places.len() as i64) && places.iter().copied().eq(0..places.len() as i64) {
        return Ok(value);
    }
    let places = mind_core::constant(b, &Tensor::of(vec![places.len()], places));
    Gather::with(axis as i64).build(b, value, places)
}

/// Emits a constant that varies along `axis`, broadcast to the shape `like`.
fn row(b: &mut Builder<'_>, elements: &Tensor, axis: usize, like: &[Dim]) -> Lowered {
    let row = mind_core::constant(b, elements);
    Broadcast::with(&[axis as i64], like).build(b, &[row])
}

fn widened(b: &mut Builder<'_>, scalar: ValueId, to: DType) -> Lowered {
    if b.graph.ty(scalar).dtype == to {
        Ok(scalar)
    } else {
        Cast::with(to).build(b, scalar)
    }
}

/// Returns a tensor of numbers, cast to `dtype`.
fn numbers(dtype: DType, shape: Vec<usize>, numbers: &[f64]) -> Tensor {
    with_num!(dtype, T => {
        let numbers: Vec<T> = numbers.iter().map(|&number| T::cast_f64(number)).collect();
        Tensor::of(shape, numbers)
    }, else { unreachable!("verified elements are numbers") })
}
