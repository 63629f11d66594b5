//! Choices and loops. What their graphs read from outside becomes operands, since regions of core are closed.

use mind_convert::{EmitCore, Refusal, RegionOp, fixing_inputs};
use mind_core::ops::control::{If, Scan};
use mind_core::ops::pad::PadOp;
use mind_core::ops::runtime_shape::DynamicReshape;
use mind_core::ops::shape::{ExpandDims, Squeeze};
use mind_core::region::Carried;
use mind_ir::attr::Attr;
use mind_ir::opdef::Op;
use mind_ir::types::Dim;
use mind_ir::{Graph, ValueId};

use super::Operator;
use super::runtime_shape::{Align, own_extents};
use crate::import::emit::Emit;
use crate::import::node::Node;
use crate::import::ranks::declared_rank;
use crate::import::region::{Body, Captures};
use crate::import::value::Value;
use crate::proto::{GraphProto, ValueInfoProto, dimension};

pub(super) const ROWS: &[Operator] = &[
    Operator::values("If", &[1, 11, 13, 16, 19, 21, 23, 24, 25], choice),
    Operator::values("Scan", &[8, 9, 11, 16, 19, 21, 23, 24, 25], scanned),
];

pub(super) type Values = Result<Vec<Value>, Refusal>;

pub(super) fn of_module(values: Vec<ValueId>) -> Values {
    Ok(values.into_iter().map(Value::Op).collect())
}

/// The values of the module that a graph yields.
pub(super) fn yielded(values: &[Value], e: &mut Emit<'_>) -> Result<Vec<ValueId>, Refusal> {
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
            let mut values = yielded(&values, e)?;
            for (at, value) in values.iter_mut().enumerate() {
                let is_one = e.dims(*value).iter().all(|dim| *dim == Dim::Fixed(1));
                if is_one && is_single(branches, at) {
                    *value = e.reshape(*value, &[])?;
                }
            }
            Ok(values)
        })
    };
    let mut bodies = branches.map(body);
    let op = RegionOp {
        def: If::DEF,
        attrs: &[],
        operands: &[condition],
        results: count,
    };
    let made = n.closed(op, &mut bodies, &captures);
    of_module(made.map_err(|why| why.with_help(way_to_one_branch(n.e.g(), condition)))?)
}

/// Whether both branches declare output `at` as one element. Where one of them yields a list of one instead, the types of core
/// differ; runtimes take what comes.
fn is_single(branches: [&GraphProto; 2], at: usize) -> bool {
    branches.iter().all(|graph| {
        let output = graph.output.get(at);
        output.and_then(declared_rank) == Some(0)
    })
}

/// A value that a step yields where `before` is carried. An extent that only a run knows is checked to be that of `before` where
/// the model declares it for `output`.
pub(super) fn promised(
    e: &mut Emit<'_>,
    output: &ValueInfoProto,
    value: ValueId,
    before: ValueId,
) -> Result<ValueId, Refusal> {
    let (own, wanted) = (e.dims(value), e.dims(before));
    let declared = output
        .r#type
        .as_ref()
        .and_then(|ty| ty.tensor_type.as_ref());
    let declared = declared.and_then(|ty| ty.shape.as_ref());
    let Some(declared) =
        declared.filter(|shape| shape.dim.len() == own.len() && own.len() == wanted.len())
    else {
        return Ok(value);
    };
    let dims = own.iter().zip(&wanted).zip(&declared.dim);
    let kept: Vec<Dim> = dims
        .map(
            |((&own, &wanted), declared)| match (own, wanted, &declared.value) {
                (Dim::Dynamic, Dim::Fixed(extent), Some(dimension::Value::DimValue(value)))
                    if *value == extent =>
                {
                    wanted
                }
                _ => own,
            },
        )
        .collect();
    if kept == own {
        return Ok(value);
    }
    let extents = own_extents(e, value, own.len(), Align::First)?;
    Ok(DynamicReshape::with(&kept).build(e, value, extents)?)
}

/// How a user makes the condition of a choice known, so that only the branch that it takes is imported.
fn way_to_one_branch(g: &Graph, condition: ValueId) -> Option<String> {
    let inputs = fixing_inputs(g, condition)?;
    let options = inputs.iter().map(|name| format!("--bind {name}=FILE.npz"));
    let options = options.collect::<Vec<_>>().join(" ");
    let (which, them) = match inputs.len() {
        1 => ("one input", "makes it a constant"),
        _ => ("inputs", "makes them constants"),
    };
    Some(format!(
        "the condition depends on {which} alone: `{options}` {them}, and only the branch that is taken is imported"
    ))
}

/// The refusal of a number of scan inputs that is not from 1 to `most`.
fn wrong_count(n: &Node<'_, '_, '_>, most: usize) -> Refusal {
    match n.int("num_scan_inputs") {
        Ok(Some(found)) => Refusal::value("num_scan_inputs", found, format_args!("1 to {most}")),
        Ok(None) => Refusal::missing("num_scan_inputs"),
        Err(refusal) => refusal,
    }
}

/// The refusal of a graph with fewer outputs than it carries values.
pub(super) fn few_outputs(body: &GraphProto, carried: usize) -> Refusal {
    let found = format!("{} outputs", body.output.len());
    Refusal::parts("its graph", found, format_args!("{carried} or more"))
}

/// A scan of `results` results, the first `states` of which are carried, with a step that reads captures.
pub(super) fn scan<'a>(
    n: &mut Node<'a, '_, '_>,
    attrs: &[Attr<'_>],
    operands: &[ValueId],
    (states, results): (usize, usize),
    (step, captures): (Body<'_, 'a>, &Captures<'a>),
) -> Values {
    let op = RegionOp {
        def: Scan::DEF,
        attrs,
        operands,
        results,
    };
    let carried = Carried::new(states, 0);
    of_module(n.looped(op, &mut [step], captures, carried)?)
}

fn scanned(n: &mut Node<'_, '_, '_>) -> Values {
    if n.opset == 8 {
        return batches(n);
    }
    let body = n.graph("body")?;
    let count = n
        .int("num_scan_inputs")?
        .and_then(|own| usize::try_from(own).ok());
    let count = count.filter(|own| *own <= n.inputs.len());
    let count = count.ok_or_else(|| wrong_count(n, n.inputs.len()))?;
    let states = n.inputs.len() - count;
    let outputs = body.output.len().checked_sub(states);
    let outputs = outputs.ok_or_else(|| few_outputs(body, states))?;
    let list = |n: &Node<'_, '_, '_>, name| Ok::<_, Refusal>(n.ints(name)?.unwrap_or(&[]).to_vec());
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
        let mut values = yielded(&values, e)?;
        for (at, &before) in arguments.iter().enumerate().take(states) {
            values[at] = promised(e, &body.output[at], values[at], before)?;
        }
        Ok(values)
    });
    let counts = (states, states + outputs);
    scan(n, &attrs, &operands, counts, (step, &captures))
}

/// The most sequences of a batch whose scans are written out.
const MOST_BATCHES: i64 = 64;

/// A scan as opset 8 has it: of each sequence of a batch by itself, with the number of steps of each.
fn batches(n: &mut Node<'_, '_, '_>) -> Values {
    let body = n.graph("body")?;
    let count = n
        .int("num_scan_inputs")?
        .and_then(|own| usize::try_from(own).ok());
    let states = count.and_then(|count| n.inputs.len().checked_sub(1 + count));
    let (Some(count), Some(states)) = (count.filter(|own| *own > 0), states) else {
        return Err(wrong_count(n, n.inputs.len().saturating_sub(1)));
    };
    let outputs = body.output.len().checked_sub(states);
    let outputs = outputs.ok_or_else(|| few_outputs(body, states))?;
    let reversed = n.ints("directions")?.unwrap_or(&[]).to_vec();
    let mut operands = Vec::new();
    for at in 1..n.inputs.len() {
        operands.push(n.input(at)?);
    }
    let (batch, steps) = (
        n.e.extent(operands[states], 0)?,
        n.e.extent(operands[states], 1)?,
    );
    if !(1..=MOST_BATCHES).contains(&batch) {
        return Err(Refusal::extent(
            "the number of sequences",
            batch,
            format_args!("1 to {MOST_BATCHES}"),
        ));
    }
    let lengths = n.ints_in(0)?.unwrap_or_else(|| vec![steps; batch as usize]);
    let fits = |own: &i64| (1..=steps).contains(own);
    if lengths.len() as i64 != batch || !lengths.iter().all(fits) {
        let expected = format!("{batch} lengths from 1 to {steps}");
        return Err(Refusal::value(
            n.operand(0),
            format_args!("{lengths:?}"),
            expected,
        ));
    }
    let captures = Captures::of(n, &[body])?;
    let attrs = Scan::attrs(states as i64, count as i64, &[], &[], &reversed, &[]);
    let mut results: Vec<Vec<ValueId>> = vec![Vec::new(); states + outputs];
    for (at, length) in (0..batch).zip(lengths) {
        let mut own = Vec::with_capacity(operands.len());
        for (place, &operand) in operands.iter().enumerate() {
            let mut part = n.e.part(operand, 0, at, at + 1)?;
            if place >= states {
                part = n.e.part(part, 1, 0, length)?;
            }
            own.push(Squeeze::with(&[0]).build(&mut n.e, part)?);
        }
        let step: Body<'_, '_> = Box::new(move |region, e, arguments| {
            let inputs: Vec<Value> = arguments.iter().copied().map(Value::Op).collect();
            let values = region.graph(body, &inputs, e)?;
            yielded(&values, e)
        });
        let op = RegionOp {
            def: Scan::DEF,
            attrs: &attrs,
            operands: &own,
            results: states + outputs,
        };
        let carried = Carried::new(states, 0);
        let found = n.looped(op, &mut [step], &captures, carried)?;
        for (place, (all, own)) in results.iter_mut().zip(found).enumerate() {
            let mut own = ExpandDims::with(&[0]).build(&mut n.e, own)?;
            if place >= states && length < steps {
                // Steps after the end of a sequence are 0.
                let rank = n.e.rank(own);
                let mut high = vec![0; rank];
                high[1] = steps - length;
                own = PadOp::with(&vec![0; rank], &high).build(&mut n.e, own, None)?;
            }
            all.push(own);
        }
    }
    let all = results.iter().map(|parts| n.e.concat(parts, 0));
    of_module(all.collect::<Result<_, Refusal>>()?)
}
