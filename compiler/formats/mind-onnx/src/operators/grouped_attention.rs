//! Imports grouped-query attention of decoders, as exported for ONNX Runtime, with a KV cache that several heads share.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::compare::{Compare, Direction};
use mind_core::ops::contract::MatMul;
use mind_core::ops::gather::GatherNd;
use mind_core::ops::index::Gather;
use mind_core::ops::normalize::Softmax;
use mind_core::ops::shape::ExpandDims;
use mind_ir::ValueId;
use mind_ir::scalar::ScalarFn;
use mind_ir::types::{DType, Dim};

use super::attention::{heads, rotated, scores, together};
use super::place::{places, places_along};
use super::{MICROSOFT, Many, Operator};
use crate::import::emit::{Emit, One};
use crate::import::node::Node;
use crate::import::value::Extent;

pub(super) const ROWS: &[Operator] =
    &[Operator::many("GroupQueryAttention", &[1], grouped).of(MICROSOFT)];

fn grouped(n: &mut Node<'_, '_, '_>) -> Many {
    let heads_of = |name: &'static str| {
        let count = n.int(name)?.filter(|own| *own > 0);
        count.ok_or_else(|| Refusal::missing(name))
    };
    let (own_heads, key_heads) = (heads_of("num_heads")?, heads_of("kv_num_heads")?);
    let scale = n.float("scale")?.filter(|own| *own != 0.0);
    let softcap = n.float("softcap")?.unwrap_or(0.0);
    let window = n.int("local_window_size")?.filter(|own| *own > 0);
    let rotates = n.flag("do_rotary")?;
    let interleaved = n.flag("rotary_interleaved")?;
    unsupported(n)?;
    let cache = Cache {
        past: [n.optional(3)?, n.optional(4)?],
        lengths: n.input(5)?,
        total: n
            .ints_in(6)
            .ok()
            .flatten()
            .and_then(|own| own.first().copied()),
    };
    let (all, own) = (n.input(0)?, [n.optional(1)?, n.optional(2)?]);
    let angles = [n.optional(7)?, n.optional(8)?];
    let positions = n.optional(9)?;
    let added = n.optional(10)?;
    let e = &mut n.e;
    let [query, key, value] = match own {
        [Some(key), Some(value)] => [all, key, value],
        [_, _] => unpacked(e, all, own_heads, key_heads)?,
    };
    let mut query = heads(e, query, Some(own_heads))?;
    let mut key = heads(e, key, Some(key_heads))?;
    let value = heads(e, value, Some(key_heads))?;
    let start = cache.start(e, query)?;
    if rotates {
        let [Some(cos), Some(sin)] = angles else {
            return Err(Refusal::missing("cos_cache and sin_cache".to_owned())
                .help("`do_rotary` needs inputs 7 and 8"));
        };
        let positions = match positions {
            Some(positions) => e.convert(positions, DType::I64)?,
            None => {
                let place = places_along(e, query, 2, 1, 2)?;
                e.apply(ScalarFn::Add, &[start, place])?
            }
        };
        let part = 2 * e.extent(cos, 1)?;
        let [cos, sin] = [cos, sin].map(|own| Gather::with().build(e, own, positions));
        let angles = [cos?, sin?];
        query = rotated(e, query, angles, part, interleaved)?;
        key = rotated(e, key, angles, part, interleaved)?;
    }
    let [past_keys, past_values] = cache.past;
    let present = [
        cache.present(e, past_keys, key, start)?,
        cache.present(e, past_values, value, start)?,
    ];
    let of = e.dtype(query);
    let (mut sums, value) = scores(e, query, present, scale)?;
    if softcap > 0.0 {
        let small = e.apply_number(ScalarFn::Div, sums, softcap)?;
        let curve = e.apply(ScalarFn::Tanh, &[small])?;
        sums = e.apply_number(ScalarFn::Mul, curve, softcap)?;
    }
    if let Some(added) = added {
        sums = e.apply(ScalarFn::Add, &[sums, added])?;
    }
    let seen = seen(e, [query, present[0]], start, window)?;
    let hidden = e.number(of, f64::NEG_INFINITY);
    let sums = e.apply(ScalarFn::Select, &[seen, sums, hidden])?;
    let weights = Softmax::with().axis(-1).build(e, sums)?;
    let result = MatMul::build(e, weights, value)?;
    let result = together(e, result)?;
    Ok(vec![result, present[0], present[1]])
}

/// Checks that the node does not use unsupported options.
///
/// # Errors
///
/// If an option beyond the attention itself is set.
fn unsupported(n: &Node<'_, '_, '_>) -> Result<(), Refusal> {
    const HELP: &str = "export the model without it, or with the standard operator `Attention`";
    n.unset(&["qk_output"], HELP)?;
    if let Some(found) = n.int("smooth_softmax")?.filter(|own| *own > 0) {
        return Err(Refusal::value("smooth_softmax", found, 0).help(HELP));
    }
    n.left_out(11, HELP)?;
    for name in ["k_quant_type", "v_quant_type"] {
        if let Some(found) = n.word(name)?.filter(|own| *own != "NONE") {
            return Err(Refusal::word(name, found, &["NONE"]).help(HELP));
        }
    }
    n.ignore("kv_cache_bit_width");
    Ok(())
}

/// Splits queries, keys and values that are concatenated in one operand.
fn unpacked(
    e: &mut Emit<'_>,
    all: ValueId,
    own_heads: i64,
    key_heads: i64,
) -> Result<[ValueId; 3], Refusal> {
    let width = e.extent(all, 2)?;
    let count = own_heads.checked_add(key_heads.saturating_mul(2));
    let features = count
        .filter(|count| width % count == 0)
        .map(|count| width / count);
    let features = features.ok_or_else(|| {
        Refusal::extent(
            "the width of the packed operand",
            width,
            format_args!("a multiple of {own_heads} + 2 * {key_heads} heads"),
        )
    })?;
    let (first, second) = (own_heads * features, (own_heads + key_heads) * features);
    Ok([
        e.part(all, 2, 0, first)?,
        e.part(all, 2, first, second)?,
        e.part(all, 2, second, width)?,
    ])
}

/// The KV cache of previous positions, and the lengths of the texts.
struct Cache {
    past: [Option<ValueId>; 2],
    /// The last position of each text.
    lengths: ValueId,
    /// The length of the longest text, if it is known.
    total: Option<i64>,
}

impl Cache {
    /// Returns the position of the first query of each text: `[batch, 1]`.
    fn start(&self, e: &mut Emit<'_>, query: ValueId) -> One {
        let &[batch, ..] = &e.dims(query)[..] else {
            return Err(Refusal::rank(
                "the query".to_owned(),
                e.g().type_text(query),
                4,
            ));
        };
        let last = e.convert(self.lengths, DType::I64)?;
        let last = e.reshape(last, &[batch, Dim::Fixed(1)])?;
        let all = e.apply_number(ScalarFn::Add, last, 1.0)?;
        let own = e.extent_value(query, 2)?;
        let before = e.apply(ScalarFn::Sub, &[all, own])?;
        // A text with padding at the end may be shorter than the queries in the prefill.
        e.apply_number(ScalarFn::Maximum, before, 0.0)
    }

    /// Returns the cache with the new positions of each text appended.
    fn present(
        &self,
        e: &mut Emit<'_>,
        past: Option<ValueId>,
        new: ValueId,
        start: ValueId,
    ) -> One {
        let Some(past) = past else {
            return Ok(new);
        };
        let both = e.concat(&[past, new], 2)?;
        let place = match (self.total, e.dims(past)[2]) {
            (Some(total), Dim::Fixed(room)) => places(e, Extent::Known(total.max(room)), 1, 2)?,
            (_, _) => places_along(e, both, 2, 1, 2)?,
        };
        let room = e.extent_value(past, 2)?;
        let behind = e.apply(ScalarFn::Sub, &[place, start])?;
        let count = e.extent_value(new, 2)?;
        let zero = e.number(DType::I64, 0.0);
        let begun = Compare::with(Direction::Ge).build(e, behind, zero)?;
        let inside = Compare::with(Direction::Lt).build(e, behind, count)?;
        let is_new = e.apply(ScalarFn::And, &[begun, inside])?;
        let of_new = e.apply(ScalarFn::Add, &[behind, room])?;
        let from = e.apply(ScalarFn::Select, &[is_new, of_new, place])?;
        let from = ExpandDims::with(&[2]).build(e, from)?;
        let rows = e.transpose(both, &[0, 2, 1, 3])?;
        let own = GatherNd::with().batch_dims(1).build(e, rows, from)?;
        e.transpose(own, &[0, 2, 1, 3])
    }
}

/// Returns the causal mask `[batch, 1, queries, keys]`. A window limits it to that many keys.
fn seen(e: &mut Emit<'_>, [query, key]: [ValueId; 2], start: ValueId, window: Option<i64>) -> One {
    let row = places_along(e, query, 2, 2, 4)?;
    let column = places_along(e, key, 2, 3, 4)?;
    let start = ExpandDims::with(&[2, 3]).build(e, start)?;
    let own = e.apply(ScalarFn::Add, &[row, start])?;
    let before = Compare::with(Direction::Le).build(e, column, own)?;
    let Some(window) = window else {
        return Ok(before);
    };
    let first = e.apply_number(ScalarFn::Sub, own, window as f64)?;
    let near = Compare::with(Direction::Gt).build(e, column, first)?;
    e.apply(ScalarFn::And, &[before, near])
}
