//! The ops that a lowered program is made of.

use mind_mil::MilOp;
use mind_mil::ops::{
    activation as act, binary, conv, index, linear, movement, normalization as norm, reduction,
    tensor, unary,
};

/// Every op that the lowering emits.
pub const EMITTED: &[&MilOp] = &[
    &act::GELU,
    &act::RELU,
    &act::SIGMOID,
    &act::SOFTMAX,
    &unary::ABS,
    &unary::CAST,
    &unary::ERF,
    &unary::EXP,
    &unary::LOG,
    &unary::SQRT,
    &unary::TANH,
    &binary::ADD,
    &binary::MAXIMUM,
    &binary::MINIMUM,
    &binary::MUL,
    &binary::REAL_DIV,
    &binary::SUB,
    &reduction::REDUCE_L2_NORM,
    &reduction::REDUCE_MAX,
    &reduction::REDUCE_MEAN,
    &reduction::REDUCE_SUM,
    &norm::LAYER_NORM,
    &linear::EINSUM,
    &linear::MATMUL,
    &linear::SCALED_DOT_PRODUCT_ATTENTION,
    &conv::CONV,
    &movement::EXPAND_DIMS,
    &movement::RESHAPE,
    &movement::SLICE_BY_INDEX,
    &movement::SQUEEZE,
    &movement::TRANSPOSE,
    &tensor::CONCAT,
    &tensor::IDENTITY,
    &tensor::TILE,
    &index::GATHER,
];
