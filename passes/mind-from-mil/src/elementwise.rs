//! Ops that act at every position alone.

use mind_core::ops::compare::{Compare, Direction, Select};
use mind_core::ops::elementwise::Sigmoid;
use mind_core::ops::power::{Pow, Rsqrt};
use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};
use mind_mil::MilOp;
use mind_mil::ops::{activation as act, binary, unary};
use mind_mil::scalar::function_of;

use crate::emit::{Emit, Import, Imported};
use crate::refuse::Refused;

/// The functions that are made of several ops; the others are rows of [`mind_mil::scalar`].
pub(crate) const ROWS: &[(&MilOp, Import)] = &[
    (&unary::SQUARE, |op, e| {
        let x = e.argument(op, "x")?;
        e.mul(x, x)
    }),
    (&binary::POW, power),
    (&unary::LOG, |op, e| {
        computed(op, e, |e, x, p| {
            let shifted = e.add_n(x, p.epsilon)?;
            e.log(shifted)
        })
    }),
    (&unary::RSQRT, |op, e| {
        computed(op, e, |e, x, p| {
            let shifted = e.add_n(x, p.epsilon)?;
            Ok(Rsqrt::build(&mut e.b, shifted)?)
        })
    }),
    (&unary::INVERSE, |op, e| {
        computed(op, e, |e, x, p| {
            let shifted = e.add_n(x, p.epsilon)?;
            reciprocal(e, shifted)
        })
    }),
    (&unary::THRESHOLD, |op, e| {
        computed(op, e, |e, x, p| e.max_n(x, p.alpha))
    }),
    (&unary::CLIP, |op, e| {
        computed(op, e, |e, x, p| clamped(e, x, p.alpha, p.beta))
    }),
    (&act::RELU6, |op, e| {
        computed(op, e, |e, x, _| clamped(e, x, 0.0, 6.0))
    }),
    (&act::SILU, |op, e| {
        computed(op, e, |e, x, _| {
            let gate = Sigmoid::build(&mut e.b, x)?;
            e.mul(x, gate)
        })
    }),
    (&act::SOFTSIGN, |op, e| {
        computed(op, e, |e, x, _| {
            let size = e.abs(x)?;
            let below = e.add_n(size, 1.0)?;
            e.div(x, below)
        })
    }),
    (&act::LEAKY_RELU, |op, e| {
        computed(op, e, |e, x, p| leaky(e, x, p.alpha))
    }),
    (&act::PRELU, |op, e| {
        let alpha = per_channel(op, e, "alpha")?;
        computed(op, e, |e, x, _| {
            let below = e.mul(x, alpha)?;
            above_zero(e, x, below)
        })
    }),
    (&act::THRESHOLDED_RELU, |op, e| {
        computed(op, e, |e, x, p| {
            let [alpha, zero] = [p.alpha, 0.0].map(|number| e.number(DType::F32, number));
            let is_kept = Compare::with(Direction::Ge).build(&mut e.b, x, alpha)?;
            Ok(Select::build(&mut e.b, is_kept, x, zero)?)
        })
    }),
    (&act::CLAMPED_RELU, |op, e| {
        computed(op, e, |e, x, p| {
            let result = leaky(e, x, p.alpha)?;
            e.min_n(result, p.beta)
        })
    }),
    (&act::LINEAR_ACTIVATION, |op, e| computed(op, e, line)),
    (&act::SIGMOID_HARD, |op, e| {
        computed(op, e, |e, x, p| {
            let result = line(e, x, p)?;
            clamped(e, result, 0.0, 1.0)
        })
    }),
    (&act::SCALED_TANH, |op, e| {
        computed(op, e, |e, x, p| {
            let scaled = e.mul_n(x, p.beta)?;
            let result = e.tanh(scaled)?;
            e.mul_n(result, p.alpha)
        })
    }),
];

/// The parameters of an op; 0 for those that it does not have.
pub(crate) struct Parameters {
    pub(crate) alpha: f64,
    beta: f64,
    epsilon: f64,
}

/// An op that applies a scalar function: the op of core that applies it, too.
pub(crate) fn scalar(op: OpId, e: &mut Emit<'_>) -> Imported {
    let function = function_of(e.g().def(op).short_name());
    let function = function.ok_or_else(|| Refused::new("core has no such function"))?;
    let names = &["x", "y"][..function.arity()];
    let args: Result<Vec<ValueId>, _> = names.iter().map(|name| e.argument(op, name)).collect();
    let args = args?;
    let dtypes = args.iter().map(|&arg| e.dtype(arg));
    if let Some(dtype) = dtypes
        .into_iter()
        .find(|&dtype| !function.domain().admits(dtype))
    {
        return Err(Refused::new(format!(
            "core does not compute it for {dtype}"
        )));
    }
    Ok(mind_core::apply(&mut e.b, function, &args)?)
}

/// A function of argument `x` in `f32`, rounded once.
pub(crate) fn computed(
    op: OpId,
    e: &mut Emit<'_>,
    function: impl FnOnce(&mut Emit<'_>, ValueId, &Parameters) -> Imported,
) -> Imported {
    let call = e.call(op)?;
    let parameter = |name: &str| f64::from(call.float(name).unwrap_or(0.0) as f32);
    let parameters = Parameters {
        alpha: parameter("alpha"),
        beta: parameter("beta"),
        epsilon: parameter("epsilon"),
    };
    let x = e.argument(op, "x")?;
    e.rounding_once(x, |e, x| function(e, x, &parameters))
}

fn reciprocal(e: &mut Emit<'_>, x: ValueId) -> Imported {
    let one = e.number(e.dtype(x), 1.0);
    e.div(one, x)
}

fn clamped(e: &mut Emit<'_>, x: ValueId, least: f64, most: f64) -> Imported {
    let x = e.max_n(x, least)?;
    e.min_n(x, most)
}

fn line(e: &mut Emit<'_>, x: ValueId, p: &Parameters) -> Imported {
    let x = e.mul_n(x, p.alpha)?;
    e.add_n(x, p.beta)
}

/// `x` where it is not negative, else `below`.
pub(crate) fn above_zero(e: &mut Emit<'_>, x: ValueId, below: ValueId) -> Imported {
    let zero = e.number(e.dtype(x), 0.0);
    let is_above = Compare::with(Direction::Ge).build(&mut e.b, x, zero)?;
    Ok(Select::build(&mut e.b, is_above, x, below)?)
}

fn leaky(e: &mut Emit<'_>, x: ValueId, alpha: f64) -> Imported {
    let below = e.mul_n(x, alpha)?;
    above_zero(e, x, below)
}

/// One parameter a channel, laid out to broadcast along the channels of `x`.
pub(crate) fn per_channel(op: OpId, e: &mut Emit<'_>, name: &str) -> Imported {
    let rank = e.rank(
        e.call(op)?
            .value("x")
            .ok_or_else(|| Refused::new("`x` is left out"))?,
    );
    let own = e.argument(op, name)?;
    let channels = e.shape(own)?.iter().product();
    let mut shape = vec![1; rank - 1];
    shape[0] = channels;
    let own = e.reshape(own, &shape)?;
    e.convert(own, DType::F32)
}

/// A power: of an exponent that products and roots make, these.
fn power(op: OpId, e: &mut Emit<'_>) -> Imported {
    let (x, y) = (e.argument(op, "x")?, e.argument(op, "y")?);
    match same_exponent(op, e) {
        Some(exponent) if e.rank(y) <= e.rank(x) => power_of(e, x, exponent, y),
        _ => any_power(e, x, y),
    }
}

/// The exponent, if it is one number at every position.
fn same_exponent(op: OpId, e: &mut Emit<'_>) -> Option<f64> {
    let exponents = mind_mil::call::floats(&e.known(op, "y").ok()?);
    let first = *exponents.first()?;
    let is_same = exponents.iter().all(|own| *own == first);
    is_same.then_some(first)
}

fn any_power(e: &mut Emit<'_>, x: ValueId, y: ValueId) -> Imported {
    e.float(x)?;
    Ok(Pow::build(&mut e.b, x, y)?)
}

fn power_of(e: &mut Emit<'_>, x: ValueId, exponent: f64, y: ValueId) -> Imported {
    if exponent == 1.0 {
        return Ok(x);
    }
    if exponent == 2.0 {
        return e.mul(x, x);
    }
    if ![3.0, 4.0, 0.5, -0.5, -1.0].contains(&exponent) {
        return any_power(e, x, y);
    }
    e.rounding_once(x, |e, x| match exponent {
        3.0 => {
            let square = e.mul(x, x)?;
            e.mul(square, x)
        }
        4.0 => {
            let square = e.mul(x, x)?;
            e.mul(square, square)
        }
        0.5 => e.sqrt(x),
        -0.5 => {
            let root = e.sqrt(x)?;
            reciprocal(e, root)
        }
        _ => reciprocal(e, x),
    })
}
