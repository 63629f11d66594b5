//! Imports activation functions.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::argmax::ArgMax;
use mind_core::ops::compare::{Compare, Direction};
use mind_core::ops::normalize::Softmax;
use mind_core::ops::reduce::{Max, Sum};
use mind_ir::ValueId;
use mind_ir::scalar::ScalarFn;

use super::Operator;
use super::place::places_along;
use crate::import::emit::{Emit, One};
use crate::import::node::Node;

pub(super) const ROWS: &[Operator] = &[
    Operator::scalar("Relu", &[6, 13, 14], ScalarFn::Relu),
    Operator::one("LeakyRelu", &[6, 16], |n| {
        let alpha = n.float("alpha")?.unwrap_or(f64::from(0.01f32));
        activation(n, Activation::LeakyRelu { alpha })
    }),
    Operator::one("PRelu", &[6, 7, 9, 16], |n| {
        let (x, mut slope) = (n.input(0)?, n.input(1)?);
        if n.opset < 7 && n.e.rank(slope) == 1 {
            slope = n.e.per_channel(slope, n.e.rank(x))?;
        }
        let scaled = n.e.apply(ScalarFn::Mul, &[x, slope])?;
        below_zero(&mut n.e, x, scaled)
    }),
    Operator::one("ThresholdedRelu", &[1, 10, 22], |n| {
        let alpha = n.float("alpha")?.unwrap_or(1.0);
        activation(n, Activation::ThresholdedRelu { alpha })
    }),
    Operator::one("Elu", &[6, 22], |n| {
        let alpha = n.float("alpha")?.unwrap_or(1.0);
        activation(n, Activation::Elu { alpha })
    }),
    Operator::one("Selu", &[6, 22], |n| {
        let alpha = n.float("alpha")?.unwrap_or(1.673_263_2);
        let gamma = n.float("gamma")?.unwrap_or(1.050_701);
        let x = n.input(0)?;
        let curve = exponential(&mut n.e, x, alpha)?;
        let own = below_zero(&mut n.e, x, curve)?;
        n.e.apply_number(ScalarFn::Mul, own, gamma)
    }),
    Operator::one("Celu", &[12], |n| {
        let alpha = n.float("alpha")?.unwrap_or(1.0);
        let x = n.input(0)?;
        let scaled = n.e.apply_number(ScalarFn::Div, x, alpha)?;
        let curve = exponential(&mut n.e, scaled, alpha)?;
        below_zero(&mut n.e, x, curve)
    }),
    Operator::one("HardSigmoid", &[6, 22], |n| {
        let alpha = n.float("alpha")?.unwrap_or(f64::from(0.2f32));
        let beta = n.float("beta")?.unwrap_or(0.5);
        activation(n, Activation::HardSigmoid { alpha, beta })
    }),
    Operator::one("HardSwish", &[14, 22], |n| {
        let x = n.input(0)?;
        let gate = hard_sigmoid(&mut n.e, x, 1.0 / 6.0, 0.5)?;
        n.e.apply(ScalarFn::Mul, &[x, gate])
    }),
    Operator::one("Softplus", &[1, 22], |n| {
        activation(n, Activation::Softplus)
    }),
    Operator::one("Softsign", &[1, 22], |n| {
        activation(n, Activation::Softsign)
    }),
    Operator::one("Mish", &[18, 22], |n| {
        let x = n.input(0)?;
        let soft = softplus(&mut n.e, x)?;
        let gate = n.e.apply(ScalarFn::Tanh, &[soft])?;
        n.e.apply(ScalarFn::Mul, &[x, gate])
    }),
    Operator::one("Swish", &[24], |n| {
        let alpha = n.float("alpha")?.unwrap_or(1.0);
        let x = n.input(0)?;
        swish(&mut n.e, x, alpha)
    }),
    Operator::one("Gelu", &[20], gelu),
    Operator::scalar("Gelu", &[1], ScalarFn::Gelu).of(super::MICROSOFT),
    Operator::one("Shrink", &[9], shrink),
    Operator::one("Softmax", &[1, 11, 13], |n| per_slice(n, softmax)),
    Operator::one("LogSoftmax", &[1, 11, 13], |n| per_slice(n, log_softmax)),
    Operator::one("Hardmax", &[1, 11, 13], |n| per_slice(n, hardmax)),
    Operator::one("SwiGLU", &[28], |n| {
        let alpha = n.float("alpha")?.unwrap_or(1.0);
        let (gate, x) = (n.input(0)?, n.input(1)?);
        let own = swish(&mut n.e, gate, alpha)?;
        n.e.apply(ScalarFn::Mul, &[own, x])
    }),
];

fn activation(n: &mut Node<'_, '_, '_>, activation: Activation) -> One {
    let x = n.input(0)?;
    activation.apply(&mut n.e, x)
}

/// An activation of recurrent layers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Activation {
    Scalar(ScalarFn),
    Affine { alpha: f64, beta: f64 },
    ScaledTanh { alpha: f64, beta: f64 },
    HardSigmoid { alpha: f64, beta: f64 },
    LeakyRelu { alpha: f64 },
    ThresholdedRelu { alpha: f64 },
    Elu { alpha: f64 },
    Softsign,
    Softplus,
}

/// The names of the activations of recurrent layers.
const ACTIVATIONS: &[&str] = &[
    "Relu",
    "Tanh",
    "Sigmoid",
    "Affine",
    "LeakyRelu",
    "ThresholdedRelu",
    "ScaledTanh",
    "HardSigmoid",
    "Elu",
    "Softsign",
    "Softplus",
];

/// The default of an omitted parameter.
enum LeftOut {
    Is(f64),
    /// A default for which ONNX Runtime uses 0 instead.
    Differs(f64),
    None,
}

impl Activation {
    /// Returns the activations called `names`. Each takes its parameters from the front of the lists. Warns about
    /// defaults for which ONNX Runtime uses 0.
    ///
    /// # Errors
    ///
    /// E4108 for an unknown name, E4104 for a missing parameter without a default.
    pub fn list(
        n: &mut Node<'_, '_, '_>,
        names: &[&str],
        alpha: Option<&[f32]>,
        beta: Option<&[f32]>,
    ) -> Result<Vec<Activation>, Refusal> {
        let mut lists = [
            ("activation_alpha", alpha.unwrap_or(&[]).iter()),
            ("activation_beta", beta.unwrap_or(&[]).iter()),
        ];
        let mut found = Vec::with_capacity(names.len());
        for name in names {
            let mut next = |list: usize, default: LeftOut| {
                let (attribute, own) = &mut lists[list];
                match (own.next(), default) {
                    (Some(own), _) => Ok(f64::from(*own)),
                    (None, LeftOut::Is(number)) => Ok(number),
                    (None, LeftOut::Differs(number)) => {
                        n.warn(format!(
                            "`{attribute}` has no entry for \"{name}\": it is {number}, as the standard says, and \
                             0 in ONNX Runtime; give it an entry"
                        ));
                        Ok(number)
                    }
                    (None, LeftOut::None) => {
                        let expected =
                            format!("one for \"{name}\", for which the standard has no default");
                        Err(Refusal::value(*attribute, "short of an entry", expected))
                    }
                }
            };
            found.push(match &name.to_ascii_lowercase()[..] {
                "relu" => Activation::Scalar(ScalarFn::Relu),
                "tanh" => Activation::Scalar(ScalarFn::Tanh),
                "sigmoid" => Activation::Scalar(ScalarFn::Sigmoid),
                "affine" => Activation::Affine {
                    alpha: next(0, LeftOut::Differs(1.0))?,
                    beta: next(1, LeftOut::Is(0.0))?,
                },
                "scaledtanh" => Activation::ScaledTanh {
                    alpha: next(0, LeftOut::None)?,
                    beta: next(1, LeftOut::None)?,
                },
                "hardsigmoid" => Activation::HardSigmoid {
                    alpha: next(0, LeftOut::Is(f64::from(0.2f32)))?,
                    beta: next(1, LeftOut::Is(0.5))?,
                },
                "leakyrelu" => Activation::LeakyRelu {
                    alpha: next(0, LeftOut::Is(f64::from(0.01f32)))?,
                },
                "thresholdedrelu" => Activation::ThresholdedRelu {
                    alpha: next(0, LeftOut::Differs(1.0))?,
                },
                "elu" => Activation::Elu {
                    alpha: next(0, LeftOut::Is(1.0))?,
                },
                "softsign" => Activation::Softsign,
                "softplus" => Activation::Softplus,
                _ => return Err(Refusal::word("activations", name, ACTIVATIONS)),
            });
        }
        Ok(found)
    }

    pub fn apply(self, e: &mut Emit<'_>, x: ValueId) -> One {
        match self {
            Activation::Scalar(function) => e.apply(function, &[x]),
            Activation::Affine { alpha, beta } => {
                let scaled = e.apply_number(ScalarFn::Mul, x, alpha)?;
                e.apply_number(ScalarFn::Add, scaled, beta)
            }
            Activation::ScaledTanh { alpha, beta } => {
                let scaled = e.apply_number(ScalarFn::Mul, x, beta)?;
                let curve = e.apply(ScalarFn::Tanh, &[scaled])?;
                e.apply_number(ScalarFn::Mul, curve, alpha)
            }
            Activation::HardSigmoid { alpha, beta } => hard_sigmoid(e, x, alpha, beta),
            Activation::LeakyRelu { alpha } => {
                let scaled = e.apply_number(ScalarFn::Mul, x, alpha)?;
                below_zero(e, x, scaled)
            }
            Activation::ThresholdedRelu { alpha } => thresholded(e, x, alpha),
            Activation::Elu { alpha } => {
                let curve = exponential(e, x, alpha)?;
                below_zero(e, x, curve)
            }
            Activation::Softsign => softsign(e, x),
            Activation::Softplus => softplus(e, x),
        }
    }
}

/// Returns `x` where it is above `alpha`, and 0 elsewhere.
fn thresholded(e: &mut Emit<'_>, x: ValueId, alpha: f64) -> One {
    let (alpha, zero) = (e.number(e.dtype(x), alpha), e.number(e.dtype(x), 0.0));
    let above = Compare::with(Direction::Gt).build(e, x, alpha)?;
    e.apply(ScalarFn::Select, &[above, x, zero])
}

/// Returns `x / (1 + |x|)`.
fn softsign(e: &mut Emit<'_>, x: ValueId) -> One {
    let size = e.apply(ScalarFn::Abs, &[x])?;
    let above = e.apply_number(ScalarFn::Add, size, 1.0)?;
    e.apply(ScalarFn::Div, &[x, above])
}

/// Returns `other` where `x` is below zero, and `x` elsewhere.
fn below_zero(e: &mut Emit<'_>, x: ValueId, other: ValueId) -> One {
    let zero = e.number(e.dtype(x), 0.0);
    let below = Compare::with(Direction::Lt).build(e, x, zero)?;
    e.apply(ScalarFn::Select, &[below, other, x])
}

/// Returns `alpha (exp(x) - 1)`.
fn exponential(e: &mut Emit<'_>, x: ValueId, alpha: f64) -> One {
    let own = e.apply(ScalarFn::Expm1, &[x])?;
    match alpha {
        1.0 => Ok(own),
        alpha => e.apply_number(ScalarFn::Mul, own, alpha),
    }
}

/// Returns `min(max(alpha x + beta, 0), 1)`.
fn hard_sigmoid(e: &mut Emit<'_>, x: ValueId, alpha: f64, beta: f64) -> One {
    let scaled = e.apply_number(ScalarFn::Mul, x, alpha)?;
    let moved = e.apply_number(ScalarFn::Add, scaled, beta)?;
    let cut = e.apply_number(ScalarFn::Maximum, moved, 0.0)?;
    e.apply_number(ScalarFn::Minimum, cut, 1.0)
}

/// Returns `max(x, 0) + log(1 + exp(-|x|))`.
fn softplus(e: &mut Emit<'_>, x: ValueId) -> One {
    let zero = e.apply_number(ScalarFn::Maximum, x, 0.0)?;
    let size = e.apply(ScalarFn::Abs, &[x])?;
    let away = e.apply(ScalarFn::Neg, &[size])?;
    let small = e.apply(ScalarFn::Exp, &[away])?;
    let rest = e.apply(ScalarFn::Log1p, &[small])?;
    e.apply(ScalarFn::Add, &[zero, rest])
}

fn gelu(n: &mut Node<'_, '_, '_>) -> One {
    let x = n.input(0)?;
    match n.word("approximate")?.unwrap_or("none") {
        "none" => n.e.apply(ScalarFn::Gelu, &[x]),
        "tanh" => tanh_gelu(&mut n.e, x),
        other => Err(Refusal::word("approximate", other, &["none", "tanh"])),
    }
}

/// Returns `x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))`.
pub(super) fn tanh_gelu(e: &mut Emit<'_>, x: ValueId) -> One {
    let square = e.apply(ScalarFn::Mul, &[x, x])?;
    let cube = e.apply(ScalarFn::Mul, &[square, x])?;
    let part = e.apply_number(ScalarFn::Mul, cube, 0.044_715)?;
    let sum = e.apply(ScalarFn::Add, &[x, part])?;
    let scaled = e.apply_number(ScalarFn::Mul, sum, (2.0 / std::f64::consts::PI).sqrt())?;
    let curve = e.apply(ScalarFn::Tanh, &[scaled])?;
    let above = e.apply_number(ScalarFn::Add, curve, 1.0)?;
    let half = e.apply_number(ScalarFn::Mul, x, 0.5)?;
    e.apply(ScalarFn::Mul, &[half, above])
}

/// Returns `x + bias` below `-lambd`, `x - bias` above `lambd`, and 0 elsewhere.
fn shrink(n: &mut Node<'_, '_, '_>) -> One {
    let bias = n.float("bias")?.unwrap_or(0.0);
    let bound = n.float("lambd")?.unwrap_or(0.5);
    let x = n.input(0)?;
    let of = n.e.dtype(x);
    let (high, low, zero) = (
        n.e.number(of, bound),
        n.e.number(of, -bound),
        n.e.number(of, 0.0),
    );
    let below = Compare::with(Direction::Lt).build(&mut n.e, x, low)?;
    let above = Compare::with(Direction::Gt).build(&mut n.e, x, high)?;
    let up = n.e.apply_number(ScalarFn::Add, x, bias)?;
    let down = n.e.apply_number(ScalarFn::Sub, x, bias)?;
    let rest = n.e.apply(ScalarFn::Select, &[above, down, zero])?;
    n.e.apply(ScalarFn::Select, &[below, up, rest])
}

/// Applies a function along one axis. Before opset 13, it is applied along all axes from `axis` on, merged to one.
fn per_slice(n: &mut Node<'_, '_, '_>, function: fn(&mut Emit<'_>, ValueId, i64) -> One) -> One {
    let default = if n.opset < 13 { 1 } else { -1 };
    let axis = n.int("axis")?.unwrap_or(default);
    let x = n.input(0)?;
    let shape = n.e.extents_of(x);
    let axis = n.e.axis(axis, shape.len())?;
    if n.opset >= 13 || axis + 1 == shape.len() {
        return function(&mut n.e, x, axis as i64);
    }
    let (rows, columns) = shape.split_at(axis);
    let flat = [n.e.product(rows)?, n.e.product(columns)?];
    let flat = n.e.reshape_extents(x, &flat)?;
    let own = function(&mut n.e, flat, 1)?;
    n.e.reshape_extents(own, &shape)
}

pub(super) fn softmax(e: &mut Emit<'_>, x: ValueId, axis: i64) -> One {
    Ok(Softmax::with().axis(axis).build(e, x)?)
}

/// Returns `x - max - log(sum(exp(x - max)))`.
pub(super) fn log_softmax(e: &mut Emit<'_>, x: ValueId, axis: i64) -> One {
    let axes = [axis];
    let max = Max::with().axes(&axes).keepdims(true).build(e, x)?;
    let below = e.apply(ScalarFn::Sub, &[x, max])?;
    let powers = e.apply(ScalarFn::Exp, &[below])?;
    let sum = Sum::with().axes(&axes).keepdims(true).build(e, powers)?;
    let log = e.apply(ScalarFn::Log, &[sum])?;
    e.apply(ScalarFn::Sub, &[below, log])
}

/// Returns `x sigmoid(alpha x)`.
pub(super) fn swish(e: &mut Emit<'_>, x: ValueId, alpha: f64) -> One {
    let scaled = match alpha {
        1.0 => x,
        alpha => e.apply_number(ScalarFn::Mul, x, alpha)?,
    };
    let gate = e.apply(ScalarFn::Sigmoid, &[scaled])?;
    e.apply(ScalarFn::Mul, &[x, gate])
}

/// Returns 1 at the first of the largest elements, and 0 elsewhere.
fn hardmax(e: &mut Emit<'_>, x: ValueId, axis: i64) -> One {
    let place = ArgMax::with(axis).keepdims(true).build(e, x)?;
    let at = e.axis(axis, e.rank(x))?;
    let all = places_along(e, x, at, at, e.rank(x))?;
    let largest = Compare::with(Direction::Eq).build(e, place, all)?;
    e.convert(largest, e.dtype(x))
}
