//! Imports normalisations.

use mind_convert::{EmitCore, scalar};
use mind_core::ops::normalize::{LayerNorm, epsilon};
use mind_core::ops::reduce::Mean;
use mind_ir::OpId;
use mind_ir::opdef::Op;
use mind_mil::MilOp;
use mind_mil::call::{ArgState, floats};
use mind_mil::ops::normalization as norm;

use crate::emit::{Emit, Import, One};
use crate::reduce::Over;

pub(crate) const ROWS: &[(&MilOp, Import)] = &[(&norm::LAYER_NORM, layer)];

/// Imports a layer normalisation as core's `LayerNorm` if that computes the same, else as the ops that define it.
fn layer(op: OpId, e: &mut Emit<'_>) -> One {
    let x = e.argument(op, "x")?;
    let (x, rank, dtype) = (e.float(x)?, e.rank(x), e.dtype(x));
    let call = e.call(op)?;
    let axes = match call.ints("axes") {
        ArgState::Known(axes) => call.axes(&axes, rank)?,
        _ => (0..rank).collect(),
    };
    let small = call.float("epsilon").unwrap_or(1e-5);
    let mut result =
        if axes[..] == [rank - 1] && floats(&scalar(dtype, small)) == floats(&epsilon(dtype)) {
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
            let factor = e.reshape_to(factor, &shape)?;
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
