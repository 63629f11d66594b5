//! Cases of `contractions.rules`.

use super::Case;

pub const CASES: &[Case] = &[
    (
        "matmul-concat-columns",
        "concat(matmul(x:f32[2, 3], y:f32[3, 4]), matmul(x, z:f32[3, 5]), axis=1)",
        "concat(matmul(x:f32[2, 3], y:f32[3, 4]), matmul(w:f32[2, 3], z:f32[3, 4]), axis=1)",
    ),
    (
        "matmul-concat-rows",
        "concat(matmul(y:f32[4, 3], x:f32[3, 2]), matmul(z:f32[5, 3], x), axis=0)",
        "concat(matmul(y:f32[4, 3], x:f32[3, 2]), matmul(z:f32[4, 3], w:f32[3, 2]), axis=0)",
    ),
    (
        "dot-of-matrices",
        "dot(x:f32[2, 3], y:f32[3, 4])",
        "dot(x:f32[2, 3], y:f32[3])",
    ),
    (
        "matmul-concat-columns",
        "concat(matmul(x:f32[5, 2, 3], y:f32[5, 3, 4]), matmul(x, z:f32[5, 3, 2]), axis=-1)",
        "concat(matmul(x:f32[2, 3], y:f32[3, 4]), matmul(w:f32[2, 3], z:f32[3, 4]), axis=1)",
    ),
    (
        "matmul-concat-batches",
        "concat(matmul(x:f32[5, 2, 3], y:f32[5, 3, 4]), matmul(z:f32[1, 2, 3], w:f32[1, 3, 4]), axis=0)",
        "concat(matmul(x:f32[5, 2, 3], y:f32[1, 3, 4]), matmul(z:f32[1, 2, 3], w:f32[1, 3, 4]), axis=0)",
    ),
    (
        "matmul-of-concat-columns",
        "matmul(x:f32[2, 3], concat(y:f32[3, 4], z:f32[3, 5], axis=-1))",
        "matmul(x:f32[2, 3], concat(y:f32[1, 4], z:f32[2, 4], axis=0))",
    ),
    (
        "matmul-of-concat-rows",
        "matmul(concat(x:f32[2, 3], y:f32[4, 3], axis=0), z:f32[3, 4])",
        "matmul(concat(x:f32[2, 1], y:f32[2, 2], axis=1), z:f32[3, 4])",
    ),
    (
        "slice-of-matmul",
        "slice(matmul(x:f32[3, 8, 4], y:f32[3, 4, 8]), starts=[1, 2, 3], ends=[3, 6, 8], steps=[1, 2, 1])",
        "slice(matmul(x:f32[1, 8, 4], y:f32[3, 4, 8]), starts=[1, 2, 3], ends=[3, 6, 8], steps=[1, 2, 1])",
    ),
    (
        "slice-of-matmul-shared",
        "slice(matmul(x:f32[3, 8, 4], y:f32[4, 8]), starts=[1, 2, 3], ends=[3, 6, 8], steps=[1, 2, 1])",
        "slice(matmul(x:f32[3, 8, 4], y:f32[1, 4, 8]), starts=[1, 2, 3], ends=[3, 6, 8], steps=[1, 2, 1])",
    ),
    (
        "matmul-fold-batch",
        "matmul(x:f32[3, 2, 4], y:f32[4, 5])",
        "matmul(x:f32[3, 2, 4], y:f32[1, 4, 5])",
    ),
    (
        "matmul-unfold-batch",
        "reshape(matmul(reshape(x:f32[3, 2, 4], new_shape=[6, 4]), y:f32[4, 5]), new_shape=[3, 2, 5])",
        "reshape(matmul(reshape(x:f32[3, 2, 4], new_shape=[3, 8]), y:f32[8, 5]), new_shape=[5, 3])",
    ),
    (
        "dot-by-vector",
        "dot(x:f32[2, 3], y:f32[3])",
        "dot(x:f32[3], y:f32[3])",
    ),
    (
        "dot-of-vector",
        "dot(x:f32[3], y:f32[3, 2])",
        "dot(x:f32[3], y:f32[3])",
    ),
    (
        "dot-of-vectors",
        "dot(x:f32[3], y:f32[3])",
        "dot(x:f32[3], y:f32[3, 2])",
    ),
    (
        "matmul-of-one-k",
        "matmul(x:i32[2, 1], y:i32[1, 3])",
        "matmul(x:i32[2, 2], y:i32[2, 3])",
    ),
    (
        "matmul-of-one-k-nsz",
        "matmul(x:f32[2, 1], y:f32[1, 3])",
        "matmul(x:f32[2, 2], y:f32[2, 3])",
    ),
    (
        "matmul-by-identity",
        "matmul(sigmoid(relu(x:f32[3, 2])), data[1, 0, 0, 1]:f32[2, 2])",
        "matmul(x:f32[3, 2], data[1, 0, 0, 1]:f32[2, 2])",
    ),
    (
        "matmul-by-identity",
        "matmul(x:i32[3, 2], data[1, 0, 0, 1]:i32[2, 2])",
        "matmul(x:i32[3, 2], data[1, 0, 1, 1]:i32[2, 2])",
    ),
    (
        "matmul-of-identity",
        "matmul(data[1, 0, 0, 1]:i8[2, 2], x:i8[2, 3])",
        "matmul(data[0, 1, 1, 0]:i8[2, 2], x:i8[2, 3])",
    ),
    (
        "matmul-by-identity-fast",
        "matmul(x:f32[3, 2], data[1, 0, 0, 1]:f32[2, 2])",
        "matmul(x:f32[3, 2], data[1, 0, 0, 2]:f32[2, 2])",
    ),
    (
        "matmul-of-identity-fast",
        "matmul(data[1, 0, 0, 1]:f32[2, 2], x:f32[2, 3])",
        "matmul(data[1, 0, -0.0, 1]:f32[2, 2], x:f32[2, 3])",
    ),
    (
        "matmul-by-zero",
        "matmul(sigmoid(relu(x:f32[3, 2])), 0:f32[2, 2])",
        "matmul(x:f32[3, 2], 0:f32[2, 2])",
    ),
    (
        "matmul-of-zero",
        "matmul(0:u8[3, 2], x:u8[2, 4])",
        "matmul(0:f32[3, 2], x:f32[2, 4])",
    ),
    (
        "matmul-by-zero-nnan",
        "matmul(x:f32[3, 2], 0:f32[2, 2])",
        "matmul(x:f32[3, 2], 1:f32[2, 2])",
    ),
    (
        "matmul-of-zero-nnan",
        "matmul(0:f32[3, 2], x:f32[2, 4])",
        "matmul(1:f32[3, 2], x:f32[2, 4])",
    ),
    (
        "matmul-of-padded-k",
        "matmul(concat(x:i32[2, 3], 0:i32[2, 1], axis=1), concat(y:i32[3, 2], z:i32[1, 2], axis=0))",
        "matmul(concat(x:i32[2, 3], 0:i32[2, 1], axis=1), concat(y:i32[1, 2], z:i32[3, 2], axis=0))",
    ),
    (
        "matmul-of-padded-k-fast",
        "matmul(concat(x:f32[2, 3], 0:f32[2, 1], axis=1), concat(y:f32[3, 2], z:f32[1, 2], axis=0))",
        "matmul(concat(x:f32[2, 3], 1:f32[2, 1], axis=1), concat(y:f32[3, 2], z:f32[1, 2], axis=0))",
    ),
];
