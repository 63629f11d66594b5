//! Imports attention whose scores and weights are modified by graphs of the model.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::contract::MatMul;
use mind_core::ops::normalize::Softmax;
use mind_ir::ValueId;

use super::attention::{scores, wrong_rank};
use super::{Operator, PREVIEW};
use crate::import::emit::One;
use crate::import::node::Node;
use crate::import::value::Value;
use crate::tensor::dtype;

pub(super) const ROWS: &[Operator] = &[Operator::one("FlexAttention", &[1], attention).of(PREVIEW)];

fn attention(n: &mut Node<'_, '_, '_>) -> One {
    let scale = n.float("scale")?;
    let precision = n.int("softmax_precision")?.map(dtype).transpose()?;
    let (query, key, value) = (n.input(0)?, n.input(1)?, n.input(2)?);
    let e = &mut n.e;
    for own in [query, key, value] {
        if e.rank(own) != 4 {
            return Err(wrong_rank(e, own, "4"));
        }
    }
    let of = e.dtype(query);
    let precision = precision.unwrap_or(of.carrier());
    let (scores, value) = scores(e, query, [key, value], scale)?;
    let scores = e.convert(scores, precision)?;
    let scores = changed(n, "score_mod", scores)?;
    let weights = Softmax::with().axis(-1).build(&mut n.e, scores)?;
    let weights = changed(n, "prob_mod", weights)?;
    let value = n.e.convert(value, precision)?;
    let result = MatMul::build(&mut n.e, weights, value)?;
    n.e.convert(result, of)
}

/// Applies the graph of an attribute to a value; without the attribute it returns the value.
fn changed(n: &mut Node<'_, '_, '_>, name: &'static str, x: ValueId) -> One {
    let Some(graph) = n.optional_graph(name)? else {
        return Ok(x);
    };
    let found = n.inlined(graph, &[Value::Op(x)])?;
    match &found[..] {
        [one] => n.e.value(one),
        _ => Err(Refusal::parts(
            format_args!("the graph `{name}`"),
            format_args!("{} outputs", found.len()),
            "1",
        )),
    }
}
