//! Products of dynamically quantised rows by a block-quantised matrix.

use mind_core::ops::block_matmul::{block_product, block_product_type};
use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::tensor::Tensor;
use mind_ir::types::Stored;
use mind_ir::verify::InferResult;

use crate::extents::extents;
use crate::ops::nest::check_schedule;

ops! {
    /// A product of quantised rows by a block-quantised matrix, which is given as the bytes of its blocks.
    ///
    /// Shapes: as core's `BlockMatMul`.
    /// Schedule: threads share the columns. `blocks` is a result of `loops.pack`; `at` is as for `loops.nest`.
    /// Order: as core's `BlockMatMul`.
    /// Errors: E2005 other dtypes, E3002 another rank, E3003 extents that do not match, E4006 not one offset, E4022
    /// `format` is `dense`.
    /// Source: this compiler.
    BlockProduct = "loops.block_product" {
        operands: (lhs: Integer, scale: Float, blocks: Integer),
        attrs: { format: Stored, at: Ints = &[] },
        traits: [Pure, Extended],
        names: {},
        infer: infer_block_product,
        eval: eval_block_product,
    }
}

fn infer_block_product(op: BlockProduct, g: &Graph) -> InferResult {
    let operands = [op.lhs(g), op.scale(g), op.blocks(g)];
    for value in operands {
        extents(g, "block_product", value)?;
    }
    check_schedule("block_product", 1, 0, &[], &[], op.at(g))?;
    block_product_type(g, op.format(g), operands)
}

fn eval_block_product(
    op: BlockProduct,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let format = op.format(cx.graph).expect("a verified format");
    block_product(cx, format, operands)
}
