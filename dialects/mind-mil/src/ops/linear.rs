//! Sums of products.

use crate::element::Element::{Bool, Fp16, Fp32};
use crate::element::Elements;
use crate::eval;
use crate::infer;
use crate::row::mil_ops;
use crate::signature::{B, F, Kind, N, S, arg, fixed, other};

mil_ops! {
    /// A sum of products by one of two equations.
    EINSUM = "einsum" {
        shapes: "as `equation` says",
        since: [
            Ios15 => [other("values", Kind::Tuple), fixed("equation", S)],
        ],
        infer: infer::contract::einsum,
        eval: eval::contract::einsum,
    }

    /// `x` by `weight` transposed, plus `bias`.
    LINEAR = "linear" {
        shapes: "`[.., I] [O, I] [O] -> [.., O]`",
        since: [
            Ios15 => [arg("x", N).of(1), fixed("weight", N).of(1), fixed("bias", N).of(1).optional()],
            Ios17 => [arg("x", N).of(1), fixed("weight", N).of(2), fixed("bias", N).of(2).optional()],
        ],
        infer: infer::contract::linear,
        eval: eval::contract::linear,
    }

    /// The product of matrices, or of stacks of them.
    MATMUL = "matmul" {
        shapes: "`[.., M, K] [.., K, N] -> [.., M, N]`, the batch dimensions broadcast",
        since: [
            Ios15 => [
                arg("x", N).of(1), arg("y", N).of(1), fixed("transpose_x", B).bool(false),
                fixed("transpose_y", B).bool(false),
            ],
            Ios17 => [
                arg("x", N).of(1), arg("y", N).of(2), fixed("transpose_x", B).bool(false),
                fixed("transpose_y", B).bool(false),
            ],
        ],
        infer: infer::contract::matmul,
        eval: eval::contract::matmul,
    }

    /// `softmax(query key^T / sqrt(E) + attn_mask) value`.
    SCALED_DOT_PRODUCT_ATTENTION = "scaled_dot_product_attention" {
        shapes: "`[.., L, E] [.., S, E] [.., S, V] -> [.., L, V]`",
        since: [
            Ios18 => [
                arg("query", F).of(1), arg("key", F).of(1), arg("value", F).of(1),
                arg("attn_mask", Elements::of(&[Bool, Fp16, Fp32])).of(2).optional(),
            ],
        ],
        infer: infer::contract::attention,
        eval: eval::contract::attention,
    }
}
