//! Sums of products.

use mind_core::halves::{check_halves, split_halves};
use mind_core::pairs::{Pairs, Side};
use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::tensor::Tensor;
use mind_ir::verify::{InferResult, VerifyError};

use crate::axes::listed;

ops! {
    /// Sums of products along dimensions that both operands have.
    ///
    /// With `halves` each element of `i32` holds two integers of 16 bits, the lower one first, and a product is the sum of
    /// the products of both, modulo 2^32.
    ///
    /// Shapes: the dimensions `lhs_batch` with `rhs_batch`, pair by pair, then the other dimensions of
    /// `lhs`, then those of `rhs`; `lhs_contract` and `rhs_contract` are summed over, pair by pair.
    /// Order: one chain of fused multiply-adds per element, over the contracted dimensions in the order
    /// listed, the last one fastest; see docs/numerics.md, `MatMul`.
    /// Errors: E2004 different dtypes, E2005 `bool`, or `halves` of another dtype than `i32`, E3003 extents of a pair differ, or lists of other
    /// lengths, E3004 axis out of range, E3005 duplicate axis.
    /// Source: this compiler, after StableHLO's `dot_general`.
    Contract = "tensor.contract" {
        operands: (lhs: Num, rhs: Num),
        attrs: {
            lhs_batch: Ints = &[], rhs_batch: Ints = &[], lhs_contract: Ints, rhs_contract: Ints,
            halves: Bool = false,
        },
        traits: [Pure, SameDType, Extended],
        names: {},
        infer: infer_contract,
        eval: eval_contract,
    }
}

impl Contract {
    /// What each dimension of operands of these ranks is for.
    ///
    /// # Errors
    ///
    /// E3004 axis out of range, E3005 duplicate axis, also when once in each list.
    pub fn pairs(self, g: &Graph, [lhs, rhs]: [usize; 2]) -> Result<Pairs, VerifyError> {
        let side = |batch: &[i64], contracted: &[i64], rank| {
            let named = listed("contract", &[batch, contracted].concat(), rank)?;
            Ok(Side::new(batch.len(), &named, rank))
        };
        Ok(Pairs {
            op: "contract",
            lhs: side(self.lhs_batch(g), self.lhs_contract(g), lhs)?,
            rhs: side(self.rhs_batch(g), self.rhs_contract(g), rhs)?,
        })
    }
}

fn infer_contract(op: Contract, g: &Graph) -> InferResult {
    let (lhs, rhs) = (g.ty(op.lhs(g)), g.ty(op.rhs(g)));
    check_halves("contract", lhs.dtype, op.halves(g))?;
    let pairs = op.pairs(g, [lhs.rank(), rhs.rank()])?;
    if op.halves(g) && pairs.lhs.contracted.is_empty() {
        return Err(Box::new(VerifyError::Extent {
            op: "contract",
            dimension: "the number of contracted dimensions with `halves`".to_owned(),
            expected: "1 or more".to_owned(),
            found: "0".to_owned(),
            help: "halves are added up along a contracted dimension",
        }));
    }
    Ok(lhs.with_shape(pairs.shape(g, lhs, rhs)?).into())
}

fn eval_contract(op: Contract, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let (lhs, rhs) = (operands[0], operands[1]);
    let pairs = op.pairs(cx.graph, [lhs.rank(), rhs.rank()]);
    let pairs = pairs.expect("verified axes lie in the rank");
    let paired = pairs
        .lhs
        .contracted
        .first()
        .zip(pairs.rhs.contracted.first());
    match paired.filter(|_| op.halves(cx.graph)) {
        Some((&l, &r)) => {
            let (lhs, rhs) = (split_halves(cx, lhs, l)?, split_halves(cx, rhs, r)?);
            pairs.eval(cx, &lhs, &rhs)
        }
        None => pairs.eval(cx, lhs, rhs),
    }
}
