//! Matrix products with an epilogue.

use mind_core::group::{self, check_scalars};
use mind_core::ops::contract::stacked_product;
use mind_core::parts::Parts;
use mind_ir::eval::{EvalCx, EvalError, EvalManyResult};
use mind_ir::graph::Graph;
use mind_ir::opdef::{Inferred, Op};
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::verify::{InferManyResult, InferResult, VerifyError};
use mind_ir::{BlockId, ops};

use crate::body;
use crate::extents::{dims, extents, filled, known, same_extents};
use crate::ops::nest::check_schedule;

ops! {
    /// The values that the body computes from each element of a batch of matrix products.
    ///
    /// Shapes: `[batch.., M, K]`, `[batch.., K, N]` and any number of `[batch.., M, N]`, as are the results; `batch` is
    /// the number of leading dimensions. A single `[K, N]` is broadcast to the batch. The body has one scalar argument
    /// per operand; `loops.product` of the first two is the element of the product. The rest is the epilogue: constants
    /// and core's elementwise ops.
    /// Schedule: `parallel` lists the dimensions of the result that threads share; one thread loops over the others.
    /// `micro` is the register tile in rows and vectors of the target's length; a tile that does not fit into the
    /// registers of the target is rejected. `block` is the cache block in rows, columns and terms of K, rounded up to
    /// whole tiles. Entries that are 0 or omitted are chosen for the target. `at` is as for `loops.nest`.
    /// Order: one chain of fused multiply-adds per element over K, see docs/numerics.md, `MatMul`.
    /// Errors: E2004 different dtypes, E2007 fewer than two operands, E3002, E3003 shapes, E3004 axis out of range,
    /// E4006 lists of another length, E4021 another op in the body.
    /// Source: this compiler, after StableHLO's `dot_general`.
    Contract = "loops.contract" {
        variadic: (inputs: Any),
        attrs: {
            batch: Int = 0, parallel: Ints = &[], micro: Ints = &[], block: Ints = &[], at: Ints = &[],
        },
        results: Many,
        regions: 1,
        traits: [Pure, Extended, BodyOverElements],
        names: {},
        infer_many: infer_contract,
        eval_many: eval_contract,
    }

    /// The element of the matrix product of the enclosing `loops.contract`.
    ///
    /// With `parts` each `i32` element packs several integers, whose products are added modulo 2^32; see
    /// `tensor.contract`.
    ///
    /// Shapes: as the operands.
    /// Order: one chain of fused multiply-adds over K, see docs/numerics.md, `MatMul`.
    /// Errors: E2004 different dtypes, E2005 `parts` of another dtype than `i32`.
    /// Source: this compiler.
    Product = "loops.product" {
        operands: (lhs: Num, rhs: Num),
        attrs: { parts: Parts = Parts::Whole },
        traits: [Pure, SameDType, Extended],
        names: {},
        infer: infer_product,
        eval: eval_product,
    }
}

impl Contract {
    /// Returns the packing of the operands.
    pub fn parts(self, g: &Graph) -> Parts {
        let mut ops = g.ops(self.body(g));
        let product = ops.find_map(|op| g.view::<Product>(op));
        product.map_or(Parts::Whole, |product| product.parts(g))
    }

    /// Returns the block of the body.
    pub fn body(self, g: &Graph) -> BlockId {
        g.block(g.regions(self.0)[0])
    }
}

fn infer_contract(op: Contract, g: &Graph) -> InferManyResult {
    let &[lhs, rhs, ref rest @ ..] = op.inputs(g) else {
        return Err(two_operands("contract", op.inputs(g).len()));
    };
    let (left, right) = (extents(g, "contract", lhs)?, extents(g, "contract", rhs)?);
    let rank = left.len();
    let batch = usize::try_from(op.batch(g))
        .ok()
        .filter(|batch| batch + 2 == rank);
    let Some(batch) = batch else {
        return Err(VerifyError::Rank {
            op: "contract",
            operand: "lhs",
            expected: format!("{} (two more than batch dimensions)", op.batch(g) + 2),
            found: rank,
        }
        .into());
    };
    let columns = right.last().copied().unwrap_or(0);
    let stack = if right.len() == 2 {
        &[]
    } else {
        &left[..batch]
    };
    let expected = [stack, &[left[batch + 1], columns]].concat();
    same_extents("contract", "rhs", &expected, &right)?;
    let shape = [&left[..=batch], &[columns]].concat();
    check_schedule(
        "contract",
        g.results(op.0).len(),
        rank,
        op.parallel(g),
        &[],
        op.at(g),
    )?;
    check_tiles("contract", op.micro(g), op.block(g))?;
    for &input in rest {
        same_extents(
            "contract",
            "inputs",
            &shape,
            &extents(g, "contract", input)?,
        )?;
    }
    yielded(g, "contract", op.body(g), Product::DEF, &shape)
}

pub(crate) fn two_operands(op: &'static str, found: usize) -> Box<VerifyError> {
    let expected = "at least 2 operands (lhs, rhs, ...)".to_owned();
    Box::new(VerifyError::Arity {
        op,
        expected,
        found,
    })
}

/// Checks the attributes `micro` and `block`.
///
/// # Errors
///
/// E4006 a list of another length, E3006 a negative extent.
pub(crate) fn check_tiles(
    op: &'static str,
    micro: &[i64],
    block: &[i64],
) -> Result<(), VerifyError> {
    for (list, expected) in [(micro, 2), (block, 3)] {
        if !list.is_empty() && list.len() != expected {
            let found = list.len();
            return Err(VerifyError::IndexCount {
                op,
                rank: expected,
                found,
            });
        }
        if let Some(dimension) = list.iter().position(|&extent| extent < 0) {
            let (shape, value) = (format!("{list:?}"), list[dimension]);
            return Err(VerifyError::NegativeExtent {
                shape,
                dimension,
                value,
            });
        }
    }
    Ok(())
}

/// Returns the types of the results: those of the values that the body yields, at each position of `shape`.
pub(crate) fn yielded(
    g: &Graph,
    op: &'static str,
    body: BlockId,
    primitive: &'static mind_ir::opdef::OpDef,
    shape: &[i64],
) -> InferManyResult {
    let allowed = "its product, constants and elementwise ops";
    check_scalars(g, op, body, &[primitive], allowed)?;
    let Some(end) = g.terminator(body) else {
        return Ok(Default::default());
    };
    body::check_single(g, op, body, primitive)?;
    let types = g.operands(end).iter().map(|&value| match g.type_id(value) {
        Some(_) => g.ty(value).with_shape(dims(shape)).into(),
        None => Inferred::Declared,
    });
    Ok(types.collect())
}

fn infer_product(op: Product, g: &Graph) -> InferResult {
    let lhs = g.ty(op.lhs(g));
    op.parts(g).check("product", lhs.dtype)?;
    Ok(lhs.to_owned().into())
}

fn eval_contract(op: Contract, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    run_body(op.0, cx, operands)
}

/// Runs the body of a product once on whole tensors, and broadcasts its values to the results.
pub(crate) fn run_body(op: mind_ir::OpId, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let g = cx.graph;
    let yielded = group::run(op, cx, operands)?;
    let results = yielded.into_iter().zip(g.results(op));
    results
        .map(|(tensor, result)| filled(cx, &tensor, &known(g, result)))
        .collect()
}

fn eval_product(op: Product, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let (mut lhs, mut rhs) = (operands[0], operands[1]);
    let split;
    if lhs.rank() > 0 && rhs.rank() > 1 {
        let axes = [lhs.rank() - 1, rhs.rank() - 2];
        split = op.parts(cx.graph).split(cx, [lhs, rhs], axes)?;
        if let Some([left, right]) = &split {
            (lhs, rhs) = (left, right);
        }
    }
    let (Some((batch, &[m, k])), Some(&n)) =
        (lhs.shape().split_last_chunk::<2>(), rhs.shape().last())
    else {
        return Err(EvalError::NotEvaluable(Product::DEF.name));
    };
    let shape = [batch, &[m, n]].concat();
    if cx.count(lhs.dtype(), &shape)? == 0 {
        return Ok(Tensor::new(shape, Buffer::zeros(lhs.dtype(), 0)));
    }
    let stack: usize = batch.iter().product();
    let sizes = match rhs.rank() {
        2 => [1, stack * m, k, n],
        _ => [stack, m, k, n],
    };
    stacked_product(cx, lhs, rhs, shape, sizes)
}
