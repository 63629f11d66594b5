//! Evaluation of ops and blocks.

mod block;
mod cx;
mod error;

pub use block::{eval_block, eval_inner};
pub use cx::{DimEnv, EvalCx, Overflow, can_allocate, probes_memory};
pub use error::{EvalError, EvalManyResult};
