//! Running a module.

use std::borrow::Cow;

use mind_ir::Graph;
use mind_ir::eval::{EvalCx, EvalError, eval_block};
use mind_ir::tensor::Tensor;

use crate::bind::Bound;
use crate::error::RunError;

/// How a module is run.
#[derive(Clone, Copy, Debug)]
pub struct RunConfig {
    /// The most bytes that the results alive at one time may have, inputs not counted.
    pub memory_limit: u64,
    /// The most steps that one loop takes whose end only running tells.
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

/// The outputs of a verified module on the arrays its inputs are bound to, in the module's order.
///
/// Ops run one after the other; integers wrap; each value is freed after its last use.
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
