//! Imports attention and rotary embeddings.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::compare::{Compare, Direction};
use mind_core::ops::contract::MatMul;
use mind_core::ops::index::{Gather, Slice};
use mind_core::ops::normalize::Softmax;
use mind_core::ops::pad::PadOp;
use mind_core::ops::reduce::Max;
use mind_core::ops::shape::ExpandDims;
use mind_ir::ValueId;
use mind_ir::attr::OPEN_END;
use mind_ir::scalar::ScalarFn;
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim};

use super::place::elements;
use super::{Many, Operator};
use crate::import::emit::{Emit, One};
use crate::import::node::Node;
use crate::import::value::Extent;
use crate::tensor::dtype;

pub(super) const ROWS: &[Operator] = &[
    Operator::many("Attention", &[23, 24, 28], attention),
    Operator::one("RotaryEmbedding", &[23], rotary),
];

/// Returns the refusal of an operand of attention by its rank.
pub(super) fn wrong_rank(e: &Emit<'_>, x: ValueId, expected: &str) -> Refusal {
    Refusal::rank("an operand".to_owned(), e.g().type_text(x), expected)
}

/// Splits `[batch, positions, heads * features]` to `[batch, heads, positions, features]`.
pub(super) fn heads(e: &mut Emit<'_>, x: ValueId, count: Option<i64>) -> One {
    match e.dims(x)[..] {
        [_, _, _, _] => Ok(x),
        [_, _, _] => {
            let count = count.filter(|own| *own > 0);
            let count = count.ok_or_else(|| Refusal::missing("the number of heads".to_owned()))?;
            let features = e.extent(x, 2)? / count;
            let (batch, positions) = (e.extent_at(x, 0), e.extent_at(x, 1));
            let shape = [
                batch,
                positions,
                Extent::Known(count),
                Extent::Known(features),
            ];
            let apart = e.reshape_extents(x, &shape)?;
            e.transpose(apart, &[0, 2, 1, 3])
        }
        _ => Err(wrong_rank(e, x, "3 or 4")),
    }
}

/// Merges the heads, as the inverse of [`heads`].
pub(super) fn together(e: &mut Emit<'_>, x: ValueId) -> One {
    let moved = e.transpose(x, &[0, 2, 1, 3])?;
    let &[batch, positions, _, _] = &e.extents_of(moved)[..] else {
        return Err(wrong_rank(e, moved, "4"));
    };
    let features = e.extent(moved, 2)? * e.extent(moved, 3)?;
    e.reshape_extents(moved, &[batch, positions, Extent::Known(features)])
}

/// Repeats each head `count` times, with the copies next to each other.
pub(super) fn repeated(e: &mut Emit<'_>, x: ValueId, count: i64) -> One {
    let &[batch, own, positions, features] = &e.extents_of(x)[..] else {
        return Err(wrong_rank(e, x, "4"));
    };
    let heads = elements(&[e.extent(x, 1)?, count])?;
    let apart = ExpandDims::with(&[2]).build(e, x)?;
    let shape = [batch, own, Extent::Known(count), positions, features];
    let copies = e.broadcast_extents(apart, &shape)?;
    let shape = [batch, Extent::Known(heads), positions, features];
    e.reshape_extents(copies, &shape)
}

/// The bias that is added to attention scores, including masks as minus infinity.
struct Bias<'e, 'g> {
    e: &'e mut Emit<'g>,
    dtype: DType,
    /// The numbers of query and key positions.
    positions: [Extent; 2],
    /// The position of the first query among the keys.
    offset: ValueId,
    sum: Option<ValueId>,
}

impl Bias<'_, '_> {
    /// Masks all scores except those where `allowed` is true.
    fn allow(&mut self, allowed: ValueId) -> Result<(), Refusal> {
        let e = &mut *self.e;
        let hidden = e.number(self.dtype, f64::NEG_INFINITY);
        let sum = self.sum.unwrap_or_else(|| e.number(self.dtype, 0.0));
        self.sum = Some(e.apply(ScalarFn::Select, &[allowed, sum, hidden])?);
        Ok(())
    }

    /// Adds a mask, either boolean or a bias. Keys beyond the end of the mask are masked.
    fn mask(&mut self, mut mask: ValueId) -> Result<(), Refusal> {
        let e = &mut *self.e;
        let rank = e.rank(mask);
        let is_choice = e.dtype(mask) == DType::Bool;
        let last = e.dims(mask).last().copied();
        if let (Some(Dim::Fixed(own)), Dim::Fixed(keys)) = (last, self.positions[1].dim())
            && own < keys
        {
            let (low, mut high) = (vec![0; rank], vec![0; rank]);
            high[rank - 1] = keys - own;
            let fill = e.number(
                e.dtype(mask),
                if is_choice { 0.0 } else { f64::NEG_INFINITY },
            );
            mask = PadOp::with(&low, &high).build(e, mask, Some(fill))?;
        }
        if is_choice {
            return self.allow(mask);
        }
        self.sum = Some(e.convert(mask, self.dtype)?);
        Ok(())
    }

    /// Returns the position of each query minus the position of each key.
    fn distance(&mut self) -> One {
        let [queries, keys] = self.positions;
        let e = &mut *self.e;
        let one = Extent::Known(1);
        let query = e.iota(DType::I64, &[queries, one], 0)?;
        let key = e.iota(DType::I64, &[one, keys], 1)?;
        let query = e.apply(ScalarFn::Add, &[query, self.offset])?;
        e.apply(ScalarFn::Sub, &[query, key])
    }

    /// Masks the keys that are more than `bound` positions before (`sign` 1) or after (-1) a query.
    fn within(&mut self, sign: f64, bound: i64) -> Result<(), Refusal> {
        let distance = self.distance()?;
        let e = &mut *self.e;
        let far = e.apply_number(ScalarFn::Mul, distance, sign)?;
        let bound = e.number(DType::I64, bound as f64);
        let near = Compare::with(Direction::Le).build(e, far, bound)?;
        self.allow(near)
    }
}

fn attention(n: &mut Node<'_, '_, '_>) -> Many {
    let causal = n.flag("is_causal")?;
    let (own_heads, key_heads) = (n.int("q_num_heads")?, n.int("kv_num_heads")?);
    let softcap = n.float("softcap")?.unwrap_or(0.0);
    let precision = n
        .int("softmax_precision")?
        .filter(|own| *own != 0)
        .map(dtype)
        .transpose()?;
    let mode = n.int("qk_matmul_output_mode")?.unwrap_or(0);
    let windows = [n.int("left_window_size")?, n.int("right_window_size")?];
    let scale = n.float("scale")?;
    let (query, key, value) = (n.input(0)?, n.input(1)?, n.input(2)?);
    let is_flat = n.e.rank(query) == 3;
    let of = n.e.dtype(query);
    let query = heads(&mut n.e, query, own_heads)?;
    let mut key = heads(&mut n.e, key, key_heads)?;
    let mut value = heads(&mut n.e, value, key_heads)?;
    let lengths = n.optional(6)?;
    let mut offset = n.e.tensor(&Tensor::scalar(0i64));
    if let Some(past) = n.optional(4)? {
        offset = n.e.extent_value(past, 2)?;
        key = n.e.concat(&[past, key], 2)?;
    } else if let Some(lengths) = lengths {
        let wide = n.e.convert(lengths, DType::I64)?;
        let apart = ExpandDims::with(&[1, 2, 3]).build(&mut n.e, wide)?;
        let queries = n.e.extent_value(query, 2)?;
        offset = n.e.apply(ScalarFn::Sub, &[apart, queries])?;
    }
    if let Some(past) = n.optional(5)? {
        value = n.e.concat(&[past, value], 2)?;
    }
    let present = [key, value];
    let mask = n.optional(3)?;
    let positions = [n.e.extent_at(query, 2), n.e.extent_at(key, 2)];
    let mut bias = Bias {
        e: &mut n.e,
        dtype: of,
        positions,
        offset,
        sum: None,
    };
    if let Some(mask) = mask {
        bias.mask(mask)?;
    }
    if causal {
        bias.within(-1.0, 0)?;
    }
    for (sign, window) in [1.0, -1.0].into_iter().zip(windows) {
        if let Some(window @ 0..) = window {
            bias.within(sign, window)?;
        }
    }
    if let Some(lengths) = lengths {
        let e = &mut *bias.e;
        let wide = e.convert(lengths, DType::I64)?;
        let ends = ExpandDims::with(&[1, 2, 3]).build(e, wide)?;
        let place = e.iota(DType::I64, &[positions[1]], 0)?;
        let inside = Compare::with(Direction::Lt).build(e, place, ends)?;
        bias.allow(inside)?;
    }
    let bias = bias.sum;
    let e = &mut n.e;
    let (mut scores, value) = scores(e, query, [key, value], scale)?;
    if softcap > 0.0 {
        let small = e.apply_number(ScalarFn::Div, scores, softcap)?;
        let curve = e.apply(ScalarFn::Tanh, &[small])?;
        scores = e.apply_number(ScalarFn::Mul, curve, softcap)?;
    }
    let mut shown = scores;
    if let Some(bias) = bias {
        scores = e.apply(ScalarFn::Add, &[scores, bias])?;
    }
    if mode == 2 {
        shown = scores;
    }
    let scores = e.convert(scores, precision.unwrap_or(of))?;
    let mut weights = Softmax::with().axis(-1).build(e, scores)?;
    if let Some(bias) = bias
        && (mask.is_some() || lengths.is_some())
    {
        weights = seen(e, weights, bias)?;
    }
    let weights = e.convert(weights, of)?;
    if mode == 3 {
        shown = weights;
    }
    let mut result = MatMul::build(e, weights, value)?;
    if is_flat {
        result = together(e, result)?;
    }
    Ok(vec![result, present[0], present[1], shown])
}

/// Returns the scaled scores of queries and keys for some heads, and the values for as many heads.
pub(super) fn scores(
    e: &mut Emit<'_>,
    query: ValueId,
    [mut key, mut value]: [ValueId; 2],
    scale: Option<f64>,
) -> Result<(ValueId, ValueId), Refusal> {
    let (many, few) = (e.extent(query, 1)?, e.extent(key, 1)?);
    if many != few {
        key = repeated(e, key, many / few.max(1))?;
        value = repeated(e, value, many / few.max(1))?;
    }
    let features = e.extent(query, 3)? as f64;
    let root = scale.unwrap_or(1.0 / features.sqrt()).sqrt();
    let query = e.apply_number(ScalarFn::Mul, query, root)?;
    let key = e.transpose(key, &[0, 1, 3, 2])?;
    let key = e.apply_number(ScalarFn::Mul, key, root)?;
    Ok((MatMul::build(e, query, key)?, value))
}

/// Returns the weights, with 0 for queries whose keys are all masked.
fn seen(e: &mut Emit<'_>, weights: ValueId, bias: ValueId) -> One {
    let largest = Max::with().axes(&[-1]).keepdims(true).build(e, bias)?;
    let hidden = e.number(e.dtype(bias), f64::NEG_INFINITY);
    let sees_none = Compare::with(Direction::Eq).build(e, largest, hidden)?;
    let zero = e.number(e.dtype(weights), 0.0);
    e.apply(ScalarFn::Select, &[sees_none, zero, weights])
}

fn rotary(n: &mut Node<'_, '_, '_>) -> One {
    let interleaved = n.flag("interleaved")?;
    let part = n.int("rotary_embedding_dim")?.unwrap_or(0);
    let count = n.int("num_heads")?;
    let given = n.input(0)?;
    let is_flat = n.e.rank(given) == 3;
    let x = heads(&mut n.e, given, count)?;
    let (mut cos, mut sin) = (n.input(1)?, n.input(2)?);
    if let Some(positions) = n.optional(3)? {
        cos = Gather::with().build(&mut n.e, cos, positions)?;
        sin = Gather::with().build(&mut n.e, sin, positions)?;
    }
    let own = rotated(&mut n.e, x, [cos, sin], part, interleaved)?;
    if is_flat {
        together(&mut n.e, own)
    } else {
        Ok(own)
    }
}

/// Rotates pairs of the first `part` features, or of all if it is 0, by the angle of their position. The cosines and
/// sines are `[batch, positions, pairs]`, with a batch of 1 to share them.
pub(super) fn rotated(
    e: &mut Emit<'_>,
    x: ValueId,
    [cos, sin]: [ValueId; 2],
    part: i64,
    interleaved: bool,
) -> One {
    let features = e.extent(x, 3)?;
    let part = if part == 0 { features } else { part };
    let cos = ExpandDims::with(&[1]).build(e, cos)?;
    let sin = ExpandDims::with(&[1]).build(e, sin)?;
    let turned = e.part(x, 3, 0, part)?;
    let pair: [ValueId; 2] = match interleaved {
        true => [every_second(e, turned, 0)?, every_second(e, turned, 1)?],
        false => [
            e.part(turned, 3, 0, part / 2)?,
            e.part(turned, 3, part / 2, part)?,
        ],
    };
    let product = |e: &mut Emit<'_>, a, b| e.apply(ScalarFn::Mul, &[a, b]);
    let (near, far) = (product(e, cos, pair[0])?, product(e, sin, pair[1])?);
    let first = e.apply(ScalarFn::Sub, &[near, far])?;
    let (near, far) = (product(e, sin, pair[0])?, product(e, cos, pair[1])?);
    let second = e.apply(ScalarFn::Add, &[near, far])?;
    let result = match interleaved {
        true => {
            let first = ExpandDims::with(&[4]).build(e, first)?;
            let second = ExpandDims::with(&[4]).build(e, second)?;
            let both = e.concat(&[first, second], 4)?;
            let shape = e.extents_of(turned);
            e.reshape_extents(both, &shape)?
        }
        false => e.concat(&[first, second], 3)?,
    };
    if part == features {
        return Ok(result);
    }
    let rest = e.part(x, 3, part, features)?;
    e.concat(&[result, rest], 3)
}

/// Returns every second feature from `start` on.
fn every_second(e: &mut Emit<'_>, x: ValueId, start: i64) -> One {
    let slice = Slice::with(&[0, 0, 0, start], &[OPEN_END; 4], &[1, 1, 1, 2]).build(e, x)?;
    Ok(slice)
}
