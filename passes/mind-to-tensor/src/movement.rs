//! Lowers ops that read a part of a tensor.

use mind_core::ops::convert::Bitcast;
use mind_core::ops::index::{Index, Slice};
use mind_ir::OpId;
use mind_ir::builder::Builder;
use mind_ir::opdef::{Op, OpDef};
use mind_tensor::ops::bitcast::Bitcast as TensorBitcast;
use mind_tensor::ops::index as tensor;

use crate::emit::{Lower, Lowered};

pub(crate) const ROWS: &[(&OpDef, Lower)] = &[
    (Index::DEF, lower_index),
    (Slice::DEF, lower_slice),
    (Bitcast::DEF, lower_bitcast),
];

fn lower_index(op: OpId, b: &mut Builder<'_>) -> Lowered {
    let view = Index::from_id(op);
    let (input, indices) = (view.input(b.graph), view.indices(b.graph).to_vec());
    tensor::Index::with(&indices).build(b, input)
}

fn lower_slice(op: OpId, b: &mut Builder<'_>) -> Lowered {
    let view = Slice::from_id(op);
    let input = view.input(b.graph);
    let [starts, ends, steps] = [
        view.starts(b.graph),
        view.ends(b.graph),
        view.steps(b.graph),
    ]
    .map(<[i64]>::to_vec);
    tensor::Slice::with(&starts, &ends, &steps).build(b, input)
}

fn lower_bitcast(op: OpId, b: &mut Builder<'_>) -> Lowered {
    let view = Bitcast::from_id(op);
    let (input, dtype) = (view.input(b.graph), view.dtype(b.graph));
    TensorBitcast::with(dtype).build(b, input)
}
