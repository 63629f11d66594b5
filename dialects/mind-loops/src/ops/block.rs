//! Kernels in a row, run a few rows at a time.

use mind_ir::eval::{EvalCx, EvalError, EvalManyResult, eval_block};
use mind_ir::graph::Graph;
use mind_ir::opdef::Inferred;
use mind_ir::tensor::Tensor;
use mind_ir::verify::{InferManyResult, VerifyError};
use mind_ir::{BlockId, ops};

use crate::ops::nest::check_schedule;

ops! {
    /// The kernels of a body, run for `rows` rows of the last but one dimension at a time, so that what goes
    /// from one to the next stays in cache and is never whole.
    ///
    /// Shapes: the body has one argument per operand, of its type; the results are what it yields.
    /// Schedule: `rows`, 0 for the target's choice; `parallel` lists the dimensions of the results that
    /// threads may share; `at` is as for `loops.nest`.
    /// Order: as the kernels of the body one after the other.
    /// Errors: E3004 axis out of range, E3006 negative rows, E4006 lists of another length; those of the
    /// body's kernels.
    /// Source: this compiler.
    Block = "loops.block" {
        variadic: (inputs: Any),
        attrs: { rows: Int = 0, parallel: Ints = &[], at: Ints = &[] },
        results: Many,
        regions: 1,
        traits: [Pure, Extended, BodyOverOperands],
        names: {},
        infer_many: infer_block,
        eval_many: run_block,
    }
}

impl Block {
    /// The block of the body.
    pub fn body(self, g: &Graph) -> BlockId {
        g.block(g.regions(self.0)[0])
    }
}

fn infer_block(op: Block, g: &Graph) -> InferManyResult {
    if op.rows(g) < 0 {
        return Err(Box::new(VerifyError::NegativeExtent {
            shape: format!("[{}]", op.rows(g)),
            dimension: 0,
            value: op.rows(g),
        }));
    }
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
    let types = yielded.iter().map(|&value| g.type_id(value));
    Ok(types
        .map(|ty| ty.map_or(Inferred::Declared, Inferred::Known))
        .collect())
}

fn run_block(op: Block, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let mut no_inputs = |inner| Err(EvalError::NotEvaluable(cx.graph.def(inner).name));
    let results = eval_block(cx, op.body(cx.graph), operands, &mut no_inputs);
    results
        .map(|tensors| tensors.into_iter().collect())
        .map_err(|(_, error)| error)
}
