//! Imports normalisations.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::reduce::{Mean, Sum};
use mind_core::ops::window::ReduceWindow;
use mind_ir::ValueId;
use mind_ir::scalar::{Reduction, ScalarFn};
use mind_ir::types::DType;

use super::{Many, Operator};
use crate::import::emit::{Emit, One};
use crate::import::node::Node;
use crate::import::value::Extent;

pub(super) const ROWS: &[Operator] = &[
    Operator::many("BatchNormalization", &[6, 7, 9, 14, 15], batch),
    Operator::one("InstanceNormalization", &[6, 22], instance),
    Operator::one("GroupNormalization", &[18, 21], group),
    // ONNX Runtime had the operator before ONNX and accepts it in every opset, as do models of its optimisers.
    Operator::many("LayerNormalization", &[1, 17], layer),
    Operator::many("RMSNormalization", &[23], rms),
    // ONNX Runtime's optimisers write it in ONNX's own domain.
    Operator::many("SimplifiedLayerNormalization", &[1], rms),
    Operator::one("LpNormalization", &[1, 22], lp),
    Operator::one("LRN", &[1, 13], local_response),
    Operator::one("MeanVarianceNormalization", &[9, 13], |n| {
        let axes = n.ints("axes")?.unwrap_or(&[0, 2, 3]).to_vec();
        let x = n.input(0)?;
        let moments = Moments::of(&mut n.e, x, &axes)?;
        let spread = n.e.apply(ScalarFn::Sqrt, &[moments.variance])?;
        let spread = n.e.apply_number(ScalarFn::Add, spread, 1e-9)?;
        n.e.apply(ScalarFn::Div, &[moments.centred, spread])
    }),
];

/// The moments that a normalisation computes along its axes.
struct Moments {
    mean: ValueId,
    centred: ValueId,
    variance: ValueId,
}

impl Moments {
    fn of(e: &mut Emit<'_>, x: ValueId, axes: &[i64]) -> Result<Moments, Refusal> {
        let mean = Mean::with().axes(axes).keepdims(true).build(e, x)?;
        let centred = e.apply(ScalarFn::Sub, &[x, mean])?;
        let square = e.apply(ScalarFn::Mul, &[centred, centred])?;
        let variance = Mean::with().axes(axes).keepdims(true).build(e, square)?;
        Ok(Moments {
            mean,
            centred,
            variance,
        })
    }
}

/// Returns `1 / sqrt(x + epsilon)`.
fn inverse_root(e: &mut Emit<'_>, x: ValueId, epsilon: f64) -> One {
    let moved = e.apply_number(ScalarFn::Add, x, epsilon)?;
    e.apply(ScalarFn::Rsqrt, &[moved])
}

/// Returns `x scale + bias`.
fn affine(e: &mut Emit<'_>, x: ValueId, scale: ValueId, bias: Option<ValueId>) -> One {
    let scaled = e.apply(ScalarFn::Mul, &[x, scale])?;
    match bias {
        Some(bias) => e.apply(ScalarFn::Add, &[scaled, bias]),
        None => Ok(scaled),
    }
}

fn epsilon(n: &Node<'_, '_, '_>) -> Result<f64, Refusal> {
    Ok(n.float("epsilon")?.unwrap_or(f64::from(1e-5f32)))
}

/// Returns the refusal of an operator of opset 6 and earlier without `is_test`.
pub(super) fn training_step() -> Refusal {
    Refusal::value("is_test", 0, 1).help("it is a step of training: export the model for inference")
}

/// Imports batch normalisation with the moments of the model, or with those of the batch in training.
fn batch(n: &mut Node<'_, '_, '_>) -> Many {
    if n.opset < 7 && n.int("is_test")? != Some(1) {
        return Err(training_step());
    }
    if n.int("spatial")? == Some(0) {
        return Err(Refusal::value("spatial", 0, 1));
    }
    let momentum = n.float("momentum")?.unwrap_or(f64::from(0.9f32));
    let epsilon = epsilon(n)?;
    let x = n.input(0)?;
    let of = n.e.dtype(x);
    let mut lists = [x; 4];
    for (at, list) in lists.iter_mut().enumerate() {
        let own = n.input(at + 1)?;
        *list = n.e.convert(own, of)?;
    }
    let [scale, bias, mean, variance] = lists;
    if !n.flag("training_mode")? {
        let own = moved_and_scaled(&mut n.e, x, [scale, bias, mean, variance], epsilon)?;
        return Ok(vec![own]);
    }
    let e = &mut n.e;
    let axes: Vec<i64> = (0..e.rank(x) as i64).filter(|axis| *axis != 1).collect();
    let own = Moments::of(e, x, &axes)?;
    let Some(&channels) = e.dims(x).get(1) else {
        return Err(Refusal::rank(
            "the input".to_owned(),
            e.g().type_text(x),
            "2 or more",
        ));
    };
    let (own_mean, own_variance) = (
        e.reshape(own.mean, &[channels])?,
        e.reshape(own.variance, &[channels])?,
    );
    let running = |e: &mut Emit<'_>, past: ValueId, own: ValueId| -> One {
        let past = e.apply_number(ScalarFn::Mul, past, momentum)?;
        let own = e.apply_number(ScalarFn::Mul, own, 1.0 - momentum)?;
        e.apply(ScalarFn::Add, &[past, own])
    };
    let (next_mean, next_variance) = (
        running(e, mean, own_mean)?,
        running(e, variance, own_variance)?,
    );
    let result = moved_and_scaled(e, x, [scale, bias, own_mean, own_variance], epsilon)?;
    Ok(vec![result, next_mean, next_variance])
}

/// Returns `x factor + (bias - mean factor)` for each channel, where the factor is `scale / sqrt(variance + epsilon)`.
fn moved_and_scaled(
    e: &mut Emit<'_>,
    x: ValueId,
    [scale, bias, mean, variance]: [ValueId; 4],
    epsilon: f64,
) -> One {
    let rank = e.rank(x);
    let moved = e.apply_number(ScalarFn::Add, variance, epsilon)?;
    let root = e.apply(ScalarFn::Sqrt, &[moved])?;
    let factor = e.apply(ScalarFn::Div, &[scale, root])?;
    let part = e.apply(ScalarFn::Mul, &[mean, factor])?;
    let rest = e.apply(ScalarFn::Sub, &[bias, part])?;
    let (factor, rest) = (e.per_channel(factor, rank)?, e.per_channel(rest, rank)?);
    affine(e, x, factor, Some(rest))
}

fn instance(n: &mut Node<'_, '_, '_>) -> One {
    let epsilon = epsilon(n)?;
    let (x, scale, bias) = (n.input(0)?, n.input(1)?, n.input(2)?);
    let rank = n.e.rank(x);
    let axes: Vec<i64> = (2..rank as i64).collect();
    let moments = Moments::of(&mut n.e, x, &axes)?;
    let factor = inverse_root(&mut n.e, moments.variance, epsilon)?;
    let own = n.e.apply(ScalarFn::Mul, &[moments.centred, factor])?;
    let (scale, bias) = (n.e.per_channel(scale, rank)?, n.e.per_channel(bias, rank)?);
    affine(&mut n.e, own, scale, Some(bias))
}

/// Imports group normalisation. Scale and bias are per group before opset 21, and per channel from then on.
fn group(n: &mut Node<'_, '_, '_>) -> One {
    let epsilon = epsilon(n)?;
    let groups = n.positive("num_groups")?;
    let single = stash_type(n)?;
    let (x, scale, bias) = (n.input(0)?, n.input(1)?, n.input(2)?);
    let of = n.e.dtype(x);
    let shape = n.e.extents_of(x);
    let (&[batch, channels], spatial) = shape
        .split_first_chunk()
        .ok_or_else(|| Refusal::rank(n.operand(0), n.e.g().type_text(x), "2 or more"))?;
    let own = n.e.divided(channels, groups)?;
    let grouped = n.e.product(&[&[own], spatial].concat())?;
    let wide = n.e.convert(x, single)?;
    let apart = [batch, Extent::Known(groups), grouped];
    let apart = n.e.reshape_extents(wide, &apart)?;
    let moments = Moments::of(&mut n.e, apart, &[2])?;
    let factor = inverse_root(&mut n.e, moments.variance, epsilon)?;
    let own = n.e.apply(ScalarFn::Mul, &[moments.centred, factor])?;
    if n.opset < 21 {
        let own = n.e.convert(own, of)?;
        let (scale, bias) = (n.e.per_channel(scale, 3)?, n.e.per_channel(bias, 3)?);
        let own = affine(&mut n.e, own, scale, Some(bias))?;
        return n.e.reshape_extents(own, &shape);
    }
    let own = n.e.reshape_extents(own, &shape)?;
    let own = n.e.convert(own, of)?;
    let rank = shape.len();
    let (scale, bias) = (n.e.per_channel(scale, rank)?, n.e.per_channel(bias, rank)?);
    affine(&mut n.e, own, scale, Some(bias))
}

/// Returns the dtype in which a normalisation is computed.
fn stash_type(n: &Node<'_, '_, '_>) -> Result<DType, Refusal> {
    match n.int("stash_type")? {
        None => Ok(DType::F32),
        Some(own) => crate::tensor::dtype(own),
    }
}

/// Returns the axes from the attribute `axis` on.
fn trailing(n: &Node<'_, '_, '_>, rank: usize) -> Result<Vec<i64>, Refusal> {
    let first = n.e.axis(n.int("axis")?.unwrap_or(-1), rank)?;
    Ok((first as i64..rank as i64).collect())
}

fn layer(n: &mut Node<'_, '_, '_>) -> Many {
    let precision = (stash_type(n)?, epsilon(n)?);
    let (x, scale, bias) = (n.input(0)?, n.input(1)?, n.optional(2)?);
    let axes = trailing(n, n.e.rank(x))?;
    Ok(layer_of(&mut n.e, x, &axes, (scale, bias), precision)?.to_vec())
}

/// Returns a layer normalisation along axes, the mean, and the inverse standard deviation. It is computed in the dtype
/// `single` with `epsilon`.
pub(super) fn layer_of(
    e: &mut Emit<'_>,
    x: ValueId,
    axes: &[i64],
    (scale, bias): (ValueId, Option<ValueId>),
    (single, epsilon): (DType, f64),
) -> Result<[ValueId; 3], Refusal> {
    let of = e.dtype(x);
    let wide = e.convert(x, single)?;
    let moments = Moments::of(e, wide, axes)?;
    let factor = inverse_root(e, moments.variance, epsilon)?;
    let own = e.apply(ScalarFn::Mul, &[moments.centred, factor])?;
    let own = e.convert(own, of)?;
    let own = affine(e, own, scale, bias)?;
    Ok([own, moments.mean, factor])
}

fn rms(n: &mut Node<'_, '_, '_>) -> Many {
    let precision = (stash_type(n)?, epsilon(n)?);
    let (x, scale) = (n.input(0)?, n.input(1)?);
    let axes = trailing(n, n.e.rank(x))?;
    Ok(rms_of(&mut n.e, x, &axes, scale, precision)?.to_vec())
}

/// Returns an RMS normalisation along axes, and the inverse root mean square. It is computed in the dtype `single` with
/// `epsilon`.
pub(super) fn rms_of(
    e: &mut Emit<'_>,
    x: ValueId,
    axes: &[i64],
    scale: ValueId,
    (single, epsilon): (DType, f64),
) -> Result<[ValueId; 2], Refusal> {
    let of = e.dtype(x);
    let wide = e.convert(x, single)?;
    let square = e.apply(ScalarFn::Mul, &[wide, wide])?;
    let mean = Mean::with().axes(axes).keepdims(true).build(e, square)?;
    let factor = inverse_root(e, mean, epsilon)?;
    let own = e.apply(ScalarFn::Mul, &[wide, factor])?;
    let own = e.convert(own, of)?;
    Ok([affine(e, own, scale, None)?, factor])
}

fn lp(n: &mut Node<'_, '_, '_>) -> One {
    let axis = n.int("axis")?.unwrap_or(-1);
    let p = n.int("p")?.unwrap_or(2);
    let x = n.input(0)?;
    let of_one = match p {
        1 => n.e.apply(ScalarFn::Abs, &[x])?,
        2 => n.e.apply(ScalarFn::Mul, &[x, x])?,
        p => return Err(Refusal::value("p", p, "1 or 2")),
    };
    let sum = Sum::with()
        .axes(&[axis])
        .keepdims(true)
        .build(&mut n.e, of_one)?;
    let norm = match p {
        1 => sum,
        _ => n.e.apply(ScalarFn::Sqrt, &[sum])?,
    };
    // A slice of zeros stays zero, although its norm is 0.
    let zero = n.e.number(n.e.dtype(x), 0.0);
    let is_zero = mind_core::ops::compare::Compare::with(mind_core::ops::compare::Direction::Eq)
        .build(&mut n.e, norm, zero)?;
    let own = n.e.apply(ScalarFn::Div, &[x, norm])?;
    n.e.apply(ScalarFn::Select, &[is_zero, zero, own])
}

/// Returns `x / (bias + alpha / size * s) ^ beta`, where `s` is the sum of squares over neighbouring channels.
fn local_response(n: &mut Node<'_, '_, '_>) -> One {
    let size = n.positive("size")?;
    let alpha = n.float("alpha")?.unwrap_or(f64::from(1e-4f32));
    let beta = n.float("beta")?.unwrap_or(0.75);
    let bias = n.float("bias")?.unwrap_or(1.0);
    let x = n.input(0)?;
    let rank = n.e.rank(x);
    let list = |inner: i64, outer: i64| {
        let mut list = vec![outer; rank];
        list[1.min(rank - 1)] = inner;
        list
    };
    let square = n.e.apply(ScalarFn::Mul, &[x, x])?;
    let (window, low, high) = (list(size, 1), list((size - 1) / 2, 0), list(size / 2, 0));
    let sum = ReduceWindow::with(&window, Reduction::Sum)
        .low(&low)
        .high(&high);
    let sum = sum.build(&mut n.e, square)?;
    let scaled = n.e.apply_number(ScalarFn::Mul, sum, alpha / size as f64)?;
    let moved = n.e.apply_number(ScalarFn::Add, scaled, bias)?;
    let power = n.e.apply_number(ScalarFn::Pow, moved, beta)?;
    n.e.apply(ScalarFn::Div, &[x, power])
}
