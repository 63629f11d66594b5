//! Simplification of the operands and bodies of maps.

use mind_core::scalar_of;
use mind_ir::builder::Builder;
use mind_ir::graph::{Graph, ValueDef};
use mind_ir::opdef::Op;
use mind_ir::tensor::Tensor;
use mind_ir::{OpId, ValueId};
use mind_rewrite::{MatchFailure, Rewriter};
use mind_tensor::ops::broadcast::Broadcast;
use mind_tensor::ops::map::Map;

use super::body::copy_body;
use super::query::{defined_by, is_open};
use crate::canonicalize::declare::patterns;

patterns! {
    /// A map that yields its arguments is replaced by its operands.
    MapIdentity = "tensor-map-identity" on [Map] => drop_identity;

    /// Duplicate operands, and operands that the body does not read, are removed.
    MapOperands = "tensor-map-operands" on [Map] => drop_operands;

    /// Splat operands become constants of the body.
    MapConstant = "tensor-map-constant" on [Map] => sink_constants;
}

/// The replacement of an argument in a new body.
enum Source {
    Argument(usize),
    Constant(Tensor),
}

fn drop_identity(op: OpId, rw: &mut Rewriter<'_>) -> Result<(), MatchFailure> {
    let map = Map::from_id(op);
    let body = map.body(rw);
    let end = rw
        .terminator(body)
        .ok_or(MatchFailure("the body does not end"))?;
    let operand = |&value: &ValueId| match rw.value_def(value) {
        ValueDef::Argument(block, index) if block == body => Some(map.inputs(rw)[index as usize]),
        _ => None,
    };
    let values: Option<Vec<ValueId>> = rw.operands(end).iter().map(operand).collect();
    let values = values.ok_or(MatchFailure("the body computes something"))?;
    let inputs = map.inputs(rw);
    if inputs.len() > 1 && inputs.iter().any(|&input| is_open(rw, input)) {
        return Err(MatchFailure("an extent is not known"));
    }
    rw.replace_all(op, &values)
}

fn drop_operands(op: OpId, rw: &mut Rewriter<'_>) -> Result<(), MatchFailure> {
    let map = Map::from_id(op);
    let inputs = map.inputs(rw).to_vec();
    let arguments = rw.arguments(map.body(rw));
    let mut kept: Vec<ValueId> = Vec::new();
    let mut sources = Vec::new();
    for (index, &input) in inputs.iter().enumerate() {
        let known = kept.iter().position(|&own| own == input);
        // The last operand is kept if it is the only one, because it determines the shape.
        let spare = !kept.is_empty() || index + 1 < inputs.len();
        let unread = rw.uses(arguments.get(index)).is_empty() && !is_open(rw, input);
        sources.push(Source::Argument(match known {
            Some(at) => at,
            None if unread && spare => 0,
            None => {
                kept.push(input);
                kept.len() - 1
            }
        }));
    }
    if kept.len() == inputs.len() {
        return Err(MatchFailure("the body reads every operand"));
    }
    rebuild(rw, map, &kept, &sources)
}

fn sink_constants(op: OpId, rw: &mut Rewriter<'_>) -> Result<(), MatchFailure> {
    let map = Map::from_id(op);
    let inputs = map.inputs(rw).to_vec();
    let (mut kept, mut sources) = (Vec::new(), Vec::new());
    for &input in &inputs {
        match everywhere(rw, input).filter(|_| !is_open(rw, input)) {
            Some(constant) => sources.push(Source::Constant(constant)),
            None => {
                sources.push(Source::Argument(kept.len()));
                kept.push(input);
            }
        }
    }
    if kept.is_empty() || kept.len() == inputs.len() {
        return Err(MatchFailure("no constant operand, or no other operand"));
    }
    rebuild(rw, map, &kept, &sources)
}

/// Returns the scalar that `value` has at every position, if it is a constant or the broadcast of one.
fn everywhere(g: &Graph, value: ValueId) -> Option<Tensor> {
    let source = match defined_by::<Broadcast>(g, value) {
        Some(broadcast) => broadcast.inputs(g)[0],
        None => value,
    };
    scalar_of(g, source)
}

/// Replaces a map by one with other operands.
fn rebuild(
    rw: &mut Rewriter<'_>,
    map: Map,
    operands: &[ValueId],
    sources: &[Source],
) -> Result<(), MatchFailure> {
    let old = map.body(rw);
    rw.replace_with_body(map.id(), Map::DEF, operands, |b, arguments| {
        let scalar = |b: &mut Builder<'_>, source: &Source| match source {
            Source::Argument(at) => arguments[*at],
            Source::Constant(tensor) => mind_core::constant(b, tensor),
        };
        let scalars: Vec<ValueId> = sources.iter().map(|source| scalar(b, source)).collect();
        Ok(copy_body(b, old, &scalars))
    })
}
