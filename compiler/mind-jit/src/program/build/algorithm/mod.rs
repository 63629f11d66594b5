//! What has no kernel, and C and object files can say all the same.

mod extents;
mod sample;
mod scatter;
mod search;
mod sort;

use mind_ir::OpId;
use mind_ir::graph::Graph;
use mind_loops::ops::evaluate::Evaluate;
use mind_vir::program::Algorithm;

use crate::program::routine::sole;

/// What `op` runs, if C and object files can say it.
pub(super) fn algorithm(g: &Graph, op: Evaluate) -> Option<Algorithm> {
    let call = Call {
        g,
        op,
        inner: sole(g, op.body(g))?,
    };
    let kinds = [
        sort::sorting,
        scatter::elements,
        scatter::slices,
        sample::sampling,
        search::search,
        extents::reshape,
        extents::broadcast,
        extents::iota,
    ];
    kinds.iter().find_map(|kind| kind(call))
}

/// A `loops.evaluate` of one op.
#[derive(Clone, Copy)]
struct Call<'g> {
    g: &'g Graph,
    op: Evaluate,
    inner: OpId,
}

/// How many elements an array has; other extents than one of 0 may be too large to be multiplied.
fn count(extents: &[usize]) -> usize {
    match extents.contains(&0) {
        true => 0,
        false => extents.iter().fold(1, |all, &own| all.saturating_mul(own)),
    }
}
