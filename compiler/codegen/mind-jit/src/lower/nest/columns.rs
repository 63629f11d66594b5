//! Reductions over a dimension other than the innermost one.

use crate::lower::At;
use crate::lower::compute_lane;
use crate::lower::each::{covering, vectors_of_round};
use crate::lower::reduce::PARTIALS;
use mind_vir::ir::{Builder, LoopKind, Value};

use super::loops::Outer;
use super::operands::BaseAddresses;
use super::plan::{Plan, by_levels, weight};
use super::program::{Columns, Node};
use super::strip::Strip;

/// Maximum width of a strip, in vectors.
const STRIP: u32 = 8;
/// The cost, in operations on `f32`, up to which the reduction of a short column is fully unrolled.
const WRITTEN_OUT: usize = 192;

/// Returns the scratch memory for the partial results of the widest strip, in bytes.
pub(super) fn scratch_bytes(c: &Columns, lanes: u32) -> usize {
    let reduces = c
        .nodes
        .iter()
        .filter(|node| matches!(node, Node::Reduce { .. }));
    let widest = reduces.clone().map(|node| match node {
        Node::Reduce { dtype, .. } => compute_lane(*dtype).bytes(),
        _ => 0,
    });
    let vector = lanes * widest.max().unwrap_or(0);
    (PARTIALS * STRIP * vector) as usize * reduces.count()
}

/// Appends the loop nest of `c`.
pub(super) fn repeat(
    b: &mut Builder,
    c: &Columns,
    inputs: &[Value],
    outputs: &[Value],
    scratch: Value,
    rows: (Value, Value),
) {
    let plan = by_levels(&c.nodes, &c.inputs, &c.outputs, |access| {
        access.outer.last().is_some_and(|&stride| stride != 0)
    });
    let outer = Outer::new(&c.outer, &c.inputs, &c.outputs);
    let bases = inputs.iter().chain(outputs).copied();
    outer.repeat(b, bases, rows, |b, bases, _| {
        let (inputs, outputs) = bases.split_at(c.inputs.len());
        let bases = BaseAddresses {
            inputs,
            outputs,
            scratch,
        };
        strips(b, c, &plan, bases);
    });
}

/// Appends loops over strips of several vectors.
fn strips(b: &mut Builder, c: &Columns, plan: &Plan, bases: BaseAddresses<'_>) {
    let weight: usize = c.nodes.iter().map(weight).sum();
    let reduces = plan.passes.iter().map(|pass| pass.reduces.len()).max();
    let reduces = reduces.unwrap_or(0).max(1);
    let is_written_out =
        c.depth <= PARTIALS as usize && c.depth * (weight + 1) * reduces <= WRITTEN_OUT;
    let vectors = c.unroll.unwrap_or_else(|| {
        let vectors = match (is_written_out, weight) {
            (true, _) => 2,
            (false, 0..=12) => STRIP,
            (false, 13..=30) => 4,
            _ => 2,
        };
        (vectors / reduces.next_power_of_two() as u32).max(1)
    });
    let lanes = b.lanes() as usize;
    let strip = |b: &mut Builder, index: Value, vectors: u32, count: Option<Value>| {
        let lanes = b.lanes();
        let ats = (0..vectors).map(|vector| At {
            index,
            ahead: vector * lanes,
            count,
        });
        Strip::new(c, plan, bases, ats.collect(), is_written_out).passes(b);
    };
    let replaces = (c.outputs.iter()).any(|output| output.replaces.is_some());
    let round = vectors_of_round(c.inner, lanes, vectors as usize, 1);
    if round > 0 && !replaces {
        return covering(b, (0, c.inner), round * lanes, |b, first| {
            strip(b, first, round as u32, None);
        });
    }
    // Iterations must not overlap if an operand is overwritten, because it would be read again after that.
    let width = lanes * vectors as usize;
    let (wide, whole) = (c.inner / width * width, c.inner / lanes * lanes);
    let mut start = b.index(0);
    for (vectors, end, is_needed) in [(vectors, wide, wide > 0), (1, whole, whole > wide)] {
        if is_needed {
            let (end, step) = (b.index(end as i64), (lanes * vectors as usize) as i64);
            (start, _) = b.repeat(LoopKind::Whole, (start, end), step, &[], |b, round| {
                strip(b, round.index, vectors, None);
                Vec::new()
            });
        }
    }
    if c.inner > whole {
        let count = b.index((c.inner - whole) as i64);
        strip(b, start, 1, Some(count));
    }
}
