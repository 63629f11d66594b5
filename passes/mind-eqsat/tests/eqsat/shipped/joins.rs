//! Cases of `joins.rules`.

use super::Case;

pub const CASES: &[Case] = &[
    (
        "slice-of-concat-first",
        "slice(concat(x:f32[3], y:f32[4], axis=0), starts=[1], ends=[3], steps=[1])",
        "slice(concat(x:f32[3], y:f32[4], axis=0), starts=[1], ends=[4], steps=[1])",
    ),
    (
        "slice-of-concat-second",
        "slice(concat(x:f32[3], y:f32[4], axis=-1), starts=[3], ends=[6], steps=[2])",
        "slice(concat(x:f32[3], y:f32[4], axis=-1), starts=[2], ends=[6], steps=[2])",
    ),
    (
        "concat-of-unary",
        "concat(relu(x:f32[3]), relu(y:f32[4]), axis=0)",
        "concat(relu(x:f32[3]), abs(y:f32[4]), axis=0)",
    ),
    (
        "slice-of-concat-across",
        "slice(concat(x:f32[8], y:f32[8], axis=0), starts=[6], ends=[11], steps=[1])",
        "slice(concat(x:f32[8], y:f32[8], axis=0), starts=[5], ends=[11], steps=[2])",
    ),
    (
        "concat-of-slices",
        "concat(split(x:f32[4], axis=0, count=2, part=0), split(x, axis=0, count=2, part=1), axis=0)",
        "concat(split(x:f32[4], axis=0, count=2, part=1), split(x, axis=0, count=2, part=0), axis=0)",
    ),
    (
        "concat-of-slices",
        "concat(split(x:f32[2, 6], axis=1, count=3, part=0), split(x, axis=1, count=3, part=1), split(x, axis=1, count=3, part=2), axis=1)",
        "concat(split(x:f32[2, 6], axis=1, count=3, part=0), split(x, axis=1, count=3, part=2), split(x, axis=1, count=3, part=1), axis=1)",
    ),
    (
        "concat-nested-first",
        "concat(concat(x:f32[4], y:f32[4], axis=0), z:f32[4], axis=-1)",
        "concat(concat(x:f32[4, 2], y:f32[4, 2], axis=1), z:f32[3, 4], axis=0)",
    ),
    (
        "concat-nested-second",
        "concat(z:f32[4], concat(x:f32[4], y:f32[4], axis=0), axis=0)",
        "concat(z:f32[3, 4], concat(x:f32[4, 2], y:f32[4, 2], axis=1), axis=0)",
    ),
    (
        "concat-of-three",
        "concat(x:f32[4], y:f32[4], z:f32[4], axis=0)",
        "concat(x:f32[4], y:f32[4], axis=0)",
    ),
    (
        "concat-of-four",
        "concat(x:f32[4], y:f32[4], z:f32[4], w:f32[4], axis=0)",
        "concat(x:f32[4], y:f32[4], z:f32[4], axis=0)",
    ),
    (
        "concat-of-concats",
        "concat(concat(x:f32[2, 3], y:f32[2, 4], axis=1), concat(z:f32[1, 3], w:f32[1, 4], axis=1), axis=0)",
        "concat(concat(x:f32[2, 3], y:f32[2, 4], axis=1), concat(z:f32[2, 3], w:f32[2, 4], axis=1), axis=-1)",
    ),
    (
        "concat-of-binary",
        "concat(sub(x:f32[3], y:f32[3]), sub(z:f32[4], w:f32[4]), axis=0)",
        "concat(sub(x:f32[3], y:f32[1]), sub(z:f32[4], w:f32[4]), axis=0)",
    ),
    (
        "binary-of-concats",
        "sub(concat(x:f32[3], y:f32[4], axis=0), concat(z:f32[3], w:f32[4], axis=0))",
        "sub(concat(x:f32[3], y:f32[4], axis=0), concat(z:f32[4], w:f32[3], axis=0))",
    ),
    (
        "concat-of-scalar-rhs",
        "concat(div(x:f32[3], c:f32[]), div(y:f32[4], c), axis=0)",
        "concat(div(x:f32[3], c:f32[]), div(y:f32[4], d:f32[]), axis=0)",
    ),
    (
        "concat-of-scalar-lhs",
        "concat(div(c:f32[], x:f32[3]), div(c, y:f32[4]), axis=0)",
        "concat(div(c:f32[], x:f32[3]), div(d:f32[], y:f32[4]), axis=0)",
    ),
    (
        "concat-of-biased",
        "concat(add(x:f32[2, 3], b:f32[3]), add(y:f32[2, 4], c:f32[4]), axis=1)",
        "concat(add(x:f32[2, 3], b:f32[3]), add(y:f32[2, 3], c:f32[3]), axis=0)",
    ),
];
