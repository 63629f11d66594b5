//! Ops without a kernel that C and object files can express as a fixed algorithm, for example sorts.

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

/// Returns the algorithm of `op`; `None` if only the compiler can evaluate it.
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

/// A `loops.evaluate` of a single op.
#[derive(Clone, Copy)]
struct Call<'g> {
    g: &'g Graph,
    op: Evaluate,
    inner: OpId,
}

/// Returns the number of elements of an array. The product saturates, because the extents of an empty array may
/// overflow.
fn count(extents: &[usize]) -> usize {
    match extents.contains(&0) {
        true => 0,
        false => extents.iter().fold(1, |all, &own| all.saturating_mul(own)),
    }
}
