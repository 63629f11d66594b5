//! Inputs of the model that a value is computed from, for the reasons of refusals.

use mind_core::ops::control::If;
use mind_core::ops::input::Input;
use mind_ir::graph::{Graph, ValueDef};
use mind_ir::types::{Dim, TypeView};
use mind_ir::{BlockId, ValueId};
use rustc_hash::FxHashSet;

/// Returns the names of the inputs that `value` is computed from, the nearest first.
fn sources(g: &Graph, value: ValueId) -> Vec<String> {
    let (mut found, mut seen) = (Vec::new(), FxHashSet::default());
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        if !seen.insert(value) {
            continue;
        }
        match g.value_def(value) {
            ValueDef::Argument(block, at) => open.extend(operand_of(g, block, at)),
            ValueDef::Result(op, _) => match g.view::<Input>(op) {
                Some(input) => found.push(g.name(input.name(g)).to_owned()),
                None => open.extend(g.operands(op)),
            },
        }
    }
    found
}

/// Returns the names of the inputs that determine `value`. Returns `None` if one of the values that it is computed from is
/// not a single element, or if no input is among them.
pub fn fixing_inputs(g: &Graph, value: ValueId) -> Option<Vec<String>> {
    let (mut found, mut seen) = (Vec::new(), FxHashSet::default());
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        if !seen.insert(value) {
            continue;
        }
        let is_one = g.ty(value).shape.iter().all(|dim| *dim == Dim::Fixed(1));
        match g.value_def(value) {
            _ if !is_one => return None,
            ValueDef::Argument(block, at) => {
                // Values that loops carry change, whatever they begin with.
                g.view::<If>(g.block_owner(block)?)?;
                open.push(operand_of(g, block, at)?);
            }
            ValueDef::Result(op, _) => match g.view::<Input>(op) {
                Some(input) => found.push(g.name(input.name(g)).to_owned()),
                None => open.extend(g.operands(op)),
            },
        }
    }
    found.sort_unstable();
    (!found.is_empty()).then_some(found)
}

/// Returns the operand that an argument of a region has the value of: the last argument that of the last operand, and so on.
fn operand_of(g: &Graph, block: BlockId, at: u32) -> Option<ValueId> {
    let operands = g.operands(g.block_owner(block)?);
    let behind = g.arguments(block).len().checked_sub(at as usize)?;
    let place = operands.len().checked_sub(behind)?;
    operands.get(place).copied()
}

/// Returns why a value is not known, and the option that makes it known.
pub fn at_run_time(g: &Graph, value: ValueId) -> String {
    let is_input = g
        .defining_op(value)
        .is_some_and(|op| g.view::<Input>(op).is_some());
    let names = sources(g, value);
    match &names[..] {
        [] => "is computed at run time".to_owned(),
        [_] if is_input => "comes at run time; `--bind` makes it a constant".to_owned(),
        names => format!(
            "is computed at run time from `{}`; `--bind` makes inputs constants",
            names.join("`, `")
        ),
    }
}

/// Returns why an extent of a value is not known, and the option that makes it known.
pub(crate) fn open_extent(g: &Graph, value: ValueId) -> String {
    let ty: TypeView<'_> = g.ty(value);
    if !ty.shape.contains(&Dim::Dynamic) {
        return "is not known here; `--dim` gives it".to_owned();
    }
    at_run_time(g, value)
}
