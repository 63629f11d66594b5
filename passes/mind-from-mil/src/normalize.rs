//! Normalisations.

use mind_core::ops::normalize::{LayerNorm, epsilon};
use mind_core::ops::reduce::{Mean, Sum};
use mind_ir::opdef::Op;
use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};
use mind_mil::MilOp;
use mind_mil::call::{ArgState, floats};
use mind_mil::ops::normalization as norm;

use crate::emit::{Emit, Import, Imported, number};
use crate::reduce::Over;
use crate::refuse::Refused;

pub(crate) const ROWS: &[(&MilOp, Import)] = &[
    (&norm::LAYER_NORM, layer),
    (&norm::BATCH_NORM, |op, e| {
        let (mean, variance) = (channels(op, e, "mean")?, channels(op, e, "variance")?);
        let missing = || Refused::new("`mean` or `variance` is left out");
        let moments = (mean.ok_or_else(missing)?, variance.ok_or_else(missing)?);
        shifted(op, e, |_, _| Ok(moments))
    }),
    (&norm::INSTANCE_NORM, |op, e| {
        shifted(op, e, |e, x| {
            let spatial = Over {
                axes: (2..e.rank(x) as i64).collect(),
                keep: true,
            };
            let mean = spatial.apply(e, Mean::DEF, x)?;
            let deviation = e.sub(x, mean)?;
            let squares = e.mul(deviation, deviation)?;
            Ok((mean, spatial.apply(e, Mean::DEF, squares)?))
        })
    }),
    (&norm::L2_NORM, |op, e| {
        let epsilon = e.call(op)?.float("epsilon").unwrap_or(1e-6);
        let x = e.argument(op, "x")?;
        let rank = e.rank(x) as i64;
        e.rounding_once(x, |e, x| {
            let last = Over {
                axes: (rank - 3..rank).collect(),
                keep: true,
            };
            let squares = e.mul(x, x)?;
            let sum = last.apply(e, Sum::DEF, squares)?;
            let sum = e.add_n(sum, epsilon)?;
            let norm = e.sqrt(sum)?;
            e.div(x, norm)
        })
    }),
];

/// As core's `LayerNorm` where that is what is asked for, else the ops that define it.
fn layer(op: OpId, e: &mut Emit<'_>) -> Imported {
    let x = e.argument(op, "x")?;
    let (x, rank, dtype) = (e.float(x)?, e.rank(x), e.dtype(x));
    let call = e.call(op)?;
    let axes = match call.ints("axes") {
        ArgState::Known(axes) => call.axes(&axes, rank)?,
        _ => (0..rank).collect(),
    };
    let small = call.float("epsilon").unwrap_or(1e-5);
    let mut result =
        if axes[..] == [rank - 1] && floats(&number(dtype, small)) == floats(&epsilon(dtype)) {
            LayerNorm::build(&mut e.b, x)?
        } else {
            let over = Over {
                axes: axes.iter().map(|&axis| axis as i64).collect(),
                keep: true,
            };
            let center = over.apply(e, Mean::DEF, x)?;
            let deviation = e.sub(x, center)?;
            let squares = e.mul(deviation, deviation)?;
            let variance = over.apply(e, Mean::DEF, squares)?;
            let shifted = e.add_n(variance, small)?;
            let scale = e.sqrt(shifted)?;
            e.div(deviation, scale)?
        };
    let shape = e.shape(x)?;
    let own = |at: usize| if axes.contains(&at) { shape[at] } else { 1 };
    let shape: Vec<i64> = (0..rank).map(own).collect();
    for (name, scales) in [("gamma", true), ("beta", false)] {
        if let Some(factor) = e.optional(op, name)? {
            let factor = e.reshape(factor, &shape)?;
            let factor = e.convert(factor, dtype)?;
            result = if scales {
                e.mul(result, factor)?
            } else {
                e.add(result, factor)?
            };
        }
    }
    Ok(result)
}

/// `(x - mean) gamma / sqrt(variance + epsilon) + beta` in `f32`, rounded once.
fn shifted(
    op: OpId,
    e: &mut Emit<'_>,
    moments: impl FnOnce(&mut Emit<'_>, ValueId) -> Result<(ValueId, ValueId), Box<Refused>>,
) -> Imported {
    let epsilon = f64::from(e.call(op)?.float("epsilon").unwrap_or(1e-5) as f32);
    let (gamma, beta) = (channels(op, e, "gamma")?, channels(op, e, "beta")?);
    let x = e.argument(op, "x")?;
    e.rounding_once(x, |e, x| {
        let (mean, variance) = moments(e, x)?;
        let variance = e.add_n(variance, epsilon)?;
        let root = e.sqrt(variance)?;
        let gamma = match gamma {
            Some(gamma) => gamma,
            None => e.number(DType::F32, 1.0),
        };
        let scale = e.div(gamma, root)?;
        let centered = e.sub(x, mean)?;
        let result = e.mul(centered, scale)?;
        match beta {
            Some(beta) => e.add(result, beta),
            None => Ok(result),
        }
    })
}

/// A list of one number a channel as `[C, 1, ..]` in `f32`.
fn channels(op: OpId, e: &mut Emit<'_>, name: &str) -> Result<Option<ValueId>, Box<Refused>> {
    let x = e.argument(op, "x")?;
    let mut shape = vec![1; e.rank(x).saturating_sub(1)];
    let Some(list) = e.optional(op, name)? else {
        return Ok(None);
    };
    shape[0] = e.shape(list)?.iter().product();
    let list = e.reshape(list, &shape)?;
    Ok(Some(e.convert(list, DType::F32)?))
}
