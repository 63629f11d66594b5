//! Imports conditionals and scans. Values that graphs capture become operands, because regions of core are closed.

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
use crate::import::emit::{Emit, One};
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

/// Returns the yielded values of a graph as values of the module.
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

/// Returns whether both branches declare output `at` as a scalar. If one of them still yields a list of one element,
/// the types of core differ, although runtimes accept it.
fn is_single(branches: [&GraphProto; 2], at: usize) -> bool {
    branches.iter().all(|graph| {
        let output = graph.output.get(at);
        output.and_then(declared_rank) == Some(0)
    })
}

/// Returns the value that a step yields for the carried value `before`. A data-dependent extent is checked at run time
/// to be that of `before`, if the model declares so for `output`.
pub(super) fn promised(
    e: &mut Emit<'_>,
    output: &ValueInfoProto,
    value: ValueId,
    before: ValueId,
) -> Result<ValueId, Refusal> {
    let (own, wanted) = (e.dims(value), e.dims(before));
    if own.len() != wanted.len() {
        return Ok(value);
    }
    let declared = declared_extents(output, own.len());
    let dims = own.iter().zip(&wanted).zip(declared);
    let kept = dims.map(|((&own, &wanted), declared)| match (own, wanted) {
        (Dim::Dynamic, Dim::Fixed(extent)) if declared == Some(extent) => wanted,
        _ => own,
    });
    let kept = kept.collect();
    checked(e, value, kept)
}

/// Returns the value that a step yields to be stacked. A data-dependent extent is checked at run time to be the one
/// that the model declares for `output`.
pub(super) fn stacked(e: &mut Emit<'_>, output: &ValueInfoProto, value: ValueId) -> One {
    let own = e.dims(value);
    let declared = declared_extents(output, own.len());
    let kept = own.iter().zip(declared).map(|(&own, declared)| match own {
        Dim::Dynamic => declared.map_or(own, Dim::Fixed),
        Dim::Fixed(_) | Dim::Symbol(_) => own,
    });
    let kept = kept.collect();
    checked(e, value, kept)
}

/// Returns the extents that a graph declares of an output of rank `rank`; `None` for undeclared ones.
fn declared_extents(output: &ValueInfoProto, rank: usize) -> Vec<Option<i64>> {
    let ty = output.r#type.as_ref();
    let shape = ty.and_then(|own| own.tensor_type.as_ref()?.shape.as_ref());
    let Some(shape) = shape.filter(|shape| shape.dim.len() == rank) else {
        return vec![None; rank];
    };
    let extents = shape.dim.iter().map(|dim| match &dim.value {
        Some(dimension::Value::DimValue(extent @ 0..)) => Some(*extent),
        Some(dimension::Value::DimValue(_) | dimension::Value::DimParam(_)) | None => None,
    });
    extents.collect()
}

/// Returns `value` with extents `kept`, which are checked at run time where those of `value` are unknown.
fn checked(e: &mut Emit<'_>, value: ValueId, kept: Vec<Dim>) -> One {
    if kept == e.dims(value) {
        return Ok(value);
    }
    let extents = own_extents(e, value, kept.len(), Align::First)?;
    Ok(DynamicReshape::with(&kept).build(e, value, extents)?)
}

/// Returns a help on how to make the condition of a conditional known, so that only the selected branch is imported.
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

/// Returns the refusal of a number of scan inputs outside of `1..=most`.
fn wrong_count(n: &Node<'_, '_, '_>, most: usize) -> Refusal {
    match n.int("num_scan_inputs") {
        Ok(Some(found)) => Refusal::value("num_scan_inputs", found, format_args!("1 to {most}")),
        Ok(None) => Refusal::missing("num_scan_inputs"),
        Err(refusal) => refusal,
    }
}

/// Returns the refusal of a graph with fewer outputs than carried values.
pub(super) fn few_outputs(body: &GraphProto, carried: usize) -> Refusal {
    let found = format!("{} outputs", body.output.len());
    Refusal::parts("its graph", found, format_args!("{carried} or more"))
}

/// Returns a scan with `results` results, the first `states` of which are carried. The step may read captures.
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

/// Maximum batch size of a scan that is unrolled over the batch.
const MOST_BATCHES: i64 = 64;

/// Imports a scan of opset 8, which runs over each sequence of a batch separately, with a length for each.
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
                // Steps after the end of a sequence yield 0.
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
