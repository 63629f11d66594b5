//! Sums of products.

use mind_core::extent::agree;
use mind_core::ops::contract::stacked_product;
use mind_core::ops::shape::permuted;
use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::tensor::Tensor;
use mind_ir::types::Shape;
use mind_ir::verify::{InferResult, VerifyError};

use crate::axes::listed;

ops! {
    /// Sums of products along dimensions that both operands have.
    ///
    /// Shapes: the dimensions `lhs_batch` with `rhs_batch`, pair by pair, then the other dimensions of
    /// `lhs`, then those of `rhs`; `lhs_contract` and `rhs_contract` are summed over, pair by pair.
    /// Order: one chain of fused multiply-adds per element, over the contracted dimensions in the order
    /// listed, the last one fastest; see docs/numerics.md, `MatMul`.
    /// Errors: E2004 different dtypes, E2005 `bool`, E3003 extents of a pair differ, or lists of other
    /// lengths, E3004 axis out of range, E3005 duplicate axis.
    /// Source: this compiler, after StableHLO's `dot_general`.
    Contract = "tensor.contract" {
        operands: (lhs: Num, rhs: Num),
        attrs: {
            lhs_batch: Ints = &[], rhs_batch: Ints = &[], lhs_contract: Ints, rhs_contract: Ints,
        },
        traits: [Pure, SameDType, Extended],
        names: {},
        infer: infer_contract,
        eval: eval_contract,
    }
}

/// What each dimension of one operand is for.
struct Side {
    batch: Vec<usize>,
    free: Vec<usize>,
    contracted: Vec<usize>,
}

impl Side {
    /// # Errors
    ///
    /// E3004 axis out of range, E3005 duplicate axis, also when once in each list.
    fn new(batch: &[i64], contracted: &[i64], rank: usize) -> Result<Side, VerifyError> {
        let all = [batch, contracted].concat();
        let named = listed("contract", &all, rank)?;
        let (batch, contracted) = named.split_at(batch.len());
        Ok(Side {
            batch: batch.to_vec(),
            free: (0..rank).filter(|axis| !named.contains(axis)).collect(),
            contracted: contracted.to_vec(),
        })
    }

    fn order<'s>(&'s self, lists: [&'s [usize]; 3]) -> Vec<i64> {
        lists.concat().into_iter().map(|axis| axis as i64).collect()
    }
}

impl Contract {
    fn sides(self, g: &Graph, ranks: [usize; 2]) -> Result<[Side; 2], VerifyError> {
        Ok([
            Side::new(self.lhs_batch(g), self.lhs_contract(g), ranks[0])?,
            Side::new(self.rhs_batch(g), self.rhs_contract(g), ranks[1])?,
        ])
    }
}

fn infer_contract(op: Contract, g: &Graph) -> InferResult {
    let (lhs, rhs) = (g.ty(op.lhs(g)), g.ty(op.rhs(g)));
    let [left, right] = op.sides(g, [lhs.rank(), rhs.rank()])?;
    let mut shape = Shape::new();
    let pairs = [
        ("batch", &left.batch, &right.batch),
        ("contracted", &left.contracted, &right.contracted),
    ];
    for (what, lefts, rights) in pairs {
        if lefts.len() != rights.len() {
            return Err(Box::new(VerifyError::Extent {
                op: "contract",
                dimension: format!("the numbers of {what} dimensions"),
                expected: lefts.len().to_string(),
                found: rights.len().to_string(),
                help: "list one dimension of `rhs` for each of `lhs`",
            }));
        }
        for (&l, &r) in lefts.iter().zip(rights) {
            let name = format!("{what} extents at dimensions {l} and {r}");
            let help = "pair dimensions of one extent, or transpose an operand";
            let dim = agree(g, "contract", name, lhs.shape[l], rhs.shape[r], help)?;
            if what == "batch" {
                shape.push(dim);
            }
        }
    }
    shape.extend(left.free.iter().map(|&axis| lhs.shape[axis]));
    shape.extend(right.free.iter().map(|&axis| rhs.shape[axis]));
    mind_core::axes::check_rank("contract", shape.len())?;
    Ok(lhs.with_shape(shape).into())
}

fn eval_contract(op: Contract, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let (lhs, rhs) = (operands[0], operands[1]);
    let sides = op.sides(cx.graph, [lhs.rank(), rhs.rank()]);
    let [left, right] = sides.expect("verified axes lie in the rank");
    let extents = |tensor: &Tensor, axes: &[usize]| -> Vec<usize> {
        axes.iter().map(|&axis| tensor.shape()[axis]).collect()
    };
    let pairs = [
        ("batch", &left.batch, &right.batch),
        ("contracted", &left.contracted, &right.contracted),
    ];
    for (what, lefts, rights) in pairs {
        if extents(lhs, lefts) != extents(rhs, rights) {
            let (lhs, rhs) = (lhs.shape(), rhs.shape());
            return Err(EvalError::Shape(format!(
                "the {what} extents of `contract` must agree: shapes {lhs:?} and {rhs:?}"
            )));
        }
    }
    let (batch, rows) = (extents(lhs, &left.batch), extents(lhs, &left.free));
    let columns = extents(rhs, &right.free);
    let shape = [batch.clone(), rows.clone(), columns.clone()].concat();
    if cx.count(lhs.dtype(), &shape)? == 0 {
        return Ok(Tensor::new(
            shape,
            mind_ir::tensor::Buffer::zeros(lhs.dtype(), 0),
        ));
    }
    let contracted = extents(lhs, &left.contracted);
    let inner = if contracted.contains(&0) {
        0
    } else {
        contracted.iter().product()
    };
    let sizes = [
        batch.iter().product(),
        rows.iter().product(),
        inner,
        columns.iter().product(),
    ];
    let order = left.order([&left.batch, &left.free, &left.contracted]);
    let lhs = permuted(cx, lhs, &order)?;
    let order = right.order([&right.batch, &right.contracted, &right.free]);
    let rhs = permuted(cx, rhs, &order)?;
    stacked_product(cx, &lhs, &rhs, shape, sizes)
}
