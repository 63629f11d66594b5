//! Choices and loops. What their graphs read from outside becomes operands, since regions of core are closed.

use mind_core::ops::control::{If, Scan};
use mind_ir::ValueId;
use mind_ir::attr::Attr;
use mind_ir::opdef::Op;

use super::Operator;
use crate::import::emit::Emit;
use crate::import::node::Node;
use crate::import::region::{Body, Captures};
use crate::import::value::Value;
use crate::refused::Refused;

pub(super) const ROWS: &[Operator] = &[
    Operator::values("If", &[1, 11, 13, 16, 19, 21, 23, 24, 25], choice),
    Operator::values("Scan", &[9, 11, 16, 19, 21, 23, 24, 25], scanned),
];

pub(super) type Values = Result<Vec<Value>, Refused>;

pub(super) fn of_module(values: Vec<ValueId>) -> Values {
    Ok(values.into_iter().map(Value::Op).collect())
}

/// The values of the module that a graph yields.
pub(super) fn yielded(values: &[Value], e: &mut Emit<'_>) -> Result<Vec<ValueId>, Refused> {
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
pub(super) fn scan<'a>(
    n: &mut Node<'a, '_, '_>,
    attrs: &[Attr<'_>],
    operands: &[ValueId],
    results: usize,
    (step, captures): (Body<'_, 'a>, &Captures<'a>),
) -> Values {
    of_module(n.closed(Scan::DEF, attrs, operands, results, &mut [step], captures)?)
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
