//! Lowers products with paired dimensions.

use mind_core::ops::dot_general::DotGeneral;
use mind_core::pairs::Pairs;
use mind_ir::builder::Builder;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};
use mind_tensor::ops::contract::Contract;

use crate::emit::{Lower, Lowered, converted};
use crate::packed::Packing;

pub(crate) const ROWS: &[(&OpDef, Lower)] =
    &[(DotGeneral::DEF, |op, b| lower_dot_general(op, b, false))];

/// Like [`ROWS`], but with dot products of four bytes.
pub(crate) const ROWS_OF_BYTES: &[(&OpDef, Lower)] =
    &[(DotGeneral::DEF, |op, b| lower_dot_general(op, b, true))];

fn lower_dot_general(op: OpId, b: &mut Builder<'_>, dots_bytes: bool) -> Lowered {
    let view = DotGeneral::from_id(op);
    let operands = [view.lhs(b.graph), view.rhs(b.graph)];
    let pairs = view.pairs(b.graph, operands.map(|value| b.graph.ty(value).rank()))?;
    let dtype = b.graph.ty(b.graph.result(op)).dtype;
    product(op, b, &pairs, operands, dtype, dots_bytes)
}

/// Emits the product of `operands` that replaces `op`, with sums of `dtype`, and with dot products of four bytes if
/// `dots_bytes`.
pub(crate) fn product(
    op: OpId,
    b: &mut Builder<'_>,
    pairs: &Pairs,
    operands: [ValueId; 2],
    dtype: DType,
    dots_bytes: bool,
) -> Lowered {
    match Packing::of(b, pairs, operands, dtype, dots_bytes) {
        Some(packing) => packing.product(op, b, pairs, operands),
        None => plain(b, pairs, operands, dtype),
    }
}

/// Emits the product with operands converted to the dtype of the sums.
fn plain(b: &mut Builder<'_>, pairs: &Pairs, [lhs, rhs]: [ValueId; 2], dtype: DType) -> Lowered {
    let (lhs, rhs) = (converted(b, lhs, dtype)?, converted(b, rhs, dtype)?);
    let listed = |axes: &[usize]| -> Vec<i64> { axes.iter().map(|&axis| axis as i64).collect() };
    let [left, right] = [&pairs.lhs, &pairs.rhs].map(|side| listed(&side.contracted));
    Contract::with(&left, &right)
        .lhs_batch(&listed(&pairs.lhs.batch))
        .rhs_batch(&listed(&pairs.rhs.batch))
        .build(b, lhs, rhs)
}
