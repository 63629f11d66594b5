//! Imports window functions and mel filter banks.

use std::f64::consts::TAU;

use mind_convert::{EmitCore, Refusal, converted};
use mind_core::ops::extents::Iota;
use mind_core::ops::runtime_shape::DynamicIota;
use mind_ir::ValueId;
use mind_ir::scalar::ScalarFn;
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim};

use super::Operator;
use crate::import::emit::One;
use crate::import::node::Node;
use crate::tensor::dtype;

pub(super) const ROWS: &[Operator] = &[
    Operator::one("HannWindow", &[17], |n| window(n, &[0.5, -0.5])),
    Operator::one("HammingWindow", &[17], |n| {
        window(n, &[25.0 / 46.0, -21.0 / 46.0])
    }),
    Operator::one("BlackmanWindow", &[17], |n| window(n, &[0.42, -0.5, 0.08])),
    Operator::one("MelWeightMatrix", &[17], mel_weights),
];

/// Returns the requested output dtype; `f32` by default.
fn output_dtype(n: &Node<'_, '_, '_>) -> Result<DType, Refusal> {
    n.int("output_datatype")?.map_or(Ok(DType::F32), dtype)
}

/// Returns the integers from 0 to before the number in input `at`, in `f64`.
pub(super) fn places(n: &mut Node<'_, '_, '_>, at: usize) -> One {
    if let Ok(Some(count)) = n.ints_in(at) {
        let &[count] = &count[..] else {
            return Err(Refusal::value(
                n.operand(at),
                format_args!("{count:?}"),
                "1 number",
            ));
        };
        return Ok(Iota::with(DType::F64, &[Dim::Fixed(count)]).build(&mut n.e)?);
    }
    let count = n.input(at)?;
    let count = n.e.reshape_to(count, &[1])?;
    Ok(DynamicIota::with(DType::F64, &[Dim::Dynamic]).build(&mut n.e, count)?)
}

/// Returns the weighted sum of cosines with 0, 1, .. periods over the window. A symmetric window covers its period
/// completely.
fn window(n: &mut Node<'_, '_, '_>, weights: &[f64]) -> One {
    let periodic = n.int("periodic")? != Some(0);
    let to = output_dtype(n)?;
    let places = places(n, 0)?;
    let size = n.input(0)?;
    let e = &mut n.e;
    let size = e.reshape_to(size, &[])?;
    let mut period = e.convert(size, DType::F64)?;
    if !periodic {
        period = e.apply_number(ScalarFn::Sub, period, 1.0)?;
    }
    let part = e.apply(ScalarFn::Div, &[places, period])?;
    let mut sum: Option<ValueId> = None;
    for (at, &weight) in weights.iter().enumerate() {
        let angle = e.apply_number(ScalarFn::Mul, part, TAU * at as f64)?;
        let wave = e.apply(ScalarFn::Cos, &[angle])?;
        let own = e.apply_number(ScalarFn::Mul, wave, weight)?;
        sum = Some(match sum {
            Some(sum) => e.apply(ScalarFn::Add, &[sum, own])?,
            None => own,
        });
    }
    let sum = sum.expect("a window has weights");
    e.convert(sum, to)
}

/// Maximum number of elements of a filter bank.
const MOST_WEIGHTS: i64 = 1 << 24;

/// Imports a mel filter bank: triangular filters that are evenly spaced on the mel scale.
fn mel_weights(n: &mut Node<'_, '_, '_>) -> One {
    let to = output_dtype(n)?;
    let number = |at: usize| -> Result<f64, Refusal> {
        match n.floats_in(at)?.as_deref() {
            Some(&[own]) if own.is_finite() => Ok(own),
            found => Err(Refusal::value(
                n.operand(at),
                format_args!("{:?}", found.unwrap_or(&[])),
                "1 finite number",
            )),
        }
    };
    let (bands, length, rate) = (number(0)? as i64, number(1)? as i64, number(2)?);
    let (low, high) = (number(3)?, number(4)?);
    let sizes = 0..=MOST_WEIGHTS;
    if !sizes.contains(&bands)
        || !sizes.contains(&length)
        || (length / 2 + 1) * bands > MOST_WEIGHTS
    {
        return Err(Refusal::too_large(
            "the number of weights",
            format_args!("that of {bands} bands of a transform of length {length}"),
            MOST_WEIGHTS,
        ));
    }
    let bins = length / 2 + 1;
    let edges = edges(bands, length, rate, [low, high]);
    if edges.iter().any(|edge| !(0..=bins).contains(edge)) {
        let expected = format!("bins from 0 to {bins}");
        return Err(Refusal::value(
            "the edges of the bands".to_owned(),
            format_args!("{edges:?}"),
            expected,
        ));
    }
    let mut weights = vec![0.0f64; (bins * bands) as usize];
    for band in 0..bands as usize {
        let [low, centre, high] = [edges[band], edges[band + 1], edges[band + 2]];
        for bin in 0..bins {
            let rising = (low..centre).contains(&bin);
            let weight = match rising {
                true => (bin - low) as f64 / (centre - low) as f64,
                false if bin == centre => 1.0,
                false if (centre..high).contains(&bin) => {
                    (high - bin) as f64 / (high - centre) as f64
                }
                false => 0.0,
            };
            weights[(bin * bands) as usize + band] = weight;
        }
    }
    let matrix = Tensor::of(vec![bins as usize, bands as usize], weights);
    Ok(n.e.tensor(&converted(&matrix, to)))
}

/// Returns the bins at which filters begin, peak and end: the centre of each is the beginning of the next one.
fn edges(bands: i64, length: i64, rate: f64, [low, high]: [f64; 2]) -> Vec<i64> {
    let mel = |hertz: f64| 2595.0 * (hertz / 700.0).ln_1p() / f64::ln(10.0);
    let hertz = |mel: f64| 700.0 * (mel / 2595.0 * f64::ln(10.0)).exp_m1();
    let (first, last) = (mel(low), mel(high));
    let step = (last - first) / (bands + 2) as f64;
    let edges = (0..bands + 2).map(|at| hertz(first + at as f64 * step));
    edges
        .map(|edge| ((length + 1) as f64 * edge / rate).floor() as i64)
        .collect()
}
