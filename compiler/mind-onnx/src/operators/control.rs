//! Choices and loops. What their graphs read from outside becomes operands, since regions of core are closed.

use mind_core::ops::compare::{Compare, Direction};
use mind_core::ops::control::{If, Scan, While};
use mind_core::ops::extents::Iota;
use mind_ir::ValueId;
use mind_ir::attr::Attr;
use mind_ir::opdef::Op;
use mind_ir::scalar::ScalarFn;
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim};

use super::Operator;
use crate::import::emit::Emit;
use crate::import::node::Node;
use crate::import::region::{Body, Captures};
use crate::import::value::Value;
use crate::proto::GraphProto;
use crate::refused::Refused;
use crate::tensor::constant;

pub(super) const ROWS: &[Operator] = &[
    Operator::values("If", &[1, 11, 13, 16, 19, 21, 23, 24, 25], choice),
    Operator::values("Loop", &[1, 11, 13, 16, 19, 21, 23, 24, 25], repeated),
    Operator::values("Scan", &[9, 11, 16, 19, 21, 23, 24, 25], scanned),
];

type Values = Result<Vec<Value>, Refused>;

fn of_module(values: Vec<ValueId>) -> Values {
    Ok(values.into_iter().map(Value::Op).collect())
}

/// The values of the module that a graph yields.
fn yielded(values: &[Value], e: &mut Emit<'_>) -> Result<Vec<ValueId>, Refused> {
    values.iter().map(|value| e.value(value)).collect()
}

fn choice(n: &mut Node<'_, '_, '_>) -> Values {
    let branches = [n.graph("then_branch")?, n.graph("else_branch")?];
    if let Some(Value::Known(condition)) = n.given(0) {
        let branch = usize::from(condition.bytes.iter().all(|byte| *byte == 0));
        return n.inlined(branches[branch], &[]);
    }
    let condition = n.input(0)?;
    let condition = n.e.reshape(condition, &[])?;
    let captures = Captures::of(n, &branches)?;
    let count = branches[0].output.len();
    let body = |graph| -> Body<'_, '_> {
        Box::new(move |region, e, arguments| {
            debug_assert!(arguments.is_empty(), "branches have no inputs");
            let values = region.graph(graph, &[], e)?;
            yielded(&values, e)
        })
    };
    let mut bodies = branches.map(body);
    of_module(n.closed(If::DEF, &[], &[condition], count, &mut bodies, &captures)?)
}

/// A scan of `results` results with a step that reads captures.
fn scan<'a>(
    n: &mut Node<'a, '_, '_>,
    attrs: &[Attr<'_>],
    operands: &[ValueId],
    results: usize,
    (step, captures): (Body<'_, 'a>, &Captures<'a>),
) -> Values {
    of_module(n.closed(Scan::DEF, attrs, operands, results, &mut [step], captures)?)
}

/// Whether a loop's graph never ends it: its condition is true, or the one that it was given.
fn goes_on(body: &GraphProto) -> bool {
    let Some(condition) = body.output.first().map(|own| &own.name) else {
        return false;
    };
    let mut name = condition;
    loop {
        if body.input.get(1).is_some_and(|own| own.name == *name) {
            return true;
        }
        let is_true = |own: &crate::tensor::Constant| own.bytes.iter().all(|byte| *byte == 1);
        if let Some(own) = body.initializer.iter().find(|own| own.name == *name) {
            return constant(own).is_ok_and(|own| is_true(&own));
        }
        let mut makers = body.node.iter();
        let Some(maker) = makers.find(|node| node.output.first() == Some(name)) else {
            return false;
        };
        match &maker.op_type[..] {
            "Identity" if maker.input.len() == 1 => name = &maker.input[0],
            "Constant" => {
                let mut values = maker.attribute.iter().filter_map(|own| own.t.as_ref());
                let value = values.next();
                return value.is_some_and(|own| constant(own).is_ok_and(|own| is_true(&own)));
            }
            _ => return false,
        }
    }
}

fn repeated(n: &mut Node<'_, '_, '_>) -> Values {
    let body = n.graph("body")?;
    let mut carried = Vec::new();
    for at in 2..n.inputs.len() {
        carried.push(n.input(at)?);
    }
    let outputs = body.output.len().checked_sub(1 + carried.len());
    let outputs = outputs.ok_or_else(|| Refused::new("its graph has too few outputs"))?;
    let starts = match n.known(1) {
        Ok(None) => true,
        Ok(Some(condition)) => condition.bytes.iter().all(|byte| *byte == 1),
        Err(_) => false,
    };
    let count = n.ints_in(0);
    if let (true, true, Ok(Some(count))) = (starts, goes_on(body), &count) {
        let count = count.first().copied().unwrap_or(0).max(0);
        return counted(n, body, &carried, outputs, count);
    }
    if outputs > 0 {
        return Err(Refused::new(
            "it stacks values of its steps, and how many there are is not known here",
        ));
    }
    conditional(n, body, &carried)
}

/// A loop of a known number of steps, as a scan of their numbers.
fn counted<'a>(
    n: &mut Node<'a, '_, '_>,
    body: &'a GraphProto,
    carried: &[ValueId],
    outputs: usize,
    count: i64,
) -> Values {
    let captures = Captures::of(n, &[body])?;
    let places = Iota::with(DType::I64, &[Dim::Fixed(count)]).build(&mut n.e)?;
    let operands = [carried, &[places]].concat();
    let attrs = Scan::attrs(carried.len() as i64, 1, &[], &[], &[], &[]);
    let states = carried.len();
    let step: Body<'_, '_> = Box::new(move |region, e, arguments| {
        let (own, place) = arguments.split_at(states);
        let goes = e.tensor(&Tensor::scalar(true));
        let inputs = [place[0], goes].into_iter().chain(own.iter().copied());
        let inputs: Vec<Value> = inputs.map(Value::Op).collect();
        let values = region.graph(body, &inputs, e)?;
        yielded(&values[1..], e)
    });
    scan(n, &attrs, &operands, states + outputs, (step, &captures))
}

/// A loop that ends by its condition, or after a number of steps that a run gives.
fn conditional<'a>(n: &mut Node<'a, '_, '_>, body: &'a GraphProto, carried: &[ValueId]) -> Values {
    let captures = Captures::of(n, &[body])?;
    let limit = match n.optional(0)? {
        Some(limit) => n.e.reshape(limit, &[])?,
        None => n.e.tensor(&Tensor::scalar(i64::MAX)),
    };
    let goes = match n.optional(1)? {
        Some(condition) => n.e.reshape(condition, &[])?,
        None => n.e.tensor(&Tensor::scalar(true)),
    };
    let place = n.e.tensor(&Tensor::scalar(0i64));
    let states = carried.len() + 2;
    let operands = [&[place, goes], carried, &[limit]].concat();
    let attrs = While::attrs(states as i64);
    let test: Body<'_, '_> = Box::new(move |_, e, arguments| {
        let below = Compare::with(Direction::Lt).build(e, arguments[0], arguments[states])?;
        Ok(vec![e.apply(ScalarFn::And, &[below, arguments[1]])?])
    });
    let step: Body<'_, '_> = Box::new(move |region, e, arguments| {
        let inputs: Vec<Value> = arguments[..states].iter().copied().map(Value::Op).collect();
        let values = region.graph(body, &inputs, e)?;
        let next = e.apply_number(ScalarFn::Add, arguments[0], 1.0)?;
        let mut values = yielded(&values, e)?;
        values[0] = e.reshape(values[0], &[])?;
        values.insert(0, next);
        Ok(values)
    });
    let results = n.closed(
        While::DEF,
        &attrs,
        &operands,
        states,
        &mut [test, step],
        &captures,
    )?;
    of_module(results[2..].to_vec())
}

fn scanned(n: &mut Node<'_, '_, '_>) -> Values {
    let body = n.graph("body")?;
    let count = n
        .int("num_scan_inputs")?
        .and_then(|own| usize::try_from(own).ok());
    let count = count.filter(|own| *own <= n.inputs.len());
    let count = count.ok_or_else(|| Refused::new("`num_scan_inputs` does not fit"))?;
    let states = n.inputs.len() - count;
    let outputs = body.output.len().checked_sub(states);
    let outputs = outputs.ok_or_else(|| Refused::new("its graph has too few outputs"))?;
    let list = |n: &Node<'_, '_, '_>, name| Ok::<_, Refused>(n.ints(name)?.unwrap_or(&[]).to_vec());
    let in_axes = list(n, "scan_input_axes")?;
    let out_axes = list(n, "scan_output_axes")?;
    let in_reverse = list(n, "scan_input_directions")?;
    let out_reverse = list(n, "scan_output_directions")?;
    let operands = n.all()?;
    let captures = Captures::of(n, &[body])?;
    let attrs = Scan::attrs(
        states as i64,
        count as i64,
        &in_axes,
        &out_axes,
        &in_reverse,
        &out_reverse,
    );
    let step: Body<'_, '_> = Box::new(move |region, e, arguments| {
        let inputs: Vec<Value> = arguments.iter().copied().map(Value::Op).collect();
        let values = region.graph(body, &inputs, e)?;
        yielded(&values, e)
    });
    scan(n, &attrs, &operands, states + outputs, (step, &captures))
}
