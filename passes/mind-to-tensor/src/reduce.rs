//! Reductions.

use mind_core::axes::resolve;
use mind_core::ops::reduce::{Max, Mean, Sum};
use mind_ir::OpId;
use mind_ir::builder::Builder;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::verify::VerifyError;
use mind_tensor::ops::reduce::Reduction;

use crate::emit::{Lower, Lowered, reduce};

pub(crate) const ROWS: &[(&OpDef, Lower)] = &[
    (Sum::DEF, |op, b| {
        let view = Sum::from_id(op);
        let (axes, keepdims) = (view.axes(b.graph).to_vec(), view.keepdims(b.graph));
        lower(op, b, Reduction::Sum, &axes, keepdims)
    }),
    (Mean::DEF, |op, b| {
        let view = Mean::from_id(op);
        let (axes, keepdims) = (view.axes(b.graph).to_vec(), view.keepdims(b.graph));
        lower(op, b, Reduction::Mean, &axes, keepdims)
    }),
    (Max::DEF, |op, b| {
        let view = Max::from_id(op);
        let (axes, keepdims) = (view.axes(b.graph).to_vec(), view.keepdims(b.graph));
        lower(op, b, Reduction::Max, &axes, keepdims)
    }),
];

/// Axes counted from the front, ascending; no axes written means all of them, removed.
fn lower(
    op: OpId,
    b: &mut Builder<'_>,
    kind: Reduction,
    written: &[i64],
    keepdims: bool,
) -> Lowered {
    let input = b.graph.operands(op)[0];
    let rank = b.graph.ty(input).rank();
    if written.is_empty() {
        let all: Vec<i64> = (0..rank as i64).collect();
        return reduce(b, kind, input, &all, false);
    }
    let axes = written.iter().map(|&axis| resolve("reduce", axis, rank));
    let mut axes: Vec<usize> = axes.collect::<Result<_, VerifyError>>()?;
    axes.sort_unstable();
    let axes: Vec<i64> = axes.into_iter().map(|axis| axis as i64).collect();
    reduce(b, kind, input, &axes, keepdims)
}
