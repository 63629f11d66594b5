//! Normalises scans to slice and stack along the first axes, because such slices are contiguous.

use mind_core::ops::control::Scan;
use mind_ir::attr::Attr;
use mind_ir::builder::Builder;
use mind_ir::graph::{Graph, InsertPoint};
use mind_ir::opdef::Op;
use mind_ir::verify::VerifyError;
use mind_ir::{OpId, ValueId};
use mind_tensor::ops::transpose::Transpose;

const IN_AXES: usize = Scan::DEF.attr_position("in_axes");
const OUT_AXES: usize = Scan::DEF.attr_position("out_axes");

/// Makes a scan slice and stack only along first axes, by transposes of its operands and results. Returns the number of
/// transposes.
///
/// # Errors
///
/// None for a verified scan.
pub(crate) fn along_first_axes(g: &mut Graph, scan: Scan) -> Result<usize, Box<VerifyError>> {
    let op = scan.id();
    let carried = scan.initial(g).len();
    let inputs = scan.input_axes(g).into_iter().enumerate();
    let inputs: Vec<(usize, usize)> = inputs.filter(|&(_, axis)| axis > 0).collect();
    let outputs = scan.output_axes(g).into_iter().enumerate();
    let outputs: Vec<(usize, usize)> = outputs.filter(|&(_, axis)| axis > 0).collect();
    for &(at, axis) in &inputs {
        let operand = g.operands(op)[carried + at];
        let permutation = first(axis, g.ty(operand).rank());
        let slices = Transpose::with(&permutation).build(&mut Builder::before(g, op), operand)?;
        g.set_operand(op, carried + at, slices);
    }
    for &(at, axis) in &outputs {
        let result = g.results(op).get(carried + at);
        stack_along(g, op, result, axis)?;
    }
    g.set_attr(op, IN_AXES, Attr::Ints(&[]));
    g.set_attr(op, OUT_AXES, Attr::Ints(&[]));
    Ok(inputs.len() + outputs.len())
}

/// Returns the permutation that moves `axis` to the front.
fn first(axis: usize, rank: usize) -> Vec<i64> {
    let others = (0..rank).filter(|&other| other != axis);
    std::iter::once(axis)
        .chain(others)
        .map(|axis| axis as i64)
        .collect()
}

/// Stacks a result of `op` along the first axis, and transposes it back to `axis` for its users.
fn stack_along(
    g: &mut Graph,
    op: OpId,
    result: ValueId,
    axis: usize,
) -> Result<(), Box<VerifyError>> {
    let mut ty = g.ty(result).to_owned();
    let steps = ty.shape.remove(axis);
    ty.shape.insert(0, steps);
    let ty = g.intern_type(ty.view());
    g.undeclare(result);
    g.set_type(result, ty);
    let mut permutation: Vec<i64> = (1..g.ty(result).rank() as i64).collect();
    permutation.insert(axis, 0);
    let readers: Vec<(OpId, usize)> = g.uses(result).collect();
    let next = g.next(op).expect("a terminator follows");
    let b = &mut Builder::new(g, InsertPoint::Before(next), g.span(op));
    let stacked = Transpose::with(&permutation).build(b, result)?;
    for (reader, operand) in readers {
        g.set_operand(reader, operand, stacked);
    }
    Ok(())
}
