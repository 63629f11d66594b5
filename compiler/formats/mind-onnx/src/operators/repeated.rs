//! Imports loops: as scans if they always run to their limit, otherwise as loops with a condition.

use mind_convert::{EmitCore, Refusal, RegionOp};
use mind_core::ops::broadcast::BroadcastTo;
use mind_core::ops::compare::{Compare, Direction};
use mind_core::ops::control::{Scan, While};
use mind_core::ops::extents::Iota;
use mind_core::ops::runtime_shape::{DynamicIota, DynamicReshape};
use mind_core::ops::shape::ExpandDims;
use mind_core::region::Carried;
use mind_ir::ValueId;
use mind_ir::opdef::Op;
use mind_ir::scalar::ScalarFn;
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim, TensorType};

use super::Operator;
use super::control::{Values, few_outputs, of_module, promised, scan, stacked, yielded};
use super::runtime_shape::{Align, own_extents};
use crate::files::Files;
use crate::import::emit::{Emit, One};
use crate::import::node::Node;
use crate::import::ranks::declared_rank;
use crate::import::region::{Body, Captures};
use crate::import::scope::read_names;
use crate::import::value::Value;
use crate::proto::GraphProto;
use crate::tensor::{Constant, constant};

pub(super) const ROWS: &[Operator] = &[Operator::values(
    "Loop",
    &[1, 11, 13, 16, 19, 21, 23, 24, 25],
    repeated,
)];

fn repeated(n: &mut Node<'_, '_, '_>) -> Values {
    let body = n.graph("body")?;
    let mut carried = Vec::new();
    for at in 2..n.inputs.len() {
        carried.push(n.input(at)?);
    }
    let outputs = body.output.len().checked_sub(1 + carried.len());
    let outputs = outputs.ok_or_else(|| few_outputs(body, 1 + carried.len()))?;
    let is_true = |own: &Constant| own.bytes.iter().all(|byte| *byte == 1);
    let starts = n.known(1);
    let starts = starts.is_ok_and(|own| own.is_none_or(|own| is_true(&own)));
    let is_counted = starts && goes_on(body, &n.importer.options.files) && n.given(0).is_some();
    let takes_a_step = n
        .ints_in(0)
        .is_ok_and(|own| own.is_none_or(|count| count.first().is_some_and(|&count| count > 0)));
    let is_replaced = |at: usize| starts && takes_a_step && !is_read(body, at);
    let replaced: Vec<usize> = (0..carried.len()).filter(|at| is_replaced(*at)).collect();
    let is_tried = !replaced.is_empty() || (outputs > 0 && !is_counted);
    if !is_tried {
        return match is_counted {
            true => counted(n, body, &carried, outputs),
            false => conditional(n, body, &carried, &[]),
        };
    }
    if n.importer.tried_loops == MOST_TRIED {
        return Err(Refusal::too_large(
            "the number of nested loops whose graphs do not declare the types of their inputs",
            format_args!("more than {MOST_TRIED}"),
            MOST_TRIED,
        ));
    }
    n.importer.tried_loops += 1;
    let made = tried(n, body, &mut carried, &replaced).and_then(|rows| match is_counted {
        true => counted(n, body, &carried, outputs),
        false => conditional(n, body, &carried, &rows),
    });
    n.importer.tried_loops -= 1;
    made
}

/// Maximum nesting depth of loops whose graphs are imported a second time to infer types, because each doubles the
/// work.
const MOST_TRIED: usize = 8;

/// Returns the types of the stacked values of a loop. The carried values `replaced`, which the first step replaces
/// without reading, become values of the types that a step yields.
fn tried<'a>(
    n: &mut Node<'a, '_, '_>,
    body: &'a GraphProto,
    carried: &mut [ValueId],
    replaced: &[usize],
) -> Result<Vec<TensorType>, Refusal> {
    let mut yields = yields(n, body, carried)?;
    let rows = yields.split_off(carried.len());
    for &at in replaced {
        if yields[at].view().meet(n.e.g().ty(carried[at])).is_none() {
            carried[at] = any_value(&mut n.e, yields[at].dtype, &yields[at].shape)?;
        }
    }
    Ok(rows)
}

/// Returns whether a loop's graph reads carried value `at`.
fn is_read(body: &GraphProto, at: usize) -> bool {
    let Some(input) = body.input.get(2 + at) else {
        return true;
    };
    let yielded = body.output.iter().any(|output| output.name == input.name);
    let mut nodes = body.node.iter();
    yielded || nodes.any(|node| read_names(node).contains(&input.name[..]))
}

/// Returns a placeholder of a type, whose elements are not read. Unknown extents become 0.
fn any_value(e: &mut Emit<'_>, dtype: DType, shape: &[Dim]) -> One {
    let none = |dim: &Dim| match dim {
        Dim::Dynamic => Dim::Fixed(0),
        other => *other,
    };
    let closed: Vec<Dim> = shape.iter().map(none).collect();
    let zero = e.number(dtype, 0.0);
    let value = BroadcastTo::with(&closed).build(e, zero)?;
    if closed == shape {
        return Ok(value);
    }
    let extents = own_extents(e, value, shape.len(), Align::First)?;
    Ok(DynamicReshape::with(shape).build(e, value, extents)?)
}

/// Returns the step indices of a loop that runs to its limit.
fn steps(n: &mut Node<'_, '_, '_>) -> One {
    if let Ok(Some(count)) = n.ints_in(0) {
        let count = count.first().copied().unwrap_or(0).max(0);
        return Ok(Iota::with(DType::I64, &[Dim::Fixed(count)]).build(&mut n.e)?);
    }
    let limit = n.input(0)?;
    let limit = n.e.reshape_to(limit, &[1])?;
    let count = n.e.apply_number(ScalarFn::Maximum, limit, 0.0)?;
    Ok(DynamicIota::with(DType::I64, &[Dim::Dynamic]).build(&mut n.e, count)?)
}

/// Imports a loop that runs to its limit as a scan over the step indices.
fn counted<'a>(
    n: &mut Node<'a, '_, '_>,
    body: &'a GraphProto,
    carried: &[ValueId],
    outputs: usize,
) -> Values {
    let steps = steps(n)?;
    let captures = Captures::of(n, &[body])?;
    let operands = [carried, &[steps]].concat();
    let attrs = Scan::attrs(carried.len() as i64, 1, &[], &[], &[], &[]);
    let states = carried.len();
    let step: Body<'_, '_> = Box::new(move |region, e, arguments| {
        let (own, place) = arguments.split_at(states);
        let goes = e.tensor(&Tensor::scalar(true));
        let inputs = [place[0], goes].into_iter().chain(own.iter().copied());
        let inputs: Vec<Value> = inputs.map(Value::Op).collect();
        let values = region.graph(body, &inputs, e)?;
        let mut values = yielded(&values[1..], e)?;
        for (at, before) in own.iter().enumerate() {
            values[at] = of_rank(e, body, at, values[at], *before)?;
        }
        stack_all(e, body, states, &mut values)?;
        Ok(values)
    });
    let counts = (states, states + outputs);
    scan(n, &attrs, &operands, counts, (step, &captures))
}

/// Returns the maximum trip count of a loop, and whether its first step runs.
fn ends(n: &mut Node<'_, '_, '_>) -> Result<[ValueId; 2], Refusal> {
    let limit = match n.optional(0)? {
        Some(limit) => n.e.reshape(limit, &[])?,
        None => n.e.tensor(&Tensor::scalar(i64::MAX)),
    };
    let goes = match n.optional(1)? {
        Some(condition) => n.e.reshape(condition, &[])?,
        None => n.e.tensor(&Tensor::scalar(true)),
    };
    Ok([limit, goes])
}

/// Returns the types of the values that a step yields, without the condition. They are inferred from a temporary loop,
/// which is erased.
fn yields<'a>(
    n: &mut Node<'a, '_, '_>,
    body: &'a GraphProto,
    carried: &[ValueId],
) -> Result<Vec<TensorType>, Refusal> {
    let captures = Captures::of(n, &[body])?;
    let [_, goes] = ends(n)?;
    let place = n.e.tensor(&Tensor::scalar(0i64));
    let states = carried.len();
    let operands = [&[place, goes], carried].concat();
    let attrs = While::attrs(operands.len() as i64);
    let mut found = Vec::new();
    let test: Body<'_, '_> = Box::new(|_, _, arguments| Ok(vec![arguments[1]]));
    let step: Body<'_, '_> = Box::new(|region, e, arguments| {
        let inputs: Vec<Value> = arguments.iter().copied().map(Value::Op).collect();
        let values = region.graph(body, &inputs, e)?;
        let values = yielded(&values, e)?;
        let mut values = values.get(1..).unwrap_or_default().to_vec();
        stack_all(e, body, states, &mut values)?;
        found.extend(values.iter().map(|own| e.g().ty(*own).to_owned()));
        Ok(arguments.to_vec())
    });
    let mut bodies = [test, step];
    let op = RegionOp {
        def: While::DEF,
        attrs: &attrs,
        operands: &operands,
        results: operands.len(),
    };
    let results = n.closed(op, &mut bodies, &captures)?;
    drop(bodies);
    if let Some(op) = results.first().and_then(|own| n.e.g().defining_op(*own)) {
        n.e.b.graph.erase(op);
    }
    Ok(found)
}

/// Returns a stack of a type without rows, whose number of rows is unknown.
fn no_rows(e: &mut Emit<'_>, row: &TensorType) -> One {
    if let Some(axis) = row.shape.iter().position(|dim| *dim == Dim::Dynamic) {
        let refusal = Refusal::unsupported(
            format!(
                "only a run knows dimension {axis} of the values that it stacks, and the number of steps"
            ),
            "give the extent with `--dim`, or make the trip count a constant",
        );
        return Err(refusal);
    }
    any_value(e, row.dtype, &[&[Dim::Dynamic], &row.shape[..]].concat())
}

/// Imports a loop that ends by its condition or after a data-dependent number of steps. The stacked values are carried
/// and grow by one row in each step.
fn conditional<'a>(
    n: &mut Node<'a, '_, '_>,
    body: &'a GraphProto,
    carried: &[ValueId],
    rows: &[TensorType],
) -> Values {
    let captures = Captures::of(n, &[body])?;
    let [limit, goes] = ends(n)?;
    let place = n.e.tensor(&Tensor::scalar(0i64));
    let mut stacks = Vec::with_capacity(rows.len());
    for row in rows {
        stacks.push(no_rows(&mut n.e, row)?);
    }
    let inner = carried.len() + 2;
    let states = inner + stacks.len();
    let operands = [&[place, goes], carried, &stacks, &[limit]].concat();
    let attrs = While::attrs(states as i64);
    let test: Body<'_, '_> = Box::new(move |_, e, arguments| {
        let below = Compare::with(Direction::Lt).build(e, arguments[0], arguments[states])?;
        Ok(vec![e.apply(ScalarFn::And, &[below, arguments[1]])?])
    });
    let step: Body<'_, '_> = Box::new(move |region, e, arguments| {
        let (own, stacks) = arguments[..states].split_at(inner);
        for &stack in stacks {
            // A carried value whose extent changes keeps the type of the argument.
            if let Some(ty) = e.g().type_id(stack) {
                e.b.graph.declare(stack, ty);
            }
        }
        let inputs: Vec<Value> = own.iter().copied().map(Value::Op).collect();
        let values = region.graph(body, &inputs, e)?;
        let next = e.apply_number(ScalarFn::Add, arguments[0], 1.0)?;
        let mut values = yielded(&values, e)?;
        values[0] = e.reshape(values[0], &[])?;
        values.insert(0, next);
        for (at, value) in values[2..inner].iter_mut().enumerate() {
            *value = of_rank(e, body, at, *value, own[2 + at])?;
        }
        stack_all(e, body, inner - 2, &mut values[2..])?;
        for (row, &stack) in values[inner..].iter_mut().zip(stacks) {
            let one = ExpandDims::with(&[0]).build(e, *row)?;
            *row = e.concat(&[stack, one], 0)?;
        }
        Ok(values)
    });
    let op = RegionOp {
        def: While::DEF,
        attrs: &attrs,
        operands: &operands,
        results: states,
    };
    let carried = Carried::new(states, 1);
    let results = n.looped(op, &mut [test, step], &captures, carried)?;
    of_module(results[2..].to_vec())
}

/// Gives the stacked values, which follow the first `states` values, the extents that the loop's graph declares.
fn stack_all(
    e: &mut Emit<'_>,
    body: &GraphProto,
    states: usize,
    values: &mut [ValueId],
) -> Result<(), Refusal> {
    let outputs = body.output.iter().skip(1);
    for (value, output) in values.iter_mut().zip(outputs).skip(states) {
        *value = stacked(e, output, *value)?;
    }
    Ok(())
}

/// Returns the value that a step yields for carried value `at`. Models confuse scalars and lists of one element. If the
/// graph declares the rank of the value before, a single element is reshaped to it.
fn of_rank(e: &mut Emit<'_>, body: &GraphProto, at: usize, value: ValueId, before: ValueId) -> One {
    let is_one = |dims: &[Dim]| dims.iter().all(|dim| *dim == Dim::Fixed(1));
    let (own, wanted) = (e.dims(value), e.dims(before));
    let is_declared = declared_rank(&body.output[1 + at]) == Some(wanted.len());
    if own.len() == wanted.len() || !is_one(&own) || !is_one(&wanted) || !is_declared {
        return promised(e, &body.output[1 + at], value, before);
    }
    e.reshape(value, &wanted)
}

/// Returns whether a loop's condition stays true: it is constantly true, or the condition of the previous step.
fn goes_on(body: &GraphProto, files: &Files) -> bool {
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
            return constant(own, files).is_ok_and(|own| is_true(&own));
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
                return value
                    .is_some_and(|own| constant(own, files).is_ok_and(|own| is_true(&own)));
            }
            _ => return false,
        }
    }
}
