//! Products with any batch and contracted dimensions.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::tensor::Tensor;
use mind_ir::types::TensorType;
use mind_ir::verify::{InferResult, VerifyError};

use crate::axes::listed;
use crate::pairs::{Pairs, Side};
use crate::sums::SumType;

ops! {
    /// A generalised matrix product (tensor contraction).
    ///
    /// The dimensions `lhs_batch` and `rhs_batch` are paired in order; so are `lhs_contract` and `rhs_contract`, over
    /// which products are summed. Operands are converted to `dtype` first, which is exact; the result has that dtype.
    /// Sums of integers are taken modulo 2^width. For example a product of matrices contracts dimension 1 of `lhs` with
    /// dimension 0 of `rhs`.
    ///
    /// Shapes: the batch dimensions, then the other dimensions of `lhs`, then those of `rhs`.
    /// Order: one chain of fused multiply-adds per element, over the contracted dimensions in the order listed, the
    /// last one fastest; see docs/numerics.md, `MatMul`.
    /// Errors: E2004 different dtypes, E2005 `bool`, or operands that `dtype` does not accumulate, E3002 a result of
    /// rank above 32, E3003 extents of a pair differ, or lists of other lengths, E3004 axis out of range, E3005
    /// duplicate axis.
    /// Source: this compiler; ONNX `Einsum`, MIL `einsum`, StableHLO `dot_general`.
    DotGeneral = "core.dot_general" {
        operands: (lhs: Num, rhs: Num),
        attrs: {
            lhs_batch "lb": Ints = &[], rhs_batch "rb": Ints = &[], lhs_contract "lc": Ints = &[],
            rhs_contract "rc": Ints = &[], dtype "t": SumType = SumType::Same,
        },
        traits: [Pure, Extended],
        names: { core: "DotGeneral", mic1: "dot_general" },
        infer: infer_dot_general,
        eval: eval_dot_general,
    }
}

impl DotGeneral {
    /// Returns the role of each dimension of operands with these ranks.
    ///
    /// # Errors
    ///
    /// E3004 axis out of range, E3005 duplicate axis, also if it is once in each list.
    pub fn pairs(self, g: &Graph, [lhs, rhs]: [usize; 2]) -> Result<Pairs, VerifyError> {
        let side = |batch: &[i64], contracted: &[i64], rank| {
            let named = listed("dot_general", &[batch, contracted].concat(), rank)?;
            Ok(Side::new(batch.len(), &named, rank))
        };
        Ok(Pairs {
            op: "dot_general",
            lhs: side(self.lhs_batch(g), self.lhs_contract(g), lhs)?,
            rhs: side(self.rhs_batch(g), self.rhs_contract(g), rhs)?,
        })
    }
}

fn infer_dot_general(op: DotGeneral, g: &Graph) -> InferResult {
    let (lhs, rhs) = (g.ty(op.lhs(g)), g.ty(op.rhs(g)));
    let operands = [("lhs", lhs.dtype), ("rhs", rhs.dtype)];
    let dtype = op.dtype(g).resolve("dot_general", operands)?;
    let pairs = op.pairs(g, [lhs.rank(), rhs.rank()])?;
    Ok(TensorType::new(dtype, pairs.shape(g, lhs, rhs)?).into())
}

fn eval_dot_general(
    op: DotGeneral,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let (lhs, rhs) = (operands[0], operands[1]);
    let pairs = op.pairs(cx.graph, [lhs.rank(), rhs.rank()]);
    let pairs = pairs.expect("verified axes lie in the rank");
    let [lhs, rhs] = op.dtype(cx.graph).widened(cx, [lhs, rhs])?;
    pairs.eval(cx, &lhs, &rhs)
}
