//! Tensor contractions.

use mind_core::pairs::{Pairs, Side};
use mind_core::parts::Parts;
use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::tensor::Tensor;
use mind_ir::verify::{InferResult, VerifyError};

use crate::axes::listed;

ops! {
    /// A tensor contraction: sums of products along dimensions that both operands have.
    ///
    /// With `parts` each `i32` element packs several integers, the lowest bits first, and a product is the sum of their
    /// products modulo 2^32. `halves` packs two signed 16-bit integers; `u8_by_i8` and `i8_by_u8` pack four bytes,
    /// which are unsigned on one side.
    ///
    /// Shapes: the dimensions `lhs_batch` paired with `rhs_batch`, then the other dimensions of `lhs`, then those of
    /// `rhs`. `lhs_contract` is paired with `rhs_contract` and summed over.
    /// Order: one chain of fused multiply-adds per element, over the contracted dimensions in the order listed, the
    /// last one fastest; see docs/numerics.md, `MatMul`.
    /// Errors: E2004 different dtypes, E2005 `bool`, or `parts` of another dtype than `i32`, E3003 extents of a pair
    /// differ, or lists of other lengths, E3004 axis out of range, E3005 duplicate axis.
    /// Source: this compiler, after StableHLO's `dot_general`.
    Contract = "tensor.contract" {
        operands: (lhs: Num, rhs: Num),
        attrs: {
            lhs_batch: Ints = &[], rhs_batch: Ints = &[], lhs_contract: Ints, rhs_contract: Ints,
            parts: Parts = Parts::Whole,
        },
        traits: [Pure, SameDType, Extended],
        names: {},
        infer: infer_contract,
        eval: eval_contract,
    }
}

impl Contract {
    /// Returns the role of each dimension of operands with these ranks.
    ///
    /// # Errors
    ///
    /// E3004 axis out of range, E3005 duplicate axis, also if it is once in each list.
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
    op.parts(g).check("contract", lhs.dtype)?;
    let pairs = op.pairs(g, [lhs.rank(), rhs.rank()])?;
    if op.parts(g) != Parts::Whole && pairs.lhs.contracted.is_empty() {
        return Err(Box::new(VerifyError::Extent {
            op: "contract",
            dimension: "the number of contracted dimensions with `parts`".to_owned(),
            expected: "1 or more".to_owned(),
            found: "0".to_owned(),
            help: "parts are added up along a contracted dimension",
        }));
    }
    Ok(lhs.with_shape(pairs.shape(g, lhs, rhs)?).into())
}

fn eval_contract(op: Contract, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let (lhs, rhs) = (operands[0], operands[1]);
    let pairs = op.pairs(cx.graph, [lhs.rank(), rhs.rank()]);
    let pairs = pairs.expect("verified axes lie in the rank");
    let sides = [&pairs.lhs, &pairs.rhs].map(|side| side.contracted.first().copied());
    let split = match sides {
        [Some(left), Some(right)] => op.parts(cx.graph).split(cx, [lhs, rhs], [left, right])?,
        _ => None,
    };
    match split {
        Some([lhs, rhs]) => pairs.eval(cx, &lhs, &rhs),
        None => pairs.eval(cx, lhs, rhs),
    }
}
