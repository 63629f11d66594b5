//! Factorizations of matrices and systems with triangular ones.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::tensor::Tensor;
use mind_ir::types::{Dim, Shape, TypeView};
use mind_ir::verify::{InferResult, VerifyError};
use mind_ir::with_float;

use crate::eval::solve;
pub use crate::eval::solve::System;
use crate::extent::agree;

ops! {
    /// The triangular matrix `l` with `l * transpose(l) = input`, or `transpose(l) * l = input` if it is not `lower`.
    ///
    /// Only the triangle of `input` that `lower` names is read; the other triangle of the result is +0. A matrix that is
    /// not positive definite, because a pivot is not above 0, has NaN at every position of the result.
    ///
    /// Shapes: `[..batch, N, N] -> [..batch, N, N]`.
    /// Order: one chain of fused multiply-adds per element, see docs/numerics.md.
    /// Errors: E2005 not a float, E3002 rank below 2, E3003 a matrix that is not square.
    /// Source: this compiler; StableHLO `cholesky`, LAPACK `potrf`.
    Cholesky = "core.cholesky" {
        operands: (input: Float),
        attrs: { lower "lo": Bool },
        traits: [Pure, Extended],
        names: { core: "Cholesky", mic1: "cholesky" },
        infer: infer_cholesky,
        eval: eval_cholesky,
    }

    /// The matrix `x` with `op(a) * x = b`, or `x * op(a) = b` if not `left_side`; `op(a)` is `a`, or its transpose if
    /// `transpose_a`.
    ///
    /// Only the triangle of `a` that `lower` names is read, and not its diagonal if `unit_diagonal`, which then counts as
    /// ones. A zero on the diagonal divides as `Div` does.
    ///
    /// Shapes: `a` is `[..batch, N, N]`; `b` and the result are `[..batch, N, M]`, or `[..batch, M, N]` if not `left_side`.
    /// Order: one chain of fused multiply-adds per element, see docs/numerics.md.
    /// Errors: E2004 different dtypes, E2005 not a float, E3002 rank below 2, or different ranks, E3003 `a` not square,
    /// or another extent of `b`.
    /// Source: this compiler; StableHLO `triangular_solve`, BLAS `trsm`.
    TriangularSolve = "core.triangular_solve" {
        operands: (a: Float, b: Float),
        attrs: {
            lower "lo": Bool, left_side "ls": Bool = true, unit_diagonal "ud": Bool = false, transpose_a "ta": Bool = false,
        },
        traits: [Pure, SameDType, Extended],
        names: { core: "TriangularSolve", mic1: "triangular_solve" },
        infer: infer_triangular_solve,
        eval: eval_triangular_solve,
    }
}

impl TriangularSolve {
    /// How the system is read.
    pub fn system(self, g: &Graph) -> System {
        System {
            is_lower: self.lower(g),
            is_left: self.left_side(g),
            is_unit: self.unit_diagonal(g),
            is_transposed: self.transpose_a(g),
        }
    }
}

/// The extent of the rows and columns of a square matrix, or of a batch of them.
fn order(
    g: &Graph,
    op: &'static str,
    operand: &'static str,
    ty: TypeView<'_>,
) -> Result<Dim, Box<VerifyError>> {
    let &[.., rows, columns] = ty.shape else {
        let (expected, found) = ("2 or more".to_owned(), ty.rank());
        return Err(Box::new(VerifyError::Rank {
            op,
            operand,
            expected,
            found,
        }));
    };
    let dimension = format!("rows and columns of `{operand}`");
    let help = "the last two dimensions are those of a square matrix";
    Ok(agree(g, op, dimension, rows, columns, help)?)
}

fn infer_cholesky(op: Cholesky, g: &Graph) -> InferResult {
    let input = g.ty(op.input(g));
    let order = order(g, "cholesky", "input", input)?;
    let batch = input.shape[..input.rank() - 2].iter().copied();
    Ok(input.with_shape(batch.chain([order; 2])).into())
}

fn infer_triangular_solve(op: TriangularSolve, g: &Graph) -> InferResult {
    const NAME: &str = "triangular_solve";
    let (a, b) = (g.ty(op.a(g)), g.ty(op.b(g)));
    let order = order(g, NAME, "a", a)?;
    let rank = a.rank();
    if b.rank() != rank {
        return Err(Box::new(VerifyError::Rank {
            op: NAME,
            operand: "b",
            expected: format!("{rank}, that of `a`"),
            found: b.rank(),
        }));
    }
    let mut shape: Shape = b.shape.iter().copied().collect();
    for (at, (own, &expected)) in shape.iter_mut().zip(&a.shape[..rank - 2]).enumerate() {
        let dimension = format!("the batch extents at dimension {at}");
        let help = "both operands have the same batch dimensions: broadcast one of them";
        *own = agree(g, NAME, dimension, expected, *own, help)?;
    }
    let (at, dimension) = match op.left_side(g) {
        true => (rank - 2, "the rows of `b`"),
        false => (rank - 1, "the columns of `b`"),
    };
    let help = "`b` has the rows of `a`, or its columns where `left_side` is false";
    shape[at] = agree(g, NAME, dimension, order, shape[at], help)?;
    Ok(b.with_shape(shape).into())
}

fn eval_cholesky(op: Cholesky, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let (input, is_lower) = (operands[0], op.lower(cx.graph));
    with_float!(input.dtype(), T => solve::cholesky::<T>(cx, input, is_lower), else {
        unreachable!("verified operands are floats")
    })
}

fn eval_triangular_solve(
    op: TriangularSolve,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let (a, b, system) = (operands[0], operands[1], op.system(cx.graph));
    with_float!(a.dtype(), T => solve::triangular_solve::<T>(cx, a, b, system), else {
        unreachable!("verified operands are floats")
    })
}
