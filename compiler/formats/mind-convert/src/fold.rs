//! Ops on constants, which are evaluated while a model is imported.

use mind_diag::Span;
use mind_ir::builtin::Yield;
use mind_ir::eval::{DimEnv, EvalCx, EvalError, eval_block};
use mind_ir::graph::{InsertPoint, NewOp};
use mind_ir::opdef::Op as _;
use mind_ir::tensor::Tensor;
use mind_ir::{Graph, ValueId};

/// Ends a module, whose outputs become `outputs`.
pub fn finish(module: &mut Graph, outputs: &[ValueId]) {
    let end = InsertPoint::End(module.body());
    module.insert(
        end,
        NewOp {
            def: Yield::DEF,
            operands: outputs,
            attrs: &[],
            results: 0,
            span: Span::FILE,
        },
    );
}

/// Evaluates `results`, which a scratch module computes from constants. Returns `None` if an op has no evaluation or fails, or
/// if constants and results that are live at once have more than `byte_limit` bytes.
pub fn evaluated(mut scratch: Graph, results: &[ValueId], byte_limit: u64) -> Option<Vec<Tensor>> {
    finish(&mut scratch, results);
    let dims = DimEnv::default();
    let cx = EvalCx::fold(&scratch, &dims, byte_limit);
    let mut leaf = |op| Err(EvalError::NotEvaluable(scratch.def(op).name));
    eval_block(&cx, scratch.body(), &[], &mut leaf).ok()
}

#[cfg(test)]
mod tests {
    use mind_ir::builder::Builder;
    use mind_ir::scalar::ScalarFn;

    use super::*;

    fn doubled(number: i64, byte_limit: u64) -> Option<Vec<i64>> {
        let mut scratch = Graph::new();
        let mut b = Builder::at_end(&mut scratch);
        let number = mind_core::constant(&mut b, &Tensor::of(vec![2], vec![number, 0]));
        let sum = mind_core::apply(&mut b, ScalarFn::Add, &[number, number]).expect("equal types");
        let results = evaluated(scratch, &[sum], byte_limit)?;
        Some(results[0].elements::<i64>().to_vec())
    }

    #[test]
    fn results_up_to_the_limit_are_evaluated() {
        // The constant, the sum and the yielded copy of the sum have 16 bytes each.
        assert_eq!(doubled(3, 48), Some(vec![6, 0]));
        assert_eq!(doubled(3, 15), None);
    }
}
