//! Shape rules of ops with the shape as an operand.

use mind_core::ops::runtime_shape::{DynamicBroadcastTo, DynamicIota, DynamicReshape};
use mind_ir::opdef::Op;
use mind_ir::types::{DType, Dim};

use super::{Case, case};

const OPEN: Dim = Dim::Dynamic;

/// Reshapes, broadcasts and indices.
pub fn shaped() -> Vec<Case> {
    let reshape = |operands: &str, shape: &'static [Dim], expected| {
        let attrs = DynamicReshape::attrs(shape, false);
        case(DynamicReshape::DEF, operands, attrs, expected)
    };
    let broadcast = |operands: &str, shape: &'static [Dim], expected| {
        let attrs = DynamicBroadcastTo::attrs(shape);
        case(DynamicBroadcastTo::DEF, operands, attrs, expected)
    };
    let iota = |operands: &str, shape: &'static [Dim], axis, expected| {
        let attrs = DynamicIota::attrs(DType::F16, shape, axis);
        case(DynamicIota::DEF, operands, attrs, expected)
    };
    const OPEN_3: &[Dim] = &[OPEN, Dim::Fixed(3)];
    const WIDE: &[Dim] = &[OPEN; 33];
    vec![
        reshape("bool[B, 6]; i64[2]", OPEN_3, "bool[?, 3]"),
        reshape("f32[2]; i32[?]", OPEN_3, "f32[?, 3]"),
        reshape("f32[]; i64[0]", &[], "f32[]"),
        reshape("f32[0]; i64[1]", &[Dim::Fixed(-1)], "f32[?]"),
        reshape("f32[6]; u8[2]", OPEN_3, "E2005"),
        reshape("f32[6]; i64[]", OPEN_3, "E3002"),
        reshape("f32[6]; i64[33]", WIDE, "E3002"),
        reshape("f32[6]; i64[3]", OPEN_3, "E3003"),
        reshape("f32[6]; i64[1]", &[Dim::Fixed(-2)], "E3006"),
        broadcast("f32[B, 1]; i64[2]", OPEN_3, "f32[?, 3]"),
        broadcast("f32[3]; i64[2]", OPEN_3, "f32[?, 3]"),
        broadcast("f32[]; i64[0]", &[], "f32[]"),
        broadcast("f32[3]; f32[2]", OPEN_3, "E2005"),
        broadcast("f32[4, 2]; i64[2]", OPEN_3, "E3001"),
        broadcast("f32[3]; i64[2, 1]", OPEN_3, "E3002"),
        broadcast("f32[1, 1, 3]; i64[2]", OPEN_3, "E3002"),
        broadcast("f32[3]; i64[1]", OPEN_3, "E3003"),
        broadcast("f32[3]; i64[1]", &[Dim::Fixed(-7)], "E3006"),
        iota("i64[2]", OPEN_3, 1, "f16[?, 3]"),
        iota("i32[?]", OPEN_3, -2, "f16[?, 3]"),
        iota("f32[2]", OPEN_3, 0, "E2005"),
        iota("i64[]", OPEN_3, 0, "E3002"),
        iota("i64[3]", OPEN_3, 0, "E3003"),
        iota("i64[2]", OPEN_3, 2, "E3004"),
        iota("i64[1]", &[Dim::Fixed(-3)], 0, "E3006"),
    ]
}
