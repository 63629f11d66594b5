//! Removes tensors without elements, which MIL does not have.

use mind_convert::Refusal;
use mind_core::ops::join::Concat;
use mind_ir::graph::Graph;
use mind_ir::opdef::Trait;
use mind_ir::types::{Dim, TypeView};
use mind_ir::{OpId, ValueId};
use mind_tensor::ops::join::Concat as TensorConcat;

/// Removes tensors without elements from concatenations, and the ops that are dead afterwards.
pub(crate) fn drop_empty(g: &mut Graph) {
    let ops: Vec<OpId> = g.walk().collect();
    for &op in &ops {
        if g.is::<Concat>(op) || g.is::<TensorConcat>(op) {
            drop_inputs(g, op);
        }
    }
    for &op in ops.iter().rev() {
        let results = g.results(op);
        let unread = results.into_iter().all(|value| g.uses(value).is_empty());
        let empty = results.into_iter().any(|value| is_empty(g, value));
        if unread && empty && g.def(op).has(Trait::Pure) && g.parent(op).is_some() {
            g.erase(op);
        }
    }
}

fn drop_inputs(g: &mut Graph, op: OpId) {
    let inputs = g.operands(op).to_vec();
    let kept: Vec<ValueId> = inputs
        .iter()
        .copied()
        .filter(|&value| !is_empty(g, value))
        .collect();
    if kept.len() == inputs.len() {
        return;
    }
    match kept[..] {
        // All inputs are empty, and so is the result.
        [] => {}
        [one] => {
            let result = g.result(op);
            g.replace_all_uses(result, one);
            g.erase(op);
        }
        _ => g.set_operands(op, &kept),
    }
}

fn is_empty(g: &Graph, value: ValueId) -> bool {
    has_no_elements(g.ty(value))
}

fn has_no_elements(ty: TypeView<'_>) -> bool {
    ty.shape.contains(&Dim::Fixed(0))
}

/// Rejects an op with a result without elements.
///
/// # Errors
///
/// An extent of 0 in a result.
pub(crate) fn check(g: &Graph, op: OpId) -> Result<(), Refusal> {
    let mut results = g.results(op).into_iter();
    let Some(empty) = results.find(|&value| is_empty(g, value)) else {
        return Ok(());
    };
    Err(Refusal::unsupported(
        format!(
            "its result {} has no elements, and extents in MIL run from 1 to {}",
            g.type_text(empty),
            mind_mil::check::MAX_EXTENT
        ),
        "give the inputs extents from 1 on, as with `--dim B=1`, or remove the ops that read this result",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mind_ir::types::{DType, TensorType};

    #[test]
    fn an_extent_of_zero_is_no_elements() {
        let empty = |shape: &[i64]| has_no_elements(TensorType::fixed(DType::F32, shape).view());
        assert!(empty(&[2, 0]) && !empty(&[2, 1]) && !empty(&[]));
    }
}
