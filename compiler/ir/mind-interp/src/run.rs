//! Execution of modules.

use std::borrow::Cow;

use mind_ir::Graph;
use mind_ir::eval::{EvalCx, EvalError, eval_block};
use mind_ir::tensor::Tensor;

use crate::bind::Bound;
use crate::error::RunError;

/// Options of the execution.
#[derive(Clone, Copy, Debug)]
pub struct RunConfig {
    /// The maximum size in bytes of all live results, without the inputs.
    pub memory_limit: u64,
    /// The maximum number of iterations of a loop without a known trip count.
    pub max_steps: u64,
}

impl Default for RunConfig {
    fn default() -> RunConfig {
        RunConfig {
            memory_limit: EvalCx::TENSOR_LIMIT,
            max_steps: EvalCx::MAX_STEPS,
        }
    }
}

/// Runs a verified module on the arrays that its inputs are bound to, and returns its outputs, in order.
///
/// Ops are evaluated in order. Integers wrap. Each value is freed after its last use.
///
/// # Errors
///
/// The first op that fails.
pub fn run(g: &Graph, bound: &Bound<'_>, config: &RunConfig) -> Result<Vec<Tensor>, RunError> {
    let cx = EvalCx {
        tensor_limit: config.memory_limit,
        max_steps: config.max_steps,
        ..EvalCx::run(g, bound.dims())
    };
    let mut leaf = |op| match bound.tensor(op) {
        Some(tensor) => Ok(Cow::Borrowed(tensor)),
        None => Err(EvalError::NotEvaluable(g.def(op).name)),
    };
    eval_block(&cx, g.body(), &[], &mut leaf).map_err(|(op, error)| RunError { op, error })
}
