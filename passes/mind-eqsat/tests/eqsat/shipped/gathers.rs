//! Cases of `gathers.rules`.

use super::Case;

pub const CASES: &[Case] = &[
    (
        "gather-as-slice",
        "gather(x:f32[3, 9], data[1, 4, 7]:i32[3], axis=1)",
        "gather(x:f32[3, 9], data[1, 7, 4]:i32[3], axis=1)",
    ),
    (
        "gather-as-slice",
        "gather(x:f32[9], 4:i32[1])",
        "gather(5:f32[3], data[1, 4]:i32[2])",
    ),
    (
        "gather-one-as-slice",
        "gather(x:f32[9, 2], 4:i64[])",
        "gather(5:f32[9, 2], 9:i64[])",
    ),
    (
        "gather-of-gather",
        "gather(gather(x:f32[9, 2], data[8, 0, 3]:i32[3]), data[2, 2]:i32[2])",
        "gather(gather(5:f32[9, 2], data[9, 0, 3]:i32[3]), data[2, 2]:i32[2])",
    ),
    (
        "gather-of-unary",
        "gather(exp(x:f32[9, 2]), data[8, 0, 3]:i32[3])",
        "exp(x:f32[9, 2]); gather(exp(x), data[8, 0, 3]:i32[3])",
    ),
    (
        "gather-of-binary",
        "gather(sub(x:f32[9, 2], y:f32[9, 2]), data[8, 0, 3]:i32[3])",
        "gather(div(x:i32[9, 2], 3:i32[9, 2]), data[8, 0, 3]:i32[3])",
    ),
    (
        "gather-of-scalar-rhs",
        "gather(sub(x:f32[9, 2], y:f32[]), data[8, 0, 3]:i32[3])",
        "gather(sub(x:f32[9, 2], y:f32[1]), data[8, 0, 3]:i32[3])",
    ),
    (
        "slice-of-gather",
        "slice(gather(x:f32[9, 4], data[8, 0, 3]:i32[3]), starts=[0, 1], ends=[3, 3], steps=[1, 1])",
        "slice(gather(x:f32[9, 4], data[8, 0, 3]:i32[3]), starts=[0, 1], ends=[2, 3], steps=[1, 1])",
    ),
    (
        "slice-of-gathered",
        "slice(gather(x:f32[9, 4], data[8, 0, 3]:i32[3]), starts=[1, 1], ends=[3, 3], steps=[1, 1])",
        "slice(gather(5:f32[9, 4], data[9, 0, 3]:i32[3]), starts=[1, 1], ends=[3, 3], steps=[1, 1])",
    ),
];
