//! The same numbers, or the same bits, in another dtype.

use mind_ir::graph::Graph;
use mind_ir::opdef::Folded;
use mind_ir::ops;
use mind_ir::types::TypeView;
use mind_ir::verify::InferResult;

use crate::eval::bits::{bitcast, bitcast_type};
use crate::eval::convert::cast;

ops! {
    /// The number in another dtype, at every position.
    ///
    /// A float is rounded to the nearest float, ties to even, and becomes infinite beyond the largest. A float becomes an
    /// integer by truncation; NaN becomes 0, and what is out of range the nearest integer of the dtype. An integer is
    /// taken modulo 2^width as another integer, and rounded once as a float. `bool` is 0 or 1, and whatever is not zero
    /// becomes true, also NaN.
    ///
    /// Shapes: as the operand; the result has `dtype`.
    /// Errors: none.
    /// Source: this compiler; ONNX `Cast`, MIL `cast`, StableHLO `convert`.
    Cast = "core.cast" {
        operands: (input: Any),
        attrs: { dtype "t": ElementType },
        traits: [Pure, Elementwise, Extended],
        names: { core: "Cast", mic1: "cast" },
        infer: infer_cast,
        eval: |op: Cast, cx, operands| cast(cx, operands[0], op.dtype(cx.graph)),
        fold: fold_cast,
    }

    /// The bits of `input` as elements of `dtype`.
    ///
    /// Of a narrower dtype several elements are made of each, the least significant first, along a new last dimension.
    /// Of a wider dtype each element is made of those along the last dimension. A NaN keeps its bits, but which NaN an op
    /// computes is not defined.
    ///
    /// Shapes: as the operand, with an extent for the parts of an element at the end, or without.
    /// Errors: E2005 `dtype` is `bool` and the operand is not, E3002 a wider dtype of rank 0, or rank above 32, E3003 the
    /// last extent does not hold one element.
    /// Source: this compiler; ONNX `BitCast`, StableHLO `bitcast_convert`.
    Bitcast = "core.bitcast" {
        operands: (input: Any),
        attrs: { dtype "t": ElementType },
        traits: [Pure, Extended],
        names: { core: "Bitcast", mic1: "bitcast" },
        infer: |op, g| bitcast_type(g, g.ty(op.input(g)), op.dtype(g)),
        eval: |op: Bitcast, cx, operands| bitcast(cx, operands[0], op.dtype(cx.graph)),
        fold: fold_bitcast,
    }
}

fn fold_bitcast(op: Bitcast, g: &Graph) -> Option<Folded> {
    let input = op.input(g);
    (g.ty(input).dtype == op.dtype(g)).then_some(Folded::Value(input))
}

fn infer_cast(op: Cast, g: &Graph) -> InferResult {
    let (dtype, shape) = (op.dtype(g), g.ty(op.input(g)).shape);
    Ok(TypeView { dtype, shape }.to_owned().into())
}

fn fold_cast(op: Cast, g: &Graph) -> Option<Folded> {
    let input = op.input(g);
    (g.ty(input).dtype == op.dtype(g)).then_some(Folded::Value(input))
}
