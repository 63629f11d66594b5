//! Loop nests over rows: elementwise functions, reductions along a row, and any mix of the two.
//!
//! A [`Nest`] says what is computed at each position of its dimensions; [`nest`] appends the loops that do it.
//! The innermost dimension is the one that vectors lie along and the one that reductions run over. A row
//! program, such as a softmax, is computed row by row in as many passes as its reductions follow each other.
//! [`Columns`] reduce over another dimension than the innermost one.

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
use operands::Places;
use plan::Plan;
use row::Row;
use sweep::Extent;
use transposed::TransposedTiles;

/// Appends the loops of `n` for the rows whose outermost index is in `rows`, the end excluded.
///
/// `inputs` and `outputs` are pointers to the elements that accesses count from. A nest without outer dimensions
/// has one row, whatever `rows` says. The function must have at most as many lanes as [`lanes`] says.
///
/// # Panics
///
/// If the nest is not well formed, as [`Nest`] says it.
pub fn nest(b: &mut Builder, n: &Nest, inputs: &[Value], outputs: &[Value], rows: (Value, Value)) {
    let plan = Plan::of(n);
    let bases: Vec<Value> = inputs.iter().chain(outputs).copied().collect();
    b.scratch(plan.scratch_bytes, |b, scratch| {
        append(b, n, &plan, &bases, scratch, rows);
    });
}

/// Appends the loops, given the scratch memory that `plan` asks for.
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
        let places = Places {
            inputs,
            outputs,
            scratch,
        };
        let extent = extent(b, n, row);
        Row::new(n, plan, places).passes(b, extent);
    });
}

/// Whether `n` has a loop that [`unroll`](Nest::unroll) applies to: one that reduces nothing.
pub fn can_unroll(n: &Nest) -> bool {
    let writes_rows = |pass: &plan::Pass| {
        let mut outputs = pass.outputs.iter();
        !pass.keeps.is_empty() || outputs.any(|&place| n.outputs[place].access.inner != 0)
    };
    let passes = Plan::of(n).passes;
    (passes.iter()).any(|pass| pass.reduces.is_empty() && writes_rows(pass))
}

/// How many elements a row has.
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

/// Lanes of the vectors of `n` on `target`: as many as fit a register at the widest type it computes in.
///
/// A map that is walked in squares has no more lanes than squares may have rows.
pub fn lanes(n: &Nest, target: &TargetInfo) -> u32 {
    let lanes = target.lanes(program::widest_lane(&n.nodes, &n.inputs).bits());
    match TransposedTiles::of(n, &Plan::of(n)) {
        Some(_) => lanes.min(transposed::LANES),
        None => lanes,
    }
}

/// Appends the loops of `c` for the outermost indices that are in `rows`, the end excluded.
///
/// Pointers are as for [`nest`](nest()), lanes at most as many as [`columns_lanes`] says.
///
/// # Panics
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

/// Lanes of the vectors of `c` on `target`: as many as fit a register at the widest type it computes in.
pub fn columns_lanes(c: &Columns, target: &TargetInfo) -> u32 {
    target.lanes(program::widest_lane(&c.nodes, &c.inputs).bits())
}
