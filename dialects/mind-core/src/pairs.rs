//! Products with paired batch and contracted dimensions.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::{Shape, TypeView};
use mind_ir::verify::VerifyError;

use crate::axes::check_rank;
use crate::extent::agree;
use crate::ops::contract::stacked_product;
use crate::ops::shape::permuted;

/// The role of each dimension of one operand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Side {
    /// Batch dimensions, each paired with one of the other operand.
    pub batch: Vec<usize>,
    /// Dimensions of this operand alone.
    pub free: Vec<usize>,
    /// Contracted dimensions, each paired with one of the other operand.
    pub contracted: Vec<usize>,
}

impl Side {
    /// Splits the dimensions of an operand of `rank`. The first `batch` of `named`, which are distinct, are batch
    /// dimensions, the others of `named` are contracted, and the rest are free.
    pub fn new(batch: usize, named: &[usize], rank: usize) -> Side {
        let free = (0..rank).filter(|axis| !named.contains(axis)).collect();
        let (batch, contracted) = named.split_at(batch);
        Side {
            batch: batch.to_vec(),
            free,
            contracted: contracted.to_vec(),
        }
    }

    /// Returns the permutation to the order of `lists`.
    fn order(lists: [&[usize]; 3]) -> Vec<i64> {
        lists.concat().into_iter().map(|axis| axis as i64).collect()
    }
}

/// A product of two operands with paired dimensions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pairs {
    /// The name of the op.
    pub op: &'static str,
    /// The left operand.
    pub lhs: Side,
    /// The right operand.
    pub rhs: Side,
}

impl Pairs {
    /// Returns the paired dimensions of both operands, with the name of their role.
    fn lists(&self) -> [(&'static str, &[usize], &[usize]); 2] {
        let (lhs, rhs) = (&self.lhs, &self.rhs);
        [
            ("batch", &lhs.batch, &rhs.batch),
            ("contracted", &lhs.contracted, &rhs.contracted),
        ]
    }

    /// Returns the shape of the result: the batch dimensions, then the free ones of the left operand, then those of the
    /// right one.
    ///
    /// # Errors
    ///
    /// E3002 rank above 32, E3003 extents of a pair differ, or lists of other lengths.
    pub fn shape(
        &self,
        g: &Graph,
        lhs: TypeView<'_>,
        rhs: TypeView<'_>,
    ) -> Result<Shape, VerifyError> {
        let mut shape = Shape::new();
        for (what, lefts, rights) in self.lists() {
            if lefts.len() != rights.len() {
                return Err(VerifyError::Extent {
                    op: self.op,
                    dimension: format!("the numbers of {what} dimensions"),
                    expected: lefts.len().to_string(),
                    found: rights.len().to_string(),
                    help: "list one dimension of `rhs` for each of `lhs`",
                });
            }
            for (&l, &r) in lefts.iter().zip(rights) {
                let name = format!("{what} extents at dimensions {l} and {r}");
                let help = "pair dimensions of one extent, or transpose an operand";
                let dim = agree(g, self.op, name, lhs.shape[l], rhs.shape[r], help)?;
                if what == "batch" {
                    shape.push(dim);
                }
            }
        }
        shape.extend(self.lhs.free.iter().map(|&axis| lhs.shape[axis]));
        shape.extend(self.rhs.free.iter().map(|&axis| rhs.shape[axis]));
        check_rank(self.op, shape.len())?;
        Ok(shape)
    }

    /// Evaluates the product of operands of one dtype.
    ///
    /// # Errors
    ///
    /// Extents of a pair differ, E6004 too large, E6005 integer overflow where `cx` rejects it.
    pub fn eval(&self, cx: &EvalCx<'_>, lhs: &Tensor, rhs: &Tensor) -> Result<Tensor, EvalError> {
        let extents = |tensor: &Tensor, axes: &[usize]| -> Vec<usize> {
            axes.iter().map(|&axis| tensor.shape()[axis]).collect()
        };
        for (what, lefts, rights) in self.lists() {
            if extents(lhs, lefts) != extents(rhs, rights) {
                let (op, lhs, rhs) = (self.op, lhs.shape(), rhs.shape());
                return Err(EvalError::Shape(format!(
                    "the {what} extents of `{op}` must agree: shapes {lhs:?} and {rhs:?}"
                )));
            }
        }
        let (left, right) = (&self.lhs, &self.rhs);
        let (batch, rows) = (extents(lhs, &left.batch), extents(lhs, &left.free));
        let columns = extents(rhs, &right.free);
        let shape = [&batch[..], &rows, &columns].concat();
        if cx.count(lhs.dtype(), &shape)? == 0 {
            return Ok(Tensor::new(shape, Buffer::zeros(lhs.dtype(), 0)));
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
        let order = Side::order([&left.batch, &left.free, &left.contracted]);
        let lhs = permuted(cx, lhs, &order)?;
        let order = Side::order([&right.batch, &right.contracted, &right.free]);
        let rhs = permuted(cx, rhs, &order)?;
        stacked_product(cx, &lhs, &rhs, shape, sizes)
    }
}
