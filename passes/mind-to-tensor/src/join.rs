//! Lowers concatenation and splitting.

use mind_core::axes::resolve;
use mind_core::ops::join::{Concat, Split};
use mind_ir::OpId;
use mind_ir::ValueId;
use mind_ir::builder::Builder;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::types::{Dim, Shape};
use mind_tensor::ops::join::Concat as TensorConcat;

use crate::emit::{Lower, Lowered, can_replace, reshape, shape, slice_axis};

pub(crate) const ROWS: &[(&OpDef, Lower)] =
    &[(Concat::DEF, lower_concat), (Split::DEF, lower_split)];

fn lower_concat(op: OpId, b: &mut Builder<'_>) -> Lowered {
    let view = Concat::from_id(op);
    let inputs = view.inputs(b.graph).to_vec();
    if let &[only] = inputs.as_slice()
        && can_replace(b, only, op)
    {
        return Ok(only);
    }
    let axis = resolve("concat", view.axis(b.graph), b.graph.ty(inputs[0]).rank())?;
    TensorConcat::with(axis as i64).build(b, &inputs)
}

/// Lowers a split to a slice if the extent is known. Otherwise the axis is first split in two: the parts, and the
/// positions within a part.
fn lower_split(op: OpId, b: &mut Builder<'_>) -> Lowered {
    let view = Split::from_id(op);
    let (input, count, piece) = (view.input(b.graph), view.count(b.graph), view.part(b.graph));
    let axis = resolve("split", view.axis(b.graph), b.graph.ty(input).rank())?;
    if count == 1 && can_replace(b, input, op) {
        return Ok(input);
    }
    match shape(b, input)[axis] {
        Dim::Fixed(extent) => {
            let size = extent / count;
            slice_axis(b, input, axis, piece * size, (piece + 1) * size)
        }
        Dim::Symbol(_) | Dim::Dynamic => split_open(b, input, axis, count, piece),
    }
}

fn split_open(b: &mut Builder<'_>, input: ValueId, axis: usize, count: i64, piece: i64) -> Lowered {
    let extents = shape(b, input);
    let (mut pieces, mut carry) = (Shape::new(), Vec::new());
    let (mut joined, mut back) = (Shape::new(), Vec::new());
    for (at, &extent) in extents.iter().enumerate() {
        if at == axis {
            pieces.extend([Dim::Fixed(count), Dim::Dynamic]);
            carry.extend([-1, -1]);
            joined.push(Dim::Dynamic);
        } else {
            pieces.push(extent);
            carry.push(at as i64);
            joined.push(extent);
        }
        back.push((at + usize::from(at >= axis)) as i64);
    }
    let apart = reshape(b, input, &pieces, &carry)?;
    let one = slice_axis(b, apart, axis, piece, piece + 1)?;
    reshape(b, one, &joined, &back)
}
