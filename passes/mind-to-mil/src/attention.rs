//! Attention: one op where the engine runs it as such, or head by head in the layout that the engine prefers.

use mind_convert::Refusal;
use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};
use mind_mil::Opset;
use mind_mil::ops::activation::SOFTMAX;
use mind_mil::ops::binary::{ADD, MUL};
use mind_mil::ops::linear::{EINSUM, SCALED_DOT_PRODUCT_ATTENTION};
use mind_mil::ops::tensor::CONCAT;

use crate::config::Layout;
use crate::emit::Argument::{Flag, Int, Number, Value, Values, Word};
use crate::emit::{Emit, Lowered};
use crate::matching::{argument, ints, made_by};
use crate::movement::slice;

/// Minimum number of heads for which the engine runs attention as one op. Source: MIL primer, "Scaled dot-product
/// attention".
const HEADS: i64 = 64;
/// Minimum number of positions for the same.
const POSITIONS: i64 = 496;
/// Positions that fill a last axis of 64 bytes, from which splitting the heads pays.
const FULL_POSITIONS: i64 = 32;
/// Maximum number of heads that are split, because each becomes about ten ops.
const MOST_APART: i64 = 32;
/// Returns the relative tolerance between a scale and the reciprocal root of the depth: the rounding error of the
/// scale, or of its reciprocal, in the dtype of the program.
fn scale_error(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 2f64.powi(-10),
        _ => 2f64.powi(-23),
    }
}

/// `softmax(q k^T scale + mask) v`.
struct Attention {
    query: ValueId,
    key: ValueId,
    values: ValueId,
    scale: f64,
    mask: Option<ValueId>,
    /// Batch, heads, query positions, depth. The fused op takes batches of any rank.
    shape: Vec<i64>,
}

/// Lowers the attention whose last op is the product `op`, as one op or head by head. Returns `None` to leave it as
/// separate ops.
pub(crate) fn found(e: &mut Emit<'_, '_>, op: OpId) -> Option<Lowered> {
    let attention = Attention::of(e, op)?;
    let depth = *attention.shape.last()?;
    let expected = 1.0 / (depth as f64).sqrt();
    let error = scale_error(e.dtype(attention.query));
    let scaled = (attention.scale - expected).abs() <= error * expected;
    let is_wanted = match attention.shape[..] {
        _ if e.config.layout == Layout::Keep => attention.mask_spreads(e),
        [_, heads, positions, _] => heads >= HEADS && positions >= POSITIONS,
        _ => false,
    };
    if scaled && e.config.opset >= Opset::Ios18 && is_wanted {
        return Some(attention.fused(e));
    }
    let &[_, heads, positions, _] = &attention.shape[..] else {
        return None;
    };
    let apart = match e.config.layout {
        Layout::Keep => false,
        Layout::Ane => true,
        Layout::Auto => positions >= FULL_POSITIONS && heads <= MOST_APART,
    };
    (apart && attention.mask_splits(e)).then(|| attention.head_by_head(e))
}

impl Attention {
    fn of(e: &Emit<'_, '_>, op: OpId) -> Option<Attention> {
        if ints(e, op, "transpose_x")? != [0] || ints(e, op, "transpose_y")? != [0] {
            return None;
        }
        let (weights, values) = (argument(e, op, "x")?, argument(e, op, "y")?);
        let softmax = made_by(e, weights, "softmax")?;
        let axis = ints(e, softmax, "axis")?[0];
        if axis != -1 && axis != e.g().ty(weights).rank() as i64 - 1 {
            return None;
        }
        let scores = argument(e, softmax, "x")?;
        let (scaled, mask) = match made_by(e, scores, "add") {
            Some(add) => (argument(e, add, "x")?, Some(argument(e, add, "y")?)),
            None => (scores, None),
        };
        let (products, scale) = match (made_by(e, scaled, "mul"), made_by(e, scaled, "real_div")) {
            (Some(mul), _) => (argument(e, mul, "x")?, e.uniform(argument(e, mul, "y")?)?),
            (_, Some(div)) => {
                let divisor = e.uniform(argument(e, div, "y")?)?;
                (argument(e, div, "x")?, 1.0 / divisor)
            }
            _ => (scaled, 1.0),
        };
        let product = made_by(e, products, "matmul")?;
        if ints(e, product, "transpose_x")? != [0] || ints(e, product, "transpose_y")? != [0] {
            return None;
        }
        let (query, flipped) = (argument(e, product, "x")?, argument(e, product, "y")?);
        let transpose = made_by(e, flipped, "transpose")?;
        let key = argument(e, transpose, "x")?;
        let shape = e.shape(query).ok()?;
        let outer = shape.len().checked_sub(2).filter(|&outer| outer > 0)?;
        let alike = |value: ValueId| {
            e.shape(value)
                .is_ok_and(|own| own.len() == shape.len() && own[..outer] == shape[..outer])
        };
        let mut flipped: Vec<i64> = (0..shape.len() as i64).collect();
        flipped.swap(outer, outer + 1);
        let fits = ints(e, transpose, "perm")? == flipped
            && alike(key)
            && alike(values)
            && scale.is_finite();
        fits.then_some(Attention {
            query,
            key,
            values,
            scale,
            mask,
            shape,
        })
    }

    fn fused(&self, e: &mut Emit<'_, '_>) -> Lowered {
        let mut args = vec![
            ("query", Value(self.query)),
            ("key", Value(self.key)),
            ("value", Value(self.values)),
        ];
        args.extend(self.mask.map(|mask| ("attn_mask", Value(mask))));
        e.op(&SCALED_DOT_PRODUCT_ATTENTION, &args)
    }

    /// Returns whether the fused op can add the mask.
    fn mask_spreads(&self, e: &Emit<'_, '_>) -> bool {
        let Some(mask) = self.mask else { return true };
        let (Ok(own), Ok(key)) = (e.shape(mask), e.shape(self.key)) else {
            return false;
        };
        let scores = [
            &self.shape[..self.shape.len() - 1],
            &key[key.len() - 2..key.len() - 1],
        ]
        .concat();
        let Some(outer) = scores.len().checked_sub(own.len()) else {
            return false;
        };
        let pairs = own.iter().zip(&scores[outer..]);
        own.last() == scores.last() && pairs.into_iter().all(|(own, all)| own == all || *own == 1)
    }

    /// Returns whether the mask can be split by heads: it has one part for all of them, or one for each.
    fn mask_splits(&self, e: &Emit<'_, '_>) -> bool {
        let Some(mask) = self.mask else { return true };
        match e.shape(mask).as_deref() {
            Ok([_, _]) => true,
            Ok(&[batch, heads, _, _]) => {
                [1, self.shape[0]].contains(&batch) && [1, self.shape[1]].contains(&heads)
            }
            _ => false,
        }
    }

    /// Computes each head on its own, with keys as `[B, S, 1, D]` and queries and values as `[B, D, 1, S]`. The long
    /// axis is last and no product transposes its operands; the order of the operands in an einsum equation matters for
    /// that.
    fn head_by_head(&self, e: &mut Emit<'_, '_>) -> Lowered {
        let dtype = e.dtype(self.query);
        let query = match self.scale {
            1.0 => self.query,
            scale => {
                let args = [("x", Value(self.query)), ("y", Number(scale, dtype))];
                e.op(&MUL, &args)?
            }
        };
        let query = e.transpose(query, &[0, 3, 1, 2])?;
        let key = e.transpose(self.key, &[0, 2, 1, 3])?;
        let values = e.transpose(self.values, &[0, 3, 1, 2])?;
        let heads: Result<Vec<ValueId>, Refusal> = (0..self.shape[1])
            .map(|head| {
                let [query, key, values] = [
                    part(e, query, 2, head)?,
                    part(e, key, 2, head)?,
                    part(e, values, 2, head)?,
                ];
                let mut scores = einsum(e, "bkhc,bchq->bkhq", [key, query])?;
                if let Some(mask) = self.mask {
                    let mask = self.mask_of(e, mask, head)?;
                    scores = e.op(&ADD, &[("x", Value(scores)), ("y", Value(mask))])?;
                }
                let weights = e.op(&SOFTMAX, &[("x", Value(scores)), ("axis", Int(1))])?;
                einsum(e, "bchk,bkhq->bchq", [values, weights])
            })
            .collect();
        let heads = heads?;
        let joined = match heads[..] {
            [one] => one,
            _ => e.op(
                &CONCAT,
                &[
                    ("values", Values(&heads)),
                    ("axis", Int(2)),
                    ("interleave", Flag(false)),
                ],
            )?,
        };
        e.transpose(joined, &[0, 2, 3, 1])
    }

    /// Returns the mask that is added to the scores `[B, S, 1, L]` of one head.
    fn mask_of(&self, e: &mut Emit<'_, '_>, mask: ValueId, head: i64) -> Lowered {
        let shape = e.shape(mask)?;
        let own = match shape[..] {
            [rows, columns] => e.constant_or_reshaped(mask, &[1, 1, rows, columns])?,
            [_, 1, _, _] => mask,
            _ => part(e, mask, 1, head)?,
        };
        e.transpose(own, &[0, 3, 1, 2])
    }
}

/// Returns the slice of `x` at position `at` of `axis`, which is kept with extent 1.
fn part(e: &mut Emit<'_, '_>, x: ValueId, axis: usize, at: i64) -> Lowered {
    let shape = e.shape(x)?;
    if shape[axis] == 1 {
        return Ok(x);
    }
    let mut lists = [vec![0; shape.len()], shape.clone(), vec![1; shape.len()]];
    (lists[0][axis], lists[1][axis]) = (at, at + 1);
    slice(e, x, &lists)
}

pub(crate) fn einsum(e: &mut Emit<'_, '_>, equation: &str, values: [ValueId; 2]) -> Lowered {
    let args = [("values", Values(&values)), ("equation", Word(equation))];
    e.op(&EINSUM, &args)
}
