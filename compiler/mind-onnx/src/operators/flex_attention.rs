//! Attention whose scores and weights a model changes by graphs of its own.

use mind_core::ops::contract::MatMul;
use mind_core::ops::normalize::Softmax;
use mind_ir::ValueId;
use mind_ir::scalar::ScalarFn;
use mind_ir::types::DType;

use super::attention::repeated;
use super::{Operator, PREVIEW};
use crate::import::emit::One;
use crate::import::node::Node;
use crate::import::value::Value;
use crate::refused::Refused;
use crate::tensor::dtype;

pub(super) const ROWS: &[Operator] = &[Operator::one("FlexAttention", &[1], attention).of(PREVIEW)];

fn attention(n: &mut Node<'_, '_, '_>) -> One {
    let scale = n.float("scale")?;
    let precision = n.int("softmax_precision")?.map(dtype).transpose()?;
    let (query, mut key, mut value) = (n.input(0)?, n.input(1)?, n.input(2)?);
    let e = &mut n.e;
    if [query, key, value].iter().any(|own| e.rank(*own) != 4) {
        return Err(Refused::new("an operand is not of rank 4"));
    }
    let of = e.dtype(query);
    let precision = precision.unwrap_or(match of {
        DType::F64 => DType::F64,
        _ => DType::F32,
    });
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
    let scores = MatMul::build(e, query, key)?;
    let scores = e.convert(scores, precision)?;
    let scores = changed(n, "score_mod", scores)?;
    let weights = Softmax::with().axis(-1).build(&mut n.e, scores)?;
    let weights = changed(n, "prob_mod", weights)?;
    let value = n.e.convert(value, precision)?;
    let result = MatMul::build(&mut n.e, weights, value)?;
    n.e.convert(result, of)
}

/// What the graph of an attribute makes of a value, or the value itself if there is none.
fn changed(n: &mut Node<'_, '_, '_>, name: &'static str, x: ValueId) -> One {
    let Some(graph) = n.optional_graph(name)? else {
        return Ok(x);
    };
    let found = n.inlined(graph, &[Value::Op(x)])?;
    match &found[..] {
        [one] => n.e.value(one),
        _ => Err(Refused::new(format!("`{name}` has not one output"))),
    }
}
