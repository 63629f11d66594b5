//! Imports losses.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::compare::{Compare, Direction};
use mind_core::ops::gather::GatherElements;
use mind_core::ops::index::Gather;
use mind_core::ops::reduce::Sum;
use mind_core::ops::shape::{ExpandDims, Squeeze};
use mind_ir::ValueId;
use mind_ir::scalar::ScalarFn;
use mind_ir::types::DType;

use super::activation::log_softmax;
use super::{Many, Operator};
use crate::import::emit::One;
use crate::import::node::Node;

pub(super) const ROWS: &[Operator] = &[
    Operator::one("NegativeLogLikelihoodLoss", &[12, 13, 22], |n| {
        let logs = n.input(0)?;
        negative_log_likelihood(n, logs)
    }),
    Operator::many(
        "SoftmaxCrossEntropyLoss",
        &[12, 13],
        |n: &mut Node<'_, '_, '_>| -> Many {
            let x = n.input(0)?;
            let logs = log_softmax(&mut n.e, x, 1)?;
            Ok(vec![negative_log_likelihood(n, logs)?, logs])
        },
    ),
];

/// Returns the negated log-probability of each target's class, weighted and reduced.
fn negative_log_likelihood(n: &mut Node<'_, '_, '_>, logs: ValueId) -> One {
    let ignored = n.int("ignore_index")?;
    let reduction = n.word("reduction")?.unwrap_or("mean");
    let target = n.input(1)?;
    let mut classes = n.e.convert(target, DType::I64)?;
    let zero = n.e.number(DType::I64, 0.0);
    let is_ignored = match ignored {
        None => None,
        Some(ignored) => {
            let number = n.e.number(DType::I64, ignored as f64);
            let own = Compare::with(Direction::Eq).build(&mut n.e, classes, number)?;
            classes = n.e.apply(ScalarFn::Select, &[own, zero, classes])?;
            Some(own)
        }
    };
    let of = n.e.dtype(logs);
    let mut weights = match n.optional(2)? {
        Some(list) => Gather::with().build(&mut n.e, list, classes)?,
        None => n.e.number(of, 1.0),
    };
    if let Some(own) = is_ignored {
        let none = n.e.number(of, 0.0);
        weights = n.e.apply(ScalarFn::Select, &[own, none, weights])?;
    }
    let places = ExpandDims::with(&[1]).build(&mut n.e, classes)?;
    let picked = GatherElements::with()
        .axis(1)
        .build(&mut n.e, logs, places)?;
    let picked = Squeeze::with(&[1]).build(&mut n.e, picked)?;
    let negated = n.e.apply(ScalarFn::Neg, &[picked])?;
    let loss = n.e.apply(ScalarFn::Mul, &[negated, weights])?;
    match reduction {
        "none" => Ok(loss),
        "sum" => total(n, loss),
        "mean" => {
            let one = n.e.number(of, 1.0);
            let shape = n.e.extents_of(loss);
            let ones = n.e.broadcast_extents(one, &shape)?;
            let weights = n.e.apply(ScalarFn::Mul, &[weights, ones])?;
            let (sum, count) = (total(n, loss)?, total(n, weights)?);
            n.e.apply(ScalarFn::Div, &[sum, count])
        }
        other => Err(Refusal::word("reduction", other, &["none", "sum", "mean"])),
    }
}

/// Returns the sum of all elements.
fn total(n: &mut Node<'_, '_, '_>, x: ValueId) -> One {
    let axes: Vec<i64> = (0..n.e.rank(x) as i64).collect();
    Ok(Sum::with().axes(&axes).build(&mut n.e, x)?)
}
