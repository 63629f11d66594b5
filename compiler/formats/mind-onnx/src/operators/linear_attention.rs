//! Imports linear attention, a recurrence over keys and values with a state of fixed size, and the causal convolution
//! before it.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::contract::MatMul;
use mind_core::ops::control::Scan;
use mind_core::ops::convolution::{Conv, Layout};
use mind_ir::ValueId;
use mind_ir::scalar::ScalarFn;
use mind_ir::types::{DType, Dim};

use super::{Many, Operator};
use crate::import::emit::{Emit, One};
use crate::import::node::Node;
use crate::import::value::Extent;

pub(super) const ROWS: &[Operator] = &[
    Operator::many("LinearAttention", &[27], linear_attention),
    Operator::many("CausalConvWithState", &[27], causal_conv),
];

/// The update rule of the state.
#[derive(Clone, Copy)]
struct Rule {
    /// Whether the state decays before the update.
    gated: bool,
    /// Whether the value that the state holds for the key is subtracted, and only a fraction of the difference is
    /// written.
    delta: bool,
}

/// Reshapes `[batch, steps, heads * features]` to `[batch, steps, heads, 1, features]` in `f32`.
fn rows(e: &mut Emit<'_>, x: ValueId, heads: i64) -> One {
    let &[batch, steps, _] = &e.dims(x)[..] else {
        return Err(Refusal::rank(
            "an operand".to_owned(),
            e.g().type_text(x),
            3,
        ));
    };
    let all = e.extent(x, 2)?;
    if heads <= 0 || all % heads != 0 {
        return Err(Refusal::extent(
            "the number of features",
            all,
            format_args!("a multiple of {heads} heads"),
        ));
    }
    let wide = e.convert(x, DType::F32)?;
    let shape = [heads, 1, all / heads].map(Dim::Fixed);
    e.reshape(wide, &[&[batch, steps][..], &shape].concat())
}

fn linear_attention(n: &mut Node<'_, '_, '_>) -> Many {
    let rule = match n.word("update_rule")?.unwrap_or("gated_delta") {
        "linear" => (false, false),
        "gated" => (true, false),
        "delta" => (false, true),
        "gated_delta" => (true, true),
        other => {
            let words = ["linear", "gated", "delta", "gated_delta"];
            return Err(Refusal::word("update_rule", other, &words));
        }
    };
    let rule = Rule {
        gated: rule.0,
        delta: rule.1,
    };
    // The chunk size of an implementation does not affect the result.
    n.ignore("chunk_size");
    let scale = n.float("scale")?.filter(|own| *own != 0.0);
    let (many, few) = (n.positive("q_num_heads")?, n.positive("kv_num_heads")?);
    if many % few != 0 {
        let expected = format!("a multiple of `kv_num_heads`, {few}");
        return Err(Refusal::value("q_num_heads", many, expected));
    }
    let (query, key, value) = (n.input(0)?, n.input(1)?, n.input(2)?);
    let (past, decay, rate) = (n.optional(3)?, n.optional(4)?, n.optional(5)?);
    if rule.gated != decay.is_some() || rule.delta != rate.is_some() {
        let given = |own: bool| if own { "given" } else { "left out" };
        return Err(Refusal::parts(
            "the node",
            format_args!(
                "`decay` {} and `beta` {}",
                given(decay.is_some()),
                given(rate.is_some())
            ),
            format_args!(
                "{} and {} as `update_rule` says",
                given(rule.gated),
                given(rule.delta)
            ),
        ));
    }
    let e = &mut n.e;
    let of = e.dtype(query);
    let (query, key, value) = (
        rows(e, query, many)?,
        rows(e, key, few)?,
        rows(e, value, few)?,
    );
    let (batch, steps) = (e.dims(key)[0], e.dims(key)[1]);
    let (features, made) = (e.extent(key, 4)?, e.extent(value, 4)?);
    let own = e.extent(query, 4)?;
    // The query heads that share a state become rows of one matrix.
    let shape = [few, many / few, own].map(Dim::Fixed);
    let query = e.reshape(query, &[&[batch, steps][..], &shape].concat())?;
    let query = e.apply_number(
        ScalarFn::Mul,
        query,
        scale.unwrap_or(1.0 / (own as f64).sqrt()),
    )?;
    let key = e.transpose(key, &[0, 1, 2, 4, 3])?;
    let mut scanned = vec![query, key, value];
    if let Some(decay) = decay {
        let decay = rows(e, decay, few)?;
        let decay = e.transpose(decay, &[0, 1, 2, 4, 3])?;
        scanned.push(e.apply(ScalarFn::Exp, &[decay])?);
    }
    if let Some(rate) = rate {
        let count = e.extent(rate, 2)?;
        scanned.push(rows(e, rate, count)?);
    }
    let kept = past.map_or(of, |past| e.dtype(past));
    let state = match past {
        Some(past) => e.convert(past, DType::F32)?,
        None => {
            let zero = e.number(DType::F32, 0.0);
            let shape = [few, features, made].map(Extent::Known);
            let batch = e.extent_at(value, 0);
            e.broadcast_extents(zero, &[&[batch][..], &shape].concat())?
        }
    };
    let [state, seen] = scan(e, rule, state, &scanned)?;
    let seen = e.convert(seen, of)?;
    let seen = e.reshape(seen, &[batch, steps, Dim::Fixed(many.saturating_mul(made))])?;
    Ok(vec![seen, e.convert(state, kept)?])
}

/// Returns the last state, and the output of each step: `[batch, steps, heads, queries, features]`.
fn scan(
    e: &mut Emit<'_>,
    rule: Rule,
    state: ValueId,
    scanned: &[ValueId],
) -> Result<[ValueId; 2], Refusal> {
    let axes = vec![1; scanned.len()];
    let attrs = Scan::attrs(1, scanned.len() as i64, &axes, &[1], &[], &[]);
    let operands = [&[state], scanned].concat();
    let results = e.scan(&attrs, &operands, 2, |e, arguments| rule.step(e, arguments))?;
    Ok([results[0], results[1]])
}

impl Rule {
    /// Returns the state after a step, and the output of its queries.
    fn step(self, e: &mut Emit<'_>, arguments: &[ValueId]) -> Many {
        let (&[mut state, query, key, mut value], rest) = arguments
            .split_first_chunk()
            .ok_or_else(|| Refusal::operands(arguments.len(), "4 or more"))?;
        let decay = rest.first().filter(|_| self.gated);
        if let Some(&decay) = decay {
            state = e.apply(ScalarFn::Mul, &[decay, state])?;
        }
        if let Some(&rate) = rest.last().filter(|_| self.delta) {
            let row = e.transpose(key, &[0, 1, 3, 2])?;
            let known = MatMul::build(e, row, state)?;
            let new = e.apply(ScalarFn::Sub, &[value, known])?;
            value = e.apply(ScalarFn::Mul, &[rate, new])?;
        }
        let written = e.apply(ScalarFn::Mul, &[key, value])?;
        state = e.apply(ScalarFn::Add, &[state, written])?;
        let seen = MatMul::build(e, query, state)?;
        Ok(vec![state, seen])
    }
}

/// Imports a depthwise convolution over the positions so far. The last positions are the state.
fn causal_conv(n: &mut Node<'_, '_, '_>) -> Many {
    let activates = match n.word("activation")?.unwrap_or("none") {
        "none" => false,
        "silu" | "swish" => true,
        other => {
            return Err(Refusal::word(
                "activation",
                other,
                &["none", "silu", "swish"],
            ));
        }
    };
    let (x, filter) = (n.input(0)?, n.input(1)?);
    let (bias, past) = (n.optional(2)?, n.optional(3)?);
    let e = &mut n.e;
    let of = e.dtype(x);
    let taps = e.extent(filter, 2)?;
    let channels = e.extent(filter, 0)?;
    let past = match past {
        Some(past) => past,
        None => {
            let zero = e.number(of, 0.0);
            let batch = e.extent_at(x, 0);
            let shape = [batch, Extent::Known(channels), Extent::Known(taps - 1)];
            e.broadcast_extents(zero, &shape)?
        }
    };
    let all = e.concat(&[past, x], 2)?;
    let conv = Conv::with().layout(Layout::Nchw).groups(channels);
    let mut own = conv.build(e, all, filter)?;
    if let Some(bias) = bias {
        let bias = e.per_channel(bias, 3)?;
        own = e.apply(ScalarFn::Add, &[own, bias])?;
    }
    if activates {
        let wide = e.convert(own, DType::F32)?;
        let gate = e.apply(ScalarFn::Sigmoid, &[wide])?;
        let product = e.apply(ScalarFn::Mul, &[wide, gate])?;
        own = e.convert(product, of)?;
    }
    let length = e.extent(all, 2)?;
    let state = e.part(all, 2, length - (taps - 1), length)?;
    Ok(vec![own, state])
}
