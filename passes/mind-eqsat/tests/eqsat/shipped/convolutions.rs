//! Cases of `convolutions.rules`.

use super::Case;

pub const CASES: &[Case] = &[
    (
        "conv-pointwise",
        "conv2d(x:f32[2, 3, 4, 5], w:f32[1, 1, 5, 6], padding=same)",
        "conv2d(x:f32[2, 3, 4, 5], w:f32[1, 1, 5, 6], padding=[1, 0, 0, 0])",
    ),
    (
        "conv-of-whole-image",
        "conv2d(x:f32[2, 3, 4, 5], w:f32[3, 4, 5, 6])",
        "conv2d(x:f32[2, 3, 4, 5], w:f32[3, 3, 5, 6])",
    ),
    (
        "conv-concat-filters",
        "concat(conv2d(x:f32[1, 4, 4, 2], v:f32[3, 3, 2, 3]), conv2d(x, w:f32[3, 3, 2, 1]), axis=3)",
        "concat(conv2d(x:f32[1, 4, 4, 2], v:f32[3, 3, 2, 3]), conv2d(y:f32[1, 4, 4, 2], w:f32[3, 3, 2, 3]), axis=3)",
    ),
    (
        "conv-of-concat-filters",
        "conv2d(x:f32[1, 4, 4, 2], concat(v:f32[3, 3, 2, 3], w:f32[3, 3, 2, 1], axis=3), strides=[2, 1], padding=same)",
        "conv2d(x:f32[1, 4, 4, 2], concat(v:f32[3, 3, 1, 3], w:f32[3, 3, 1, 3], axis=2))",
    ),
    (
        "conv-concat-images",
        "concat(conv2d(x:f32[1, 4, 4, 2], w:f32[3, 3, 2, 3]), conv2d(y:f32[2, 4, 4, 2], w), axis=0)",
        "concat(conv2d(x:f32[1, 4, 4, 2], w:f32[3, 3, 2, 3]), conv2d(y:f32[1, 4, 4, 2], v:f32[3, 3, 2, 3]), axis=0)",
    ),
    (
        "conv-of-concat-images",
        "conv2d(concat(x:f32[1, 4, 4, 2], y:f32[2, 4, 4, 2], axis=0), w:f32[3, 3, 2, 3])",
        "conv2d(concat(x:f32[1, 2, 4, 2], y:f32[1, 2, 4, 2], axis=1), w:f32[3, 3, 2, 3])",
    ),
    (
        "slice-of-conv",
        "slice(conv2d(x:f32[3, 4, 4, 2], w:f32[3, 3, 2, 4], padding=same), starts=[1, 0, 0, 2], ends=[3, 4, 4, 4], steps=[1, 1, 1, 1])",
        "slice(conv2d(x:f32[3, 4, 4, 2], w:f32[3, 3, 2, 4], padding=same), starts=[1, 0, 0, 2], ends=[3, 4, 3, 4], steps=[1, 1, 1, 1])",
    ),
    (
        "conv-pad-both",
        "conv2d(concat(0:f32[1, 1, 4, 2], x:f32[1, 3, 4, 2], 0:f32[1, 2, 4, 2], axis=1), w:f32[3, 3, 2, 4], strides=[2, 1])",
        "conv2d(concat(0:f32[1, 1, 4, 2], x:f32[1, 3, 4, 2], -0.0:f32[1, 2, 4, 2], axis=1), w:f32[3, 3, 2, 4])",
    ),
    (
        "conv-pad-before",
        "conv2d(concat(0:f32[1, 4, 1, 2], x:f32[1, 4, 3, 2], axis=2), w:f32[3, 3, 2, 4], padding=[1, 1, 0, 1])",
        "conv2d(concat(0:f32[1, 4, 1, 2], x:f32[1, 4, 3, 2], axis=2), w:f32[3, 3, 2, 4], padding=same)",
    ),
    (
        "conv-pad-after",
        "conv2d(concat(x:f32[1, 4, 3, 2], 0:f32[1, 4, 1, 2], axis=2), w:f32[3, 3, 2, 4])",
        "conv2d(concat(x:f32[1, 4, 4, 1], 0:f32[1, 4, 4, 1], axis=3), w:f32[3, 3, 2, 4])",
    ),
    (
        "conv-neg-neg",
        "conv2d(neg(x:f32[1, 4, 4, 2]), neg(w:f32[3, 3, 2, 4]))",
        "conv2d(neg(x:f32[1, 4, 4, 2]), neg(w:f32[3, 3, 2, 4]), padding=same)",
    ),
    (
        "conv-sum-of-filters-int",
        "add(conv2d(x:i32[1, 4, 4, 2], v:i32[3, 3, 2, 3]), conv2d(x, w:i32[3, 3, 2, 3]))",
        "add(conv2d(x:i32[1, 4, 4, 2], v:i32[3, 3, 2, 3], padding=same), conv2d(x, w:i32[1, 1, 2, 3], padding=same))",
    ),
    (
        "conv-sum-of-filters",
        "add(conv2d(x:f32[1, 4, 4, 2], v:f32[3, 3, 2, 3]), conv2d(x, w:f32[3, 3, 2, 3]))",
        "add(conv2d(x:f32[1, 4, 4, 2], v:f32[3, 3, 2, 3], padding=same), conv2d(x, w:f32[3, 3, 2, 3], padding=[1, 1, 1, 1]))",
    ),
    (
        "conv-sum-of-images-int",
        "add(conv2d(x:i32[1, 4, 4, 2], w:i32[3, 3, 2, 3]), conv2d(y:i32[1, 4, 4, 2], w))",
        "add(conv2d(x:i32[1, 4, 4, 2], w:i32[3, 3, 2, 3]), conv2d(y:i32[2, 4, 4, 2], w))",
    ),
    (
        "conv-sum-of-images",
        "add(conv2d(x:f32[1, 4, 4, 2], w:f32[3, 3, 2, 3]), conv2d(y:f32[1, 4, 4, 2], w))",
        "add(conv2d(x:f32[1, 4, 4, 2], w:f32[3, 3, 2, 3]), conv2d(y:f32[2, 4, 4, 2], w))",
    ),
    (
        "conv-of-channels-int",
        "add(conv2d(x:i32[1, 4, 4, 2], v:i32[3, 3, 2, 3]), conv2d(y:i32[1, 4, 4, 1], w:i32[3, 3, 1, 3]))",
        "sub(conv2d(x:i32[1, 4, 4, 2], v:i32[3, 3, 2, 3]), conv2d(y:i32[1, 4, 4, 1], w:i32[3, 3, 1, 3]))",
    ),
    (
        "conv-of-channels",
        "conv2d(concat(x:f32[1, 4, 4, 2], y:f32[1, 4, 4, 1], axis=3), concat(v:f32[3, 3, 2, 3], w:f32[3, 3, 1, 3], axis=2))",
        "conv2d(concat(x:f32[1, 4, 4, 2], y:f32[1, 4, 4, 1], axis=3), concat(v:f32[3, 3, 1, 3], w:f32[3, 3, 2, 3], axis=2))",
    ),
    (
        "conv-scale-into-filter-int",
        "mul(conv2d(x:i32[1, 4, 4, 2], w:i32[3, 3, 2, 3]), g:i32[3])",
        "mul(conv2d(x:i32[1, 4, 4, 2], w:i32[3, 3, 2, 2]), g:i32[2, 1])",
    ),
    (
        "conv-scale-into-filter",
        "mul(conv2d(x:f32[1, 4, 4, 2], w:f32[3, 3, 2, 3]), g:f32[1, 1, 1, 3])",
        "mul(conv2d(x:f32[1, 4, 4, 2], w:f32[3, 3, 2, 2]), g:f32[2, 2])",
    ),
];
