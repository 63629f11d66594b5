//! Products of vectors and matrices.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::scalar::broadcast_extents;
use mind_ir::tensor::Tensor;
use mind_ir::types::{Dim, Shape, TypeView, broadcast};
use mind_ir::verify::{InferResult, VerifyError};

use crate::eval::contract::Product;
use crate::eval::contraction::evaluate;
use crate::extent::agree;

ops! {
    /// The inner product of vectors, or a product of a matrix and a vector.
    ///
    /// Shapes: `[n] [n] -> []`, `[m, n] [n] -> [m]`, `[m] [m, n] -> [n]`, rank 2 by rank 2 as `MatMul`.
    /// Order: one chain of fused multiply-adds per element, see docs/numerics.md.
    /// Errors: E2004 different dtypes, E2005 `bool`, E3002 other ranks, E3003 inner extents differ.
    /// Source: mind-spec v1.0 ir.md, "Linear and tensor algebra".
    Dot = "core.dot" {
        operands: (lhs: Num, rhs: Num),
        traits: [Pure, SameDType],
        names: { core: "Dot", mic1: "dot" },
        infer: infer_dot,
        eval: eval_dot,
    }

    /// The product of matrices, or of batches of matrices.
    ///
    /// Shapes: `[..batch, M, K] [..batch, K, N] -> [..batch, M, N]`, the batch dimensions broadcast.
    /// Order: one chain of fused multiply-adds per element, see docs/numerics.md.
    /// Errors: E2004 different dtypes, E2005 `bool`, E3001 batches do not broadcast, E3002 rank below 2,
    /// E3003 K differs.
    /// Source: mind-spec v1.0 ir.md, "Linear and tensor algebra".
    MatMul = "core.matmul" {
        operands: (lhs: Num, rhs: Num),
        traits: [Pure, SameDType],
        names: { core: "MatMul", mic1: "matmul", mic2: "m" },
        infer: infer_matmul,
        eval: eval_matmul,
    }
}

fn infer_dot(op: Dot, g: &Graph) -> InferResult {
    let (lhs, rhs) = (g.ty(op.lhs(g)), g.ty(op.rhs(g)));
    for (operand, ty) in [("lhs", lhs), ("rhs", rhs)] {
        if !(1..=2).contains(&ty.rank()) {
            let (op, expected, found) = ("dot", "1 or 2".to_owned(), ty.rank());
            return Err(Box::new(VerifyError::Rank {
                op,
                operand,
                expected,
                found,
            }));
        }
    }
    let inner = rhs.shape[0];
    agree(
        g,
        "dot",
        "the inner extents",
        lhs.shape[lhs.rank() - 1],
        inner,
        "the last extent of `lhs` meets the first of `rhs`: transpose or reshape one of them",
    )?;
    let outer = lhs.shape[..lhs.rank() - 1].iter().chain(&rhs.shape[1..]);
    Ok(lhs.with_shape(outer.copied()).into())
}

fn infer_matmul(op: MatMul, g: &Graph) -> InferResult {
    let (lhs, rhs) = (g.ty(op.lhs(g)), g.ty(op.rhs(g)));
    for (operand, ty) in [("lhs", lhs), ("rhs", rhs)] {
        if ty.rank() < 2 {
            let (op, expected, found) = ("matmul", "2 or more".to_owned(), ty.rank());
            return Err(Box::new(VerifyError::Rank {
                op,
                operand,
                expected,
                found,
            }));
        }
    }
    let ((lhs_batch, [m, k]), (rhs_batch, [inner, n])) = (matrix(lhs), matrix(rhs));
    let help = "`lhs` is [.., M, K] and `rhs` [.., K, N]: transpose or reshape one of them";
    agree(g, "matmul", "the contracted extents K", k, inner, help)?;
    let batch = broadcast(lhs_batch, rhs_batch);
    let mut shape: Shape =
        batch.map_err(|clash| VerifyError::broadcast(g, lhs_batch, rhs_batch, clash))?;
    shape.extend([m, n]);
    Ok(lhs.with_shape(shape).into())
}

/// Splits the shape into the batch dimensions and the two of the matrix. The rank is at least 2.
fn matrix(ty: TypeView<'_>) -> (&[Dim], [Dim; 2]) {
    let (batch, matrix) = ty.shape.split_at(ty.rank() - 2);
    (batch, [matrix[0], matrix[1]])
}

/// Evaluates an inner product.
fn eval_dot(_: Dot, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let (lhs, rhs) = (operands[0], operands[1]);
    let (rows, k) = lhs.shape().split_at(lhs.rank() - 1);
    let (inner, columns) = rhs.shape().split_at(1);
    agree_in_run("dot", lhs, rhs, k[0], inner[0])?;
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

/// Evaluates a matrix product.
fn eval_matmul(_: MatMul, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let (lhs, rhs) = (operands[0], operands[1]);
    let (lhs_batch, left) = lhs.shape().split_at(lhs.rank() - 2);
    let (rhs_batch, right) = rhs.shape().split_at(rhs.rank() - 2);
    let (m, k, n) = (left[0], left[1], right[1]);
    agree_in_run("matmul", lhs, rhs, k, right[0])?;
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

/// Computes `batch` products of contiguous `[m, k]` by `[k, n]` matrices. `shape` is that of the result and has
/// `batch * m * n` elements.
///
/// # Errors
///
/// E6004 too large, E6005 integer overflow where `cx` rejects it.
pub fn stacked_product(
    cx: &EvalCx<'_>,
    lhs: &Tensor,
    rhs: &Tensor,
    shape: Vec<usize>,
    [batch, m, k, n]: [usize; 4],
) -> Result<Tensor, EvalError> {
    let product = Product {
        shape,
        batch: vec![batch],
        lhs_batch: vec![batch],
        rhs_batch: vec![batch],
        matrix: [m, k, n],
    };
    evaluate(cx, &product, lhs, rhs)
}

/// Checks that the contracted extents of a run are equal.
fn agree_in_run(
    op: &str,
    lhs: &Tensor,
    rhs: &Tensor,
    k: usize,
    inner: usize,
) -> Result<(), EvalError> {
    if k == inner {
        return Ok(());
    }
    let (lhs, rhs) = (lhs.shape(), rhs.shape());
    let text = format!(
        "the contracted extents of `{op}` must agree: {k} against {inner}, shapes {lhs:?} and {rhs:?}"
    );
    Err(EvalError::Shape(text))
}
