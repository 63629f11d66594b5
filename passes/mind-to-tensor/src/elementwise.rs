//! Lowers elementwise ops to maps.

use mind_core::scalar_of;
use mind_ir::builder::Builder;
use mind_ir::tensor::Tensor;
use mind_ir::{OpId, ValueId};

use crate::broadcast::broadcast_with;
use crate::emit::{Lowered, map};

/// Lowers an op to a map with the op in its body. Splat constants move into the body, unless all operands are splats.
pub(crate) fn lower(op: OpId, b: &mut Builder<'_>) -> Lowered {
    let operands = b.graph.operands(op).to_vec();
    let constants = operands.iter().map(|&value| scalar_of(b.graph, value));
    let mut constants: Vec<Option<Tensor>> = constants.collect();
    if constants.iter().all(Option::is_some) {
        constants.fill(None);
    }
    let pairs = || operands.iter().zip(&constants);
    let varying: Vec<ValueId> = (pairs().filter(|(_, constant)| constant.is_none()))
        .map(|(&value, _)| value)
        .collect();
    let mut wide = Vec::with_capacity(varying.len());
    for &value in &varying {
        let others = operands.iter().filter(|&&other| other != value);
        wide.push(
            others
                .copied()
                .try_fold(value, |wide, other| broadcast_with(b, wide, other))?,
        );
    }
    map(b, &wide, |b, scalars| {
        let mut scalars = scalars.iter().copied();
        let all = constants.iter().map(|constant| match constant {
            Some(constant) => mind_core::constant(b, constant),
            None => scalars
                .next()
                .expect("a scalar for each operand that varies"),
        });
        let all: Vec<ValueId> = all.collect();
        b.again(op, &all)
    })
}
