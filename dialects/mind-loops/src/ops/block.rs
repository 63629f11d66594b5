//! Groups of kernels that are run a few rows at a time.

use mind_core::group;
use mind_ir::graph::Graph;
use mind_ir::opdef::Op;
use mind_ir::verify::{InferManyResult, VerifyError};
use mind_ir::{BlockId, ValueId, ops};

use crate::extents::known;
use crate::memory::{buffer, is_kernel};
use crate::ops::contract::Contract;
use crate::ops::nest::{Nest, check_schedule};

ops! {
    /// The kernels of a body. A product, a nest that reduces its rows and a product with that result on the left side
    /// are one fused kernel (as in attention). It processes `rows` rows of the last but one dimension at a time, so
    /// that the intermediate results stay in cache and are never materialised.
    ///
    /// Shapes: the body has one argument per operand, of its type; the results are the values it yields.
    /// Schedule: `rows` is rounded down to whole tiles of both products, but to at least one; 0 is chosen for the
    /// target. `parallel` lists the dimensions of the result that threads share, any but the last. The kernels of the
    /// body then have no `parallel`. Kernels that do not form such a chain run one after the other, by the schedule of
    /// each; `rows` and `parallel` are rejected. `at` is as for `loops.nest`.
    /// Order: as the kernels of the body one after the other.
    /// Errors: E3004 axis out of range, E3006 negative rows, E4006 lists of another length, E4022 threads that share
    /// the last dimension; those of the body's kernels.
    /// Source: this compiler.
    Block = "loops.block" {
        variadic: (inputs: Any),
        attrs: { rows: Int = 0, parallel: Ints = &[], at: Ints = &[] },
        results: Many,
        regions: 1,
        traits: [Pure, Extended, BodyOverOperands],
        names: {},
        infer_many: infer_block,
        eval_many: |op, cx, operands| group::run(op.0, cx, operands),
    }
}

impl Block {
    /// Returns the block of the body.
    pub fn body(self, g: &Graph) -> BlockId {
        g.block(g.regions(self.0)[0])
    }

    /// Returns the product, the nest that reduces its rows, and the product with the nest's result on the left side
    /// that form one fused kernel; `None` for other bodies.
    ///
    /// Each intermediate result is read only by the next kernel, both have the same dtype, and all three kernels
    /// compute with lanes of the same width.
    pub fn back_to_back_products(self, g: &Graph) -> Option<(Contract, Nest, Contract)> {
        let mut kernels = g.ops(self.body(g)).filter(|&op| is_kernel(g, op));
        let first = g.view::<Contract>(kernels.next()?)?;
        let nest = g.view::<Nest>(kernels.next()?)?;
        let second = g.view::<Contract>(kernels.next()?)?;
        let [scores, weights] = [first.id(), nest.id()].map(|op| g.results(op));
        if kernels.next().is_some() || [scores.len(), weights.len()] != [1, 1] {
            return None;
        }
        let (scores, weights) = (scores.get(0), weights.get(0));
        let reads = |value: ValueId, own: ValueId| buffer(g, value) == own;
        let &[score] = nest.inputs(g) else {
            return None;
        };
        let (&left, others) = second.inputs(g).split_first()?;
        let width = |value: ValueId| g.ty(value).dtype.carrier().size();
        let body = nest.body(g);
        let inner = g.ops(body).flat_map(|op| g.results(op));
        let widest = g.arguments(body).into_iter().chain(inner).map(width).max();
        let fits = reads(score, scores)
            && reads(left, weights)
            && others.iter().all(|&value| !reads(value, weights))
            && second.batch(g) == first.batch(g)
            && g.ty(left).shape == g.ty(scores).shape
            && known(g, scores).last().is_some_and(|&length| length > 0)
            && nest.reduced(g) == nest.dims(g).len().checked_sub(1)
            && g.ty(scores).dtype == g.ty(weights).dtype
            && widest == Some(width(first.inputs(g)[0]))
            && widest == Some(width(second.inputs(g)[0]));
        fits.then_some((first, nest, second))
    }
}

fn infer_block(op: Block, g: &Graph) -> InferManyResult {
    check_rows(op.rows(g))?;
    let Some(end) = g.terminator(op.body(g)) else {
        return Ok(Default::default());
    };
    let yielded = g.operands(end);
    let rank = yielded
        .first()
        .and_then(|&value| g.type_id(value).map(|_| g.ty(value).rank()));
    check_schedule(
        "block",
        g.results(op.0).len(),
        rank.unwrap_or(0),
        op.parallel(g),
        &[],
        op.at(g),
    )?;
    let last = rank.map_or(-1, |rank| rank as i64 - 1);
    if op.parallel(g).contains(&last) {
        return Err(Box::new(VerifyError::Word {
            op: "block",
            attr: "parallel",
            found: format!("{:?}", op.parallel(g)),
            words: "dimensions other than the last".to_owned(),
        }));
    }
    group::yielded_types(op.0, g)
}

/// Checks the attribute `rows`.
///
/// # Errors
///
/// E3006 a negative number of rows.
pub(crate) fn check_rows(rows: i64) -> Result<(), VerifyError> {
    if rows >= 0 {
        return Ok(());
    }
    Err(VerifyError::NegativeExtent {
        shape: format!("[{rows}]"),
        dimension: 0,
        value: rows,
    })
}
