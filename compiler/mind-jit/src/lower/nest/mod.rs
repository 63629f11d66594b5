//! Loop nests over rows: elementwise functions, reductions along a row, and any mix of the two.
//!
//! A [`Nest`] says what is computed at each position of its dimensions; [`nest`] appends the loops that do it.
//! The innermost dimension is the one that vectors lie along and the one that reductions run over. A row
//! program, such as a softmax, is computed row by row in as many passes as its reductions follow each other.

mod body;
mod loops;
mod mean;
mod plan;
mod program;
mod row;
mod sweep;

pub use program::{Access, Nest, Node, Output, ReduceKind};

use crate::target::TargetInfo;
use crate::vir::{Builder, Value};

use plan::Plan;

/// Appends the loops of `n` for the rows whose outermost index lies in `rows`, the end excluded.
///
/// `inputs` and `outputs` are pointers to the elements that accesses count from, `scratch` one to at least
/// [`scratch_bytes`] bytes, aligned to 64, that nothing else uses meanwhile. A nest without outer dimensions
/// has one row, whatever `rows` says. The function must have at most as many lanes as [`lanes`] says.
///
/// # Panics
///
/// If the nest is not well formed, as [`Nest`] says it.
pub fn nest(
    b: &mut Builder,
    n: &Nest,
    inputs: &[Value],
    outputs: &[Value],
    scratch: Value,
    rows: (Value, Value),
) {
    let plan = Plan::of(n);
    loops::rows(b, n, &plan, inputs, outputs, scratch, rows);
}

/// Bytes of scratch memory that the loops of `n` need, of each thread its own.
pub fn scratch_bytes(n: &Nest, _: &TargetInfo) -> usize {
    Plan::of(n).scratch_bytes
}

/// Lanes of the vectors of `n` on `target`: as many as fit a register at the widest type it computes in.
pub fn lanes(n: &Nest, target: &TargetInfo) -> u32 {
    target.lanes(n.widest_lane().bits())
}
