//! Batched matrix products.

use super::chain::{self, Accumulator};
use super::contraction::{Contraction, Emit};
use super::strided::Space;
use mind_ir::eval::EvalError;
use mind_ir::tensor::broadcast_strides;

/// A batched matrix product.
pub(crate) struct Product {
    /// The shape of the result. It lacks the dimension of the rows or columns if that operand is a vector.
    pub(crate) shape: Vec<usize>,
    /// The batch extents of the result.
    pub(crate) batch: Vec<usize>,
    /// The batch extents of the left operand, before broadcasting.
    pub(crate) lhs_batch: Vec<usize>,
    /// The batch extents of the right operand, before broadcasting.
    pub(crate) rhs_batch: Vec<usize>,
    /// M, K and N.
    pub(crate) matrix: [usize; 3],
}

impl Contraction for Product {
    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn sums<A: Accumulator>(
        &self,
        zero: A,
        lhs: &[A],
        rhs: &[A],
        emit: Emit<'_, A>,
    ) -> Result<(), EvalError> {
        let [m, k, n] = self.matrix;
        let mut sums = vec![zero; n];
        let stacks = |shape: &[usize]| {
            let strides = broadcast_strides(shape, &self.batch);
            Space::new(self.batch.iter().copied().zip(strides))
        };
        let (lhs_stack, rhs_stack) = (stacks(&self.lhs_batch), stacks(&self.rhs_batch));
        for (left, right) in lhs_stack.offsets(0).zip(rhs_stack.offsets(0)) {
            let matrix = &rhs[right * k * n..][..k * n];
            for row in 0..m {
                sums.fill(zero);
                chain::extend(&lhs[(left * m + row) * k..][..k], matrix, &mut sums);
                emit(&sums)?;
            }
        }
        Ok(())
    }
}
