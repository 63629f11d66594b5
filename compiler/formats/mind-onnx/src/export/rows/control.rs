//! Exports conditionals and loops. Captures become direct references, because ONNX graphs can read outer values by
//! name.

use mind_core::ops::control::{If, Scan, While, block, yields};
use mind_diag::Diagnostics;
use mind_ir::opdef::Op;
use mind_ir::types::{DType, TensorType};
use mind_ir::{OpId, ValueId};

use super::super::draft::{AttrDraft, Val};
use super::super::emit::{Attrs, Emit};
use super::super::model::type_proto;
use super::super::operator as op;
use super::{Form, Many, Row};
use crate::proto::TypeProto;

pub(super) const ROWS: &[Row] = &[
    (If::DEF, Form::Regions(choice)),
    (While::DEF, Form::Regions(repeated)),
    (Scan::DEF, Form::Regions(scanned)),
];

type Typed = Vec<(Val, Option<TypeProto>)>;

/// Returns the values that a region yields, with their types in the module.
fn typed(e: &Emit<'_>, op: OpId, region: usize, own: Vec<Val>) -> Typed {
    let values = yields(e.g, op, region).iter();
    own.into_iter()
        .zip(values)
        .map(|(own, &value)| (own, Some(type_proto(e.g, e.g.ty(value)))))
        .collect()
}

/// Returns new graph inputs for arguments of a region.
fn inputs(e: &mut Emit<'_>, arguments: impl Iterator<Item = ValueId>) -> Vec<(Val, TypeProto)> {
    arguments
        .map(|argument| {
            let name = e.label(argument);
            (e.fresh(name), type_proto(e.g, e.g.ty(argument)))
        })
        .collect()
}

fn choice(op: OpId, e: &mut Emit<'_>, found: &mut Diagnostics) -> Many {
    let operands = e.operands(op);
    let (&condition, given) = operands
        .split_first()
        .expect("a verified `if` has a predicate");
    let mut attrs: Attrs = Vec::new();
    for (region, name) in ["then_branch", "else_branch"].into_iter().enumerate() {
        let body = block(e.g, op, region);
        let graph = e.graph(Vec::new(), |e| {
            let own = e.inlined(body, given, found);
            Ok(typed(e, op, region, own))
        })?;
        attrs.push((name, graph.into()));
    }
    let count = e.g.results(op).len();
    if count == 0 {
        return Ok(Vec::new());
    }
    e.nodes(op::IF, &[Some(condition)], attrs, count)
}

/// Exports `while` to `Loop`. The condition is inlined before the loop for the first step, and at the end of the body
/// for the next one.
fn repeated(op: OpId, e: &mut Emit<'_>, found: &mut Diagnostics) -> Many {
    let carried = While::from_id(op).carried(e.g) as usize;
    if carried == 0 {
        return Ok(Vec::new());
    }
    let operands = e.operands(op);
    let (test, body) = (block(e.g, op, 0), block(e.g, op, 1));
    let first = e.inlined(test, &operands, found);
    let step = e.fresh("step");
    let goes = e.fresh("goes");
    let scalar = |e: &Emit<'_>, dtype| type_proto(e.g, TensorType::fixed(dtype, &[]).view());
    let mut arguments = vec![
        (step, scalar(e, DType::I64)),
        (goes, scalar(e, DType::Bool)),
    ];
    let of_body = e.g.arguments(body);
    arguments.extend(inputs(e, of_body.into_iter().take(carried)));
    let states: Vec<Val> = arguments[2..].iter().map(|(own, _)| *own).collect();
    let fixed = operands[carried..].to_vec();
    let graph = e.graph(arguments, |e| {
        let given = [&states[..], &fixed].concat();
        let next = e.inlined(body, &given, found);
        let given = [&next[..], &fixed].concat();
        let goes = e.inlined(test, &given, found);
        let mut outputs = typed(e, op, 0, goes);
        outputs.extend(typed(e, op, 1, next));
        Ok(outputs)
    })?;
    let given = operands[..carried].iter().copied().map(Some);
    let inputs: Vec<Option<Val>> = [None, Some(first[0])].into_iter().chain(given).collect();
    e.nodes(op::LOOP, &inputs, vec![("body", graph.into())], carried)
}

fn scanned(op: OpId, e: &mut Emit<'_>, found: &mut Diagnostics) -> Many {
    let view = Scan::from_id(op);
    let operands = e.operands(op);
    let (carried, count) = (view.carried(e.g) as usize, view.scanned(e.g) as usize);
    let body = block(e.g, op, 0);
    let of_body = e.g.arguments(body);
    let arguments = inputs(e, of_body.into_iter().take(carried + count));
    let own: Vec<Val> = arguments.iter().map(|(own, _)| *own).collect();
    let given = [&own[..], &operands[carried + count..]].concat();
    let graph = e.graph(arguments, |e| {
        let yielded = e.inlined(body, &given, found);
        Ok(typed(e, op, 0, yielded))
    })?;
    let results = e.g.results(op).len();
    if results == 0 {
        return Ok(Vec::new());
    }
    let axes =
        |axes: Vec<usize>| AttrDraft::Ints(axes.into_iter().map(|axis| axis as i64).collect());
    let flags = |count: usize, is_reversed: &dyn Fn(usize) -> bool| {
        AttrDraft::Ints((0..count).map(|at| i64::from(is_reversed(at))).collect())
    };
    let g = e.g;
    let mut attrs: Attrs = vec![
        ("body", graph.into()),
        ("num_scan_inputs", (count as i64).into()),
        ("scan_input_axes", axes(view.input_axes(g))),
        (
            "scan_input_directions",
            flags(count, &|at| view.is_input_reversed(g, at)),
        ),
    ];
    if results > carried {
        attrs.push(("scan_output_axes", axes(view.output_axes(g))));
        let count = results - carried;
        attrs.push((
            "scan_output_directions",
            flags(count, &|at| view.is_output_reversed(g, at)),
        ));
    }
    let inputs: Vec<Option<Val>> = operands[..carried + count]
        .iter()
        .copied()
        .map(Some)
        .collect();
    e.nodes(op::SCAN, &inputs, attrs, results)
}
