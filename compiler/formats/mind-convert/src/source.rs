//! Finds the inputs that a value is computed from, for diagnostics.

use mind_core::ops::control::If;
use mind_core::ops::input::Input;
use mind_ir::graph::{Graph, ValueDef};
use mind_ir::types::{Dim, TypeView};
use mind_ir::{BlockId, ValueId};
use rustc_hash::FxHashSet;

/// Returns the names of the inputs that `value` is computed from, in the order of the search.
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

/// Returns the names of the inputs that determine `value`, if all of them and all intermediate values have a single
/// element. Returns `None` if arrays or unknown extents are involved, or if no input is.
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
                // Loop-carried values change from step to step, so their initial values do not determine them.
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

/// Returns the operand bound to a region argument. They are aligned at the end: the last argument is bound to the last
/// operand, and so on.
fn operand_of(g: &Graph, block: BlockId, at: u32) -> Option<ValueId> {
    let operands = g.operands(g.block_owner(block)?);
    let behind = g.arguments(block).len().checked_sub(at as usize)?;
    let place = operands.len().checked_sub(behind)?;
    operands.get(place).copied()
}

/// Returns why a value is not known at import, and how to make it known.
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

/// Returns how to make the unknown extents of a value known.
pub(crate) fn open_extent(g: &Graph, value: ValueId) -> String {
    let ty: TypeView<'_> = g.ty(value);
    if !ty.shape.contains(&Dim::Dynamic) {
        return "is not known here; `--dim` gives it".to_owned();
    }
    at_run_time(g, value)
}
