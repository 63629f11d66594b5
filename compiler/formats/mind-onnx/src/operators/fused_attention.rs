//! Imports attention as fused by ONNX Runtime's optimisers: with its projections, or with key masks.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::compare::{Compare, Direction};
use mind_core::ops::contract::MatMul;
use mind_core::ops::index::Gather;
use mind_core::ops::normalize::Softmax;
use mind_core::ops::shape::ExpandDims;
use mind_ir::ValueId;
use mind_ir::scalar::ScalarFn;
use mind_ir::types::{DType, Dim};

use super::attention::{heads, rotated, together};
use super::place::{places, places_along};
use super::quantize::optional_point;
use super::quantized::scaled_product;
use super::{MICROSOFT, Many, Operator};
use crate::import::emit::{Emit, One};
use crate::import::node::Node;

pub(super) const ROWS: &[Operator] = &[
    Operator::many("Attention", &[1], |n| {
        let mut all = {
            let (x, weights) = (n.input(0)?, n.input(1)?);
            MatMul::build(&mut n.e, x, weights)?
        };
        if let Some(bias) = n.optional(2)? {
            all = n.e.apply(ScalarFn::Add, &[all, bias])?;
        }
        let (seen, past) = (Seen::of(n, 3, Some(5))?, n.optional(4)?);
        projected(n, all, &seen, past)
    })
    .of(MICROSOFT),
    Operator::many("QAttention", &[1], |n| {
        let operands = [n.input(0)?, n.input(1)?];
        let scales = [n.input(3)?, n.input(4)?];
        let zeros = [optional_point(n, 6)?, optional_point(n, 7)?];
        let all = scaled_product(n, operands, scales, zeros, 2)?;
        let (seen, past) = (Seen::of(n, 5, None)?, n.optional(8)?);
        projected(n, all, &seen, past)
    })
    .of(MICROSOFT),
    Operator::many("MultiHeadAttention", &[1], of_parts).of(MICROSOFT),
    Operator::one("RotaryEmbedding", &[1], rotary).of(MICROSOFT),
];

/// The mask and bias of attention scores.
struct Seen {
    unidirectional: bool,
    /// The number that is added to masked scores.
    filter: f64,
    /// The key mask: a length for each text, or `[batch, keys]` or `[batch, queries, keys]` of 0 and 1.
    mask: Option<ValueId>,
    bias: Option<ValueId>,
    scale: Option<f64>,
}

impl Seen {
    fn of(n: &mut Node<'_, '_, '_>, mask: usize, bias: Option<usize>) -> Result<Seen, Refusal> {
        let bias = bias.map(|at| n.optional(at)).transpose()?.flatten();
        Ok(Seen {
            unidirectional: n.flag("unidirectional")?,
            filter: n.float("mask_filter_value")?.unwrap_or(-10_000.0),
            mask: n.optional(mask)?,
            bias,
            scale: n.float("scale")?.filter(|own| *own != 0.0),
        })
    }

    /// Returns the mask as a bias of scores `[batch, heads, queries, keys]`.
    fn added(&self, e: &mut Emit<'_>, mask: ValueId, key: ValueId, of: DType) -> One {
        let wide = e.convert(mask, DType::I64)?;
        let (axes, seen): (&[i64], _) = match e.dims(mask).len() {
            1 => {
                let ends = ExpandDims::with(&[1]).build(e, wide)?;
                let place = places_along(e, key, 2, 1, 2)?;
                (&[1, 2], Compare::with(Direction::Lt).build(e, place, ends)?)
            }
            2 => (&[1, 2], e.convert(wide, DType::Bool)?),
            3 => (&[1], e.convert(wide, DType::Bool)?),
            rank => {
                return Err(Refusal::rank(
                    "the mask".to_owned(),
                    format_args!("of rank {rank}"),
                    "1, 2 or 3",
                ));
            }
        };
        let seen = ExpandDims::with(axes).build(e, seen)?;
        let (zero, hidden) = (e.number(of, 0.0), e.number(of, self.filter));
        e.apply(ScalarFn::Select, &[seen, zero, hidden])
    }

    /// Returns the attention of operands that are `[batch, heads, positions, features]`.
    fn attend(&self, e: &mut Emit<'_>, [query, key, value]: [ValueId; 3]) -> One {
        let of = e.dtype(query);
        let features = e.extent(query, 3)? as f64;
        let turned = e.transpose(key, &[0, 1, 3, 2])?;
        let scores = MatMul::build(e, query, turned)?;
        let scale = self.scale.unwrap_or(1.0 / features.sqrt());
        let mut scores = e.apply_number(ScalarFn::Mul, scores, scale)?;
        let mask = self.mask.map(|mask| self.added(e, mask, key, of));
        for added in mask.transpose()?.into_iter().chain(self.bias) {
            scores = e.apply(ScalarFn::Add, &[scores, added])?;
        }
        if self.unidirectional {
            let row = places_along(e, query, 2, 0, 2)?;
            let column = places_along(e, key, 2, 1, 2)?;
            let (all, own) = (e.extent_value(key, 2)?, e.extent_value(query, 2)?);
            let past = e.apply(ScalarFn::Sub, &[all, own])?;
            let row = e.apply(ScalarFn::Add, &[row, past])?;
            let seen = Compare::with(Direction::Le).build(e, column, row)?;
            let hidden = e.number(of, f64::NEG_INFINITY);
            scores = e.apply(ScalarFn::Select, &[seen, scores, hidden])?;
        }
        let weights = Softmax::with().axis(-1).build(e, scores)?;
        let own = MatMul::build(e, weights, value)?;
        together(e, own)
    }
}

fn head_count(n: &Node<'_, '_, '_>) -> Result<i64, Refusal> {
    n.positive("num_heads")
}

/// Returns the attention whose queries, keys and values are concatenated in `all`.
fn projected(n: &mut Node<'_, '_, '_>, all: ValueId, seen: &Seen, past: Option<ValueId>) -> Many {
    n.unset(
        &["do_rotary", "past_present_share_buffer"],
        "export with `GroupQueryAttention`, or with the standard operator `Attention`",
    )?;
    n.ignore("rotary_embedding_dim");
    let count = head_count(n)?;
    let sizes = n.ints("qkv_hidden_sizes")?.map(<[i64]>::to_vec);
    let e = &mut n.e;
    let width = e.extent(all, 2)?;
    let sizes = sizes.unwrap_or_else(|| vec![width / 3; 3]);
    let sum = sizes
        .iter()
        .try_fold(0i64, |sum, own| sum.checked_add(*own).filter(|_| *own >= 0));
    if sizes.len() != 3 || sum != Some(width) {
        let expected = format!("3 sizes whose sum is {width}, the width of the product");
        return Err(Refusal::value(
            "qkv_hidden_sizes",
            format_args!("{sizes:?}"),
            expected,
        ));
    }
    let mut parts = [all; 3];
    let mut start = 0;
    for (part, size) in parts.iter_mut().zip(sizes) {
        let own = e.part(all, 2, start, start + size)?;
        *part = heads(e, own, Some(count))?;
        start += size;
    }
    let [query, mut key, mut value] = parts;
    if let Some(past) = past {
        for (at, part) in [&mut key, &mut value].into_iter().enumerate() {
            let own = e.part(past, 0, at as i64, at as i64 + 1)?;
            let shape = e.dims(past);
            let own = e.reshape(own, &shape[1..])?;
            *part = e.concat(&[own, *part], 2)?;
        }
    }
    let own = seen.attend(e, [query, key, value])?;
    let mut present = [key, value];
    for part in &mut present {
        *part = ExpandDims::with(&[0]).build(e, *part)?;
    }
    Ok(vec![own, e.concat(&present, 0)?])
}

/// Imports attention with queries, keys and values as inputs, and one bias for all.
fn of_parts(n: &mut Node<'_, '_, '_>) -> Many {
    let count = head_count(n)?;
    let seen = Seen::of(n, 4, Some(5))?;
    let mut parts = [n.input(0)?, n.input(1)?, n.input(2)?];
    let bias = n.optional(3)?;
    let past = [n.optional(6)?, n.optional(7)?];
    let e = &mut n.e;
    if e.rank(parts[0]) != 3 {
        return Err(Refusal::rank(
            "the query".to_owned(),
            e.g().type_text(parts[0]),
            "3 (packed operands are not supported)",
        ));
    }
    let mut start = 0;
    for part in &mut parts {
        // For cross-attention, the heads of the keys are already split.
        if e.rank(*part) == 4 {
            continue;
        }
        let size = e.extent(*part, 2)?;
        if let Some(bias) = bias {
            let own = e.part(bias, 0, start, start + size)?;
            *part = e.apply(ScalarFn::Add, &[*part, own])?;
        }
        start += size;
        *part = heads(e, *part, Some(count))?;
    }
    let [query, mut key, mut value] = parts;
    for (part, past) in [&mut key, &mut value].into_iter().zip(past) {
        if let Some(past) = past {
            *part = e.concat(&[past, *part], 2)?;
        }
    }
    let own = seen.attend(e, [query, key, value])?;
    Ok(vec![own, key, value])
}

fn rotary(n: &mut Node<'_, '_, '_>) -> One {
    let interleaved = n.flag("interleaved")?;
    let part = n.int("rotary_embedding_dim")?.unwrap_or(0);
    let count = n.int("num_heads")?.filter(|own| *own != 0);
    const HELP: &str = "export with the standard operator `RotaryEmbedding`";
    n.unset(&["is_packed_batching"], HELP)?;
    if let Some(found) = n.float("scale")?.filter(|own| *own != 1.0) {
        return Err(Refusal::value("scale", found, 1).help(HELP));
    }
    let (x, given) = (n.input(0)?, n.input(1)?);
    let (cos, sin) = (n.input(2)?, n.input(3)?);
    let e = &mut n.e;
    let is_flat = e.rank(x) == 3;
    let half = e.extent(cos, 1)?;
    let count = match (count, is_flat) {
        (None, true) => Some(e.extent(x, 2)? / (2 * half).max(1)),
        (count, _) => count,
    };
    let x = heads(e, x, count)?;
    let given = e.convert(given, DType::I64)?;
    let given = if e.dims(given) == [Dim::Fixed(1)] {
        // A single number is the position of the first element of each text.
        let positions = e.extent_at(x, 2);
        let own = places(e, positions, 1, 2)?;
        e.apply(ScalarFn::Add, &[own, given])?
    } else {
        given
    };
    let [cos, sin] = [cos, sin].map(|own| Gather::with().build(e, own, given));
    let own = rotated(e, x, [cos?, sin?], part, interleaved)?;
    if is_flat { together(e, own) } else { Ok(own) }
}
