//! Attention as one op, where the engine runs it as one.

use mind_ir::{OpId, ValueId};
use mind_mil::Opset;
use mind_mil::call::argument_names;
use mind_mil::call::written_arguments;
use mind_mil::ops::linear::SCALED_DOT_PRODUCT_ATTENTION;

use crate::emit::Given::Value;
use crate::emit::{Emit, Lowered};

/// From how many heads the engine takes attention as one op. Source: MIL primer, "Scaled dot-product
/// attention".
const HEADS: i64 = 64;
/// From how many positions it does.
const POSITIONS: i64 = 496;
/// How far a scale may be from the reciprocal root of the depth, relatively: halves have 11 bits.
const SCALE_ERROR: f64 = 1e-3;

/// The one op for `softmax(q k^T scale + mask) v`, where `weights` are the softmax and `values` is `v`.
///
/// None where the ops are others, or where there are too few heads or positions for it.
pub(crate) fn fused(e: &mut Emit<'_, '_>, weights: ValueId, values: ValueId) -> Option<Lowered> {
    if e.config.opset < Opset::Ios18 {
        return None;
    }
    let softmax = made_by(e, weights, "softmax")?;
    let rank = e.g().ty(weights).rank() as i64;
    let axis = mind_mil::call::integers(&e.elements(argument(e, softmax, "axis")?)?)[0];
    if axis != -1 && axis != rank - 1 {
        return None;
    }
    let scores = argument(e, softmax, "x")?;
    let (scaled, mask) = match made_by(e, scores, "add") {
        Some(add) => (argument(e, add, "x")?, Some(argument(e, add, "y")?)),
        None => (scores, None),
    };
    let scale = made_by(e, scaled, "mul")?;
    let (products, factor) = (
        argument(e, scale, "x")?,
        e.uniform(argument(e, scale, "y")?)?,
    );
    let product = made_by(e, products, "matmul")?;
    let (query, flipped) = (argument(e, product, "x")?, argument(e, product, "y")?);
    let transpose = made_by(e, flipped, "transpose")?;
    let perm = mind_mil::call::integers(&e.elements(argument(e, transpose, "perm")?)?);
    let key = argument(e, transpose, "x")?;
    let [batch, heads, positions, depth] = e.shape(query).ok()?[..] else {
        return None;
    };
    let expected = 1.0 / (depth as f64).sqrt();
    let alike = |value: ValueId| {
        e.shape(value)
            .is_ok_and(|shape| shape[..2] == [batch, heads])
    };
    let fits = perm == [0, 1, 3, 2]
        && alike(key)
        && alike(values)
        && (factor - expected).abs() <= SCALE_ERROR * expected
        && heads >= HEADS
        && positions >= POSITIONS;
    if !fits {
        return None;
    }
    let mut args = vec![
        ("query", Value(query)),
        ("key", Value(key)),
        ("value", Value(values)),
    ];
    args.extend(mask.map(|mask| ("attn_mask", Value(mask))));
    Some(e.op(&SCALED_DOT_PRODUCT_ATTENTION, &args))
}

/// The op called `name` that made `value` for one reader alone.
fn made_by(e: &Emit<'_, '_>, value: ValueId, name: &str) -> Option<OpId> {
    let op = e.g().defining_op(value)?;
    (e.g().def(op).short_name() == name && e.g().uses(value).count() == 1).then_some(op)
}

fn argument(e: &Emit<'_, '_>, op: OpId, name: &str) -> Option<ValueId> {
    let at = argument_names(written_arguments(e.g(), op)).position(|(own, _)| own == name)?;
    e.g().operands(op).get(at).copied()
}
