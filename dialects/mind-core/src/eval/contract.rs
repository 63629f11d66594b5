//! Evaluation of products of vectors and matrices.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::scalar::broadcast_extents;
use mind_ir::tensor::{Tensor, broadcast_strides};

use super::chain::{self, Accumulator};
use super::contraction::{Contraction, evaluate};
use super::strided::Space;
use crate::ops::contract::{Dot, MatMul};

/// The inner product of vectors and matrices.
pub(crate) fn eval_dot(_: Dot, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let (lhs, rhs) = (operands[0], operands[1]);
    let (rows, k) = lhs.shape().split_at(lhs.rank() - 1);
    let (inner, columns) = rhs.shape().split_at(1);
    agree("dot", lhs, rhs, k[0], inner[0])?;
    let product = Product {
        shape: [rows, columns].concat(),
        batch: Vec::new(),
        lhs_batch: Vec::new(),
        rhs_batch: Vec::new(),
        matrix: [
            rows.first().copied().unwrap_or(1),
            k[0],
            columns.first().copied().unwrap_or(1),
        ],
    };
    evaluate(cx, &product, lhs, rhs)
}

/// The product of matrices, or of stacks of them.
pub(crate) fn eval_matmul(
    _: MatMul,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let (lhs, rhs) = (operands[0], operands[1]);
    let (lhs_batch, left) = lhs.shape().split_at(lhs.rank() - 2);
    let (rhs_batch, right) = rhs.shape().split_at(rhs.rank() - 2);
    let (m, k, n) = (left[0], left[1], right[1]);
    agree("matmul", lhs, rhs, k, right[0])?;
    let batch = broadcast_extents(lhs_batch, rhs_batch)?;
    let product = Product {
        shape: [&batch[..], &[m, n]].concat(),
        batch,
        lhs_batch: lhs_batch.to_vec(),
        rhs_batch: rhs_batch.to_vec(),
        matrix: [m, k, n],
    };
    evaluate(cx, &product, lhs, rhs)
}

fn agree(op: &str, lhs: &Tensor, rhs: &Tensor, k: usize, inner: usize) -> Result<(), EvalError> {
    if k == inner {
        return Ok(());
    }
    let (lhs, rhs) = (lhs.shape(), rhs.shape());
    let text = format!(
        "the contracted extents of `{op}` must agree: {k} against {inner}, shapes {lhs:?} and {rhs:?}"
    );
    Err(EvalError::Shape(text))
}

/// A stack of matrix products.
struct Product {
    /// The shape of the result, which may lack the rows' or the columns' dimension.
    shape: Vec<usize>,
    batch: Vec<usize>,
    lhs_batch: Vec<usize>,
    rhs_batch: Vec<usize>,
    /// M, K and N.
    matrix: [usize; 3],
}

impl Contraction for Product {
    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn sums<A: Accumulator>(
        &self,
        lhs: &[A],
        rhs: &[A],
        mut emit: impl FnMut(&[A]) -> Result<(), EvalError>,
    ) -> Result<(), EvalError> {
        let [m, k, n] = self.matrix;
        let mut sums = vec![A::ZERO; n];
        let stacks = |shape: &[usize]| {
            let strides = broadcast_strides(shape, &self.batch);
            Space::new(self.batch.iter().copied().zip(strides))
        };
        let (lhs_stack, rhs_stack) = (stacks(&self.lhs_batch), stacks(&self.rhs_batch));
        for (left, right) in lhs_stack.offsets(0).zip(rhs_stack.offsets(0)) {
            let matrix = &rhs[right * k * n..][..k * n];
            for row in 0..m {
                sums.fill(A::ZERO);
                chain::extend(&lhs[(left * m + row) * k..][..k], matrix, &mut sums);
                emit(&sums)?;
            }
        }
        Ok(())
    }
}
