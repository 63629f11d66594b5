//! Cases of `merges.rules`.

use super::Case;

pub const CASES: &[Case] = &[
    (
        "products-of-one-lhs",
        "matmul(x:f32[8, 4], y:f32[4, 2]); matmul(x, z:f32[4, 3])",
        "matmul(x:f32[8, 4], y:f32[4, 2]); matmul(w:f32[8, 4], z:f32[4, 2])",
    ),
    (
        "products-of-one-rhs",
        "matmul(y:f32[8, 4], x:f32[4, 2]); matmul(z:f32[3, 4], x)",
        "matmul(y:f32[8, 4], x:f32[4, 4]); matmul(matmul(y, x), x)",
    ),
    (
        "convolutions-of-one-image",
        "conv2d(x:f32[1, 4, 4, 2], v:f32[3, 3, 2, 3]); conv2d(x, w:f32[3, 3, 2, 1])",
        "conv2d(x:f32[1, 4, 4, 2], v:f32[3, 3, 2, 3]); conv2d(x, w:f32[2, 2, 2, 3])",
    ),
    (
        "convolutions-by-one-filter",
        "conv2d(x:f32[1, 4, 4, 2], w:f32[3, 3, 2, 3]); conv2d(y:f32[2, 4, 4, 2], w)",
        "conv2d(x:f32[1, 4, 4, 2], w:f32[3, 3, 2, 3]); conv2d(y:f32[1, 4, 5, 2], w)",
    ),
];
