//! Cases of `reassociation.rules`.

use super::Case;

pub const CASES: &[Case] = &[
    (
        "matmul-reassociate",
        "matmul(x:f32[9, 2], matmul(y:f32[2, 9], z:f32[9, 2]))",
        "matmul(x:f32[9, 2], relu(y:f32[2, 9]))",
    ),
    (
        "add-reassociate",
        "add(x:f32[4], add(y:f32[4], z:f32[4]))",
        "add(x:f32[4], sub(y:f32[4], z:f32[4]))",
    ),
    (
        "mul-factor-out",
        "add(mul(x:f32[4], y:f32[4]), mul(x, z:f32[4]))",
        "add(mul(x:f32[4], y:f32[4]), mul(w:f32[4], z:f32[4]))",
    ),
    (
        "mul-constants-reassociate",
        "mul(mul(x:f32[4], 3:f32[]), 5:f32[])",
        "mul(mul(x:f32[4], y:f32[]), 5:f32[])",
    ),
    (
        "matmul-reassociate-int",
        "matmul(x:i32[9, 2], matmul(y:i32[2, 9], z:i32[9, 2]))",
        "matmul(x:f32[9, 2], matmul(y:f32[2, 9], z:f32[9, 2]))",
    ),
    (
        "factor-out-int",
        "add(mul(x:i32[4], y:i32[4]), mul(x, z:i32[4]))",
        "add(mul(x:f32[4], y:f32[4]), mul(x, z:f32[4]))",
    ),
    (
        "sub-factor-out",
        "sub(mul(x:f32[4], y:f32[4]), mul(x, z:f32[4]))",
        "sub(mul(x:f32[4], y:f32[4]), mul(w:f32[4], z:f32[4]))",
    ),
    (
        "matmul-factor-lhs-int",
        "add(matmul(a:i32[2, 3], b:i32[3, 4]), matmul(a, c:i32[3, 4]))",
        "add(matmul(a:f32[2, 3], b:f32[3, 4]), matmul(a, c:f32[3, 4]))",
    ),
    (
        "matmul-factor-lhs",
        "add(matmul(a:f32[2, 3], b:f32[3, 4]), matmul(a, c:f32[3, 4]))",
        "add(matmul(a:f32[2, 3], b:f32[3, 4]), matmul(d:f32[2, 3], c:f32[3, 4]))",
    ),
    (
        "matmul-factor-rhs-int",
        "sub(matmul(b:i32[4, 3], a:i32[3, 4]), matmul(c:i32[4, 3], a))",
        "sub(matmul(b:f32[4, 3], a:f32[3, 4]), matmul(c:f32[4, 3], a))",
    ),
    (
        "matmul-factor-rhs",
        "sub(matmul(b:f32[4, 3], a:f32[3, 4]), matmul(c:f32[4, 3], a))",
        "sub(matmul(b:f32[4, 3], a:f32[3, 4]), matmul(c:f32[4, 3], d:f32[3, 4]))",
    ),
    (
        "matmul-join-k-int",
        "add(matmul(a:i32[2, 3], b:i32[3, 4]), matmul(c:i32[2, 5], d:i32[5, 4]))",
        "sub(matmul(a:i32[2, 3], b:i32[3, 4]), matmul(c:i32[2, 5], d:i32[5, 4]))",
    ),
    (
        "matmul-join-k",
        "add(matmul(a:f32[2, 3], b:f32[3, 4]), matmul(c:f32[2, 5], d:f32[5, 4]))",
        "sub(matmul(a:f32[2, 3], b:f32[3, 4]), matmul(c:f32[2, 5], d:f32[5, 4]))",
    ),
    (
        "matmul-split-k",
        "matmul(concat(a:f32[2, 3], c:f32[2, 5], axis=1), concat(b:f32[3, 4], d:f32[5, 4], axis=0))",
        "matmul(concat(a:f32[2, 3], c:f32[2, 5], axis=1), concat(b:f32[5, 4], d:f32[3, 4], axis=0))",
    ),
    (
        "matmul-scale-lhs-int",
        "matmul(mul(a:i32[2, 3], c:i32[]), b:i32[3, 4])",
        "matmul(mul(a:i32[2, 3], c:i32[3]), b:i32[3, 4])",
    ),
    (
        "matmul-scale-lhs",
        "matmul(mul(a:f32[2, 3], c:f32[]), b:f32[3, 4])",
        "matmul(mul(a:f32[2, 3], c:f32[3]), b:f32[3, 4])",
    ),
    (
        "matmul-scale-rhs-int",
        "matmul(a:i32[2, 3], mul(b:i32[3, 4], c:i32[]))",
        "matmul(a:i32[2, 3], mul(b:i32[3, 4], c:i32[4]))",
    ),
    (
        "matmul-scale-rhs",
        "matmul(a:f32[2, 3], mul(b:f32[3, 4], c:f32[]))",
        "matmul(a:f32[2, 3], mul(b:f32[3, 4], c:f32[4]))",
    ),
    (
        "matmul-scale-columns",
        "mul(matmul(a:f32[2, 3], b:f32[3, 4]), c:f32[4])",
        "mul(matmul(a:f32[2, 3], b:f32[3, 4]), c:f32[1])",
    ),
    (
        "affine-of-shifted",
        "mul(sub(x:f32[2, 3], 2:f32[3]), 0.3:f32[3])",
        "mul(sub(x:f32[2, 3], y:f32[3]), 0.3:f32[3])",
    ),
];
