//! Casts and bitcasts.

use mind_ir::graph::Graph;
use mind_ir::opdef::Folded;
use mind_ir::ops;
use mind_ir::types::TypeView;
use mind_ir::verify::InferResult;

use crate::eval::bits::{bitcast, bitcast_type};
use crate::eval::convert::cast;

ops! {
    /// The number converted to another dtype, at every position.
    ///
    /// Float to float rounds to nearest, ties to even, and overflows to infinity. Float to integer truncates; NaN
    /// becomes 0, and numbers out of range saturate. Integer to integer is taken modulo 2^width, and integer to float
    /// is rounded once. `bool` converts to 0 or 1, and every number except zero converts to true, including NaN.
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
    /// Each element becomes several of a narrower dtype, the least significant first, along a new last dimension: for
    /// example `f32[2]` becomes `u8[2, 4]`. The elements along the last dimension become one of a wider dtype. The bits
    /// of a NaN are kept, but those of a NaN that another op computes are not defined.
    ///
    /// Shapes: as the operand, with a last dimension added for a narrower dtype, or removed for a wider one.
    /// Errors: E2005 `dtype` is `bool` and the operand is not, E3002 a wider dtype of rank 0, or rank above 32, E3003
    /// the last extent is not the ratio of the sizes.
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
