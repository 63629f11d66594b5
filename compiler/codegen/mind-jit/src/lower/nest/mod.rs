//! Loop nests over rows: elementwise functions, row reductions, and any combination.
//!
//! A [`Nest`] describes the computation at each position; [`nest`] appends its loops. The innermost dimension is
//! vectorised and is the one that is reduced. A kernel with dependent reductions, for example softmax, is computed row
//! by row in one pass per level of reductions. [`Columns`] reduce over a dimension other than the innermost one.

mod alive;
mod body;
mod columns;
mod loops;
mod mean;
mod operands;
mod plan;
mod program;
mod quotient;
mod row;
mod stream;
mod strip;
mod sweep;
mod transposed;
mod tree;

pub use alive::Registers;
pub use plan::is_long;
pub use program::{Columns, Nest, Node, Output, StridedAccess};

use mind_vir::ir::{Builder, IndexOp, Value};
use mind_vir::target::TargetInfo;

use loops::Outer;
use operands::BaseAddresses;
use plan::Plan;
use row::RowBuilder;
use sweep::Extent;
use transposed::TransposedTiles;

/// Appends the loops of `n` for a range of rows, given as indices of the outermost dimension.
///
/// `inputs` and `outputs` are the base pointers of accesses. A nest without outer dimensions has one row and ignores
/// `rows`. The function must have at most [`lanes`] lanes.
///
/// # Panics
///
/// Panics if the nest is not well formed (see [`Nest`]).
pub fn nest(b: &mut Builder, n: &Nest, inputs: &[Value], outputs: &[Value], rows: (Value, Value)) {
    let plan = Plan::of(n);
    let bases: Vec<Value> = inputs.iter().chain(outputs).copied().collect();
    b.scratch(plan.scratch_bytes, |b, scratch| {
        append(b, n, &plan, &bases, scratch, rows);
    });
}

/// Appends the loops, with the scratch memory of `plan`.
fn append(
    b: &mut Builder,
    n: &Nest,
    plan: &Plan,
    bases: &[Value],
    scratch: Value,
    rows: (Value, Value),
) {
    let bases = bases.iter().copied();
    if b.lanes() <= transposed::LANES
        && let Some(squares) = TransposedTiles::of(n, plan)
    {
        return squares.repeat(b, plan, bases, scratch, rows);
    }
    let outer = Outer::new(&n.outer, &n.inputs, &n.outputs);
    let streamed = stream::streamed(n, plan);
    outer.repeat(b, bases, rows, |b, bases, row| {
        let (inputs, outputs) = bases.split_at(n.inputs.len());
        streamed.iter().for_each(|&place| b.stream(outputs[place]));
        let bases = BaseAddresses {
            inputs,
            outputs,
            scratch,
        };
        let extent = extent(b, n, row);
        RowBuilder::new(n, plan, bases).passes(b, extent);
    });
}

/// Returns whether [`unroll`](Nest::unroll) applies to `n`: it has a loop without a reduction.
pub fn can_unroll(n: &Nest) -> bool {
    let writes_rows = |pass: &plan::Pass| {
        let mut outputs = pass.outputs.iter();
        !pass.stores.is_empty() || outputs.any(|&place| n.outputs[place].access.inner != 0)
    };
    let passes = Plan::of(n).passes;
    (passes.iter()).any(|pass| pass.reduces.is_empty() && writes_rows(pass))
}

/// Returns the number of elements of a row.
fn extent(b: &mut Builder, n: &Nest, row: Option<Value>) -> Extent {
    let cut = n
        .total
        .filter(|&total| n.outer.iter().any(|&rows| rows * n.inner != total));
    let (Some(total), Some(row)) = (cut, row) else {
        return Extent::Known(n.inner);
    };
    let (length, total) = (b.index(n.inner as i64), b.index(total as i64));
    let before = b.index_op(IndexOp::Mul, row, length);
    let left = b.index_op(IndexOp::Sub, total, before);
    Extent::Given(b.index_op(IndexOp::Min, left, length))
}

/// Returns the lanes of the vectors of `n` on `target`: as many as fit a register at the widest type it computes in.
///
/// A map that is traversed in transposed tiles has at most as many lanes as a tile has rows.
pub fn lanes(n: &Nest, target: &TargetInfo) -> u32 {
    let lanes = target.lanes(program::widest_lane(&n.nodes, &n.inputs).bits());
    match TransposedTiles::of(n, &Plan::of(n)) {
        Some(_) => lanes.min(transposed::LANES),
        None => lanes,
    }
}

/// Appends the loops of `c` for a range of indices of the outermost dimension.
///
/// Pointers are as for [`nest`](nest()); the function must have at most [`columns_lanes`] lanes.
///
/// # Panics
///
/// Panics if the nest is not well formed (see [`Columns`]).
///
/// If the nest is not well formed, as [`Columns`] says it.
pub fn columns(
    b: &mut Builder,
    c: &Columns,
    inputs: &[Value],
    outputs: &[Value],
    rows: (Value, Value),
) {
    let bytes = columns::scratch_bytes(c, b.lanes());
    b.scratch(bytes, |b, scratch| {
        columns::repeat(b, c, inputs, outputs, scratch, rows);
    });
}

/// Returns the lanes of the vectors of `c` on `target`: as many as fit a register at the widest type it computes in.
pub fn columns_lanes(c: &Columns, target: &TargetInfo) -> u32 {
    target.lanes(program::widest_lane(&c.nodes, &c.inputs).bits())
}
