//! Normalisations.

use mind_core::ops::reduce::{Mean, Sum};
use mind_core::ops::window::ReduceWindow;
use mind_ir::ValueId;
use mind_ir::scalar::{Reduction, ScalarFn};
use mind_ir::types::DType;

use super::{Many, Operator};
use crate::import::emit::{Emit, One};
use crate::import::node::Node;
use crate::refused::Refused;

pub(super) const ROWS: &[Operator] = &[
    Operator::one("BatchNormalization", &[6, 7, 9, 14, 15], batch),
    Operator::one("InstanceNormalization", &[6, 22], instance),
    Operator::one("GroupNormalization", &[18, 21], group),
    Operator::many("LayerNormalization", &[17], layer),
    Operator::one("RMSNormalization", &[23], rms),
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

/// What a normalisation needs of the elements along axes.
struct Moments {
    mean: ValueId,
    centred: ValueId,
    variance: ValueId,
}

impl Moments {
    fn of(e: &mut Emit<'_>, x: ValueId, axes: &[i64]) -> Result<Moments, Refused> {
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

/// `1 / sqrt(x + epsilon)`.
fn inverse_root(e: &mut Emit<'_>, x: ValueId, epsilon: f64) -> One {
    let moved = e.apply_number(ScalarFn::Add, x, epsilon)?;
    e.apply(ScalarFn::Rsqrt, &[moved])
}

/// `x scale + bias`.
fn affine(e: &mut Emit<'_>, x: ValueId, scale: ValueId, bias: Option<ValueId>) -> One {
    let scaled = e.apply(ScalarFn::Mul, &[x, scale])?;
    match bias {
        Some(bias) => e.apply(ScalarFn::Add, &[scaled, bias]),
        None => Ok(scaled),
    }
}

fn epsilon(n: &Node<'_, '_, '_>) -> Result<f64, Refused> {
    Ok(n.float("epsilon")?.unwrap_or(f64::from(1e-5f32)))
}

/// By the moments that the model brings: `x factor + (bias - mean factor)`.
fn batch(n: &mut Node<'_, '_, '_>) -> One {
    n.ignore("momentum");
    if n.opset < 7 && n.int("is_test")? != Some(1) {
        return Err(Refused::new("it is a step of training"));
    }
    if n.flag("training_mode")? || n.int("spatial")? == Some(0) {
        return Err(Refused::new(
            "`training_mode` and `spatial=0` are not supported",
        ));
    }
    let epsilon = epsilon(n)?;
    let x = n.input(0)?;
    let of = n.e.dtype(x);
    let mut lists = [x; 4];
    for (at, list) in lists.iter_mut().enumerate() {
        let own = n.input(at + 1)?;
        *list = n.e.convert(own, of)?;
    }
    let [scale, bias, mean, variance] = lists;
    let rank = n.e.rank(x);
    let moved = n.e.apply_number(ScalarFn::Add, variance, epsilon)?;
    let root = n.e.apply(ScalarFn::Sqrt, &[moved])?;
    let factor = n.e.apply(ScalarFn::Div, &[scale, root])?;
    let part = n.e.apply(ScalarFn::Mul, &[mean, factor])?;
    let rest = n.e.apply(ScalarFn::Sub, &[bias, part])?;
    let (factor, rest) = (n.e.per_channel(factor, rank)?, n.e.per_channel(rest, rank)?);
    affine(&mut n.e, x, factor, Some(rest))
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

/// Before opset 21 scale and bias are one for each group, then one for each channel.
fn group(n: &mut Node<'_, '_, '_>) -> One {
    let epsilon = epsilon(n)?;
    let groups = n.int("num_groups")?.filter(|own| *own > 0);
    let groups = groups.ok_or_else(|| Refused::new("`num_groups` is not positive"))?;
    let single = stash_type(n)?;
    let (x, scale, bias) = (n.input(0)?, n.input(1)?, n.input(2)?);
    let of = n.e.dtype(x);
    let shape = n.e.shape(x)?;
    let (&[batch, channels], spatial) = shape
        .split_first_chunk()
        .ok_or_else(|| Refused::new("its input has no channels"))?;
    let inner: i64 = spatial.iter().product();
    let wide = n.e.convert(x, single)?;
    let apart =
        n.e.reshape_to(wide, &[batch, groups, channels / groups * inner])?;
    let moments = Moments::of(&mut n.e, apart, &[2])?;
    let factor = inverse_root(&mut n.e, moments.variance, epsilon)?;
    let own = n.e.apply(ScalarFn::Mul, &[moments.centred, factor])?;
    if n.opset < 21 {
        let own = n.e.convert(own, of)?;
        let (scale, bias) = (n.e.per_channel(scale, 3)?, n.e.per_channel(bias, 3)?);
        let own = affine(&mut n.e, own, scale, Some(bias))?;
        return n.e.reshape_to(own, &shape);
    }
    let own = n.e.reshape_to(own, &shape)?;
    let own = n.e.convert(own, of)?;
    let rank = shape.len();
    let (scale, bias) = (n.e.per_channel(scale, rank)?, n.e.per_channel(bias, rank)?);
    affine(&mut n.e, own, scale, Some(bias))
}

/// The dtype that a normalisation is computed in.
fn stash_type(n: &Node<'_, '_, '_>) -> Result<DType, Refused> {
    match n.int("stash_type")? {
        None => Ok(DType::F32),
        Some(own) => crate::tensor::dtype(own),
    }
}

/// The axes from the attribute `axis` on.
fn trailing(n: &Node<'_, '_, '_>, rank: usize) -> Result<Vec<i64>, Refused> {
    let first = n.e.axis(n.int("axis")?.unwrap_or(-1), rank)?;
    Ok((first as i64..rank as i64).collect())
}

fn layer(n: &mut Node<'_, '_, '_>) -> Many {
    let epsilon = epsilon(n)?;
    let single = stash_type(n)?;
    let (x, scale, bias) = (n.input(0)?, n.input(1)?, n.optional(2)?);
    let of = n.e.dtype(x);
    let axes = trailing(n, n.e.rank(x))?;
    let wide = n.e.convert(x, single)?;
    let moments = Moments::of(&mut n.e, wide, &axes)?;
    let factor = inverse_root(&mut n.e, moments.variance, epsilon)?;
    let own = n.e.apply(ScalarFn::Mul, &[moments.centred, factor])?;
    let own = n.e.convert(own, of)?;
    let own = affine(&mut n.e, own, scale, bias)?;
    Ok(vec![own, moments.mean, factor])
}

fn rms(n: &mut Node<'_, '_, '_>) -> One {
    let epsilon = epsilon(n)?;
    let single = stash_type(n)?;
    let (x, scale) = (n.input(0)?, n.input(1)?);
    let of = n.e.dtype(x);
    let axes = trailing(n, n.e.rank(x))?;
    let wide = n.e.convert(x, single)?;
    let square = n.e.apply(ScalarFn::Mul, &[wide, wide])?;
    let mean = Mean::with()
        .axes(&axes)
        .keepdims(true)
        .build(&mut n.e, square)?;
    let factor = inverse_root(&mut n.e, mean, epsilon)?;
    let own = n.e.apply(ScalarFn::Mul, &[wide, factor])?;
    let own = n.e.convert(own, of)?;
    affine(&mut n.e, own, scale, None)
}

fn lp(n: &mut Node<'_, '_, '_>) -> One {
    let axis = n.int("axis")?.unwrap_or(-1);
    let p = n.int("p")?.unwrap_or(2);
    let x = n.input(0)?;
    let of_one = match p {
        1 => n.e.apply(ScalarFn::Abs, &[x])?,
        2 => n.e.apply(ScalarFn::Mul, &[x, x])?,
        p => return Err(Refused::new(format!("`p` {p} is not supported"))),
    };
    let sum = Sum::with()
        .axes(&[axis])
        .keepdims(true)
        .build(&mut n.e, of_one)?;
    let norm = match p {
        1 => sum,
        _ => n.e.apply(ScalarFn::Sqrt, &[sum])?,
    };
    // A slice of zeros stays one.
    let zero = n.e.number(n.e.dtype(x), 0.0);
    let is_zero = mind_core::ops::compare::Compare::with(mind_core::ops::compare::Direction::Eq)
        .build(&mut n.e, norm, zero)?;
    let own = n.e.apply(ScalarFn::Div, &[x, norm])?;
    n.e.apply(ScalarFn::Select, &[is_zero, zero, own])
}

/// `x / (bias + alpha / size * sum of squares of near channels) ^ beta`.
fn local_response(n: &mut Node<'_, '_, '_>) -> One {
    let size = n.int("size")?.filter(|own| *own > 0);
    let size = size.ok_or_else(|| Refused::new("`size` is not positive"))?;
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
