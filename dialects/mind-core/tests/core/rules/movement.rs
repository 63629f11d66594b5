//! Shape rules of ops that copy elements.

use mind_core::eval::bounds::Bounds;
use mind_core::ops::{broadcast::*, extents::*, index::*, join::*, shape::*};
use mind_ir::attr::OPEN_END;
use mind_ir::opdef::Op;
use mind_ir::types::{DType, Dim};

use super::{Case, case};
use crate::module::{b, c};

/// Reshape.
pub fn reshapes() -> Vec<Case> {
    let to = |operand: &str, target: &[Dim], expected| {
        let target: &'static [Dim] = target.to_vec().leak();
        case(Reshape::DEF, operand, Reshape::attrs(target), expected)
    };
    let f = Dim::Fixed;
    let rest = f(-1);
    vec![
        to("f32[2, 3]", &[f(6)], "f32[6]"),
        to("f32[2, 3]", &[f(3), rest], "f32[3, 2]"),
        to("bool[1, 1]", &[], "bool[]"),
        to("f32[]", &[f(1), f(1)], "f32[1, 1]"),
        to("f32[2, 3]", &[f(7)], "E3007"),
        to("f32[2, 3]", &[f(4), rest], "E3007"),
        to("f32[2, 3]", &[rest, rest], "E3006"),
        to("f32[2, 3]", &[f(0), f(6)], "E3007"),
        to("f32[2, 0]", &[f(0), f(6)], "f32[0, 6]"),
        to("f32[2, 0]", &[f(7), rest], "f32[7, 0]"),
        to("f32[2, 0]", &[f(0), rest], "E3007"),
        to("f32[2, 3]", &[f(0), rest], "E3007"),
        to("f32[2, 0]", &[f(0), rest], "f32[0, 9]").declared("f32[0, 9]"),
        to("f32[B, 0]", &[f(0), c()], "f32[0, C]"),
        to("f32[?, 0]", &[f(3), rest], "f32[3, 0]"),
        to("f32[2, 3]", &[f(-2), f(-3)], "E3006"),
        to("f32[B, 6]", &[b(), f(2), f(3)], "f32[B, 2, 3]"),
        to("f32[B, 6]", &[f(2), b(), f(3)], "f32[2, B, 3]"),
        to("f32[B, 6]", &[c(), f(6)], "E3007"),
        to("f32[B, 6]", &[f(6)], "E3007"),
        to("f32[B, 6]", &[b(), rest], "f32[B, 6]"),
        to("f32[B, 6]", &[f(6), rest], "f32[6, B]"),
        to("f32[B, 6]", &[f(3), rest], "f32[3, ?]"),
        to("f32[B, 6]", &[f(4), rest], "f32[4, ?]"),
        to("f32[B, C]", &[rest], "f32[?]"),
        to("f32[B, C]", &[c(), b()], "f32[C, B]"),
        to("f32[6]", &[b(), rest], "f32[B, ?]"),
        to("f32[?, 6]", &[f(3), f(4)], "f32[3, 4]"),
        to("f32[?, 6]", &[b(), rest], "f32[B, ?]"),
        to("f32[2, 3]", &[f(2), Dim::Dynamic], "f32[2, 3]"),
        to("f32[2, 3]", &[Dim::Dynamic, rest], "E3006"),
        to(
            "f32[1]",
            &[f(1); 32],
            concat!(
                "f32[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, ",
                "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"
            ),
        ),
        to("f32[1]", &[f(1); 33], "E3002"),
    ]
}

/// Transpose, expand dims and squeeze.
pub fn reorderings() -> Vec<Case> {
    let transpose = |operand: &str, list, expected| {
        case(Transpose::DEF, operand, Transpose::attrs(list), expected)
    };
    let expand = |operand: &str, axes, expected| {
        case(ExpandDims::DEF, operand, ExpandDims::attrs(axes), expected)
    };
    let squeeze =
        |operand: &str, axes, expected| case(Squeeze::DEF, operand, Squeeze::attrs(axes), expected);
    let reverse =
        |operand: &str, axes, expected| case(Reverse::DEF, operand, Reverse::attrs(axes), expected);
    static MANY: [i64; 33] = [0; 33];
    vec![
        reverse("f32[2, B]", &[1, -2], "f32[2, B]"),
        reverse("bool[?]", &[0], "bool[?]"),
        reverse("f32[]", &[], "f32[]"),
        reverse("f32[]", &[0], "E3004"),
        reverse("f32[2, 3]", &[2], "E3004"),
        reverse("f32[2, 3]", &[1, -1], "E3005"),
        transpose("f32[2, 3, 4]", &[2, 0, 1], "f32[4, 2, 3]"),
        transpose("bool[B, ?, 4]", &[], "bool[4, ?, B]"),
        transpose("f32[]", &[], "f32[]"),
        transpose("f32[2, 3]", &[0], "E3008"),
        transpose("f32[2, 3]", &[0, 1, 2], "E3008"),
        transpose("f32[2, 3]", &[0, 2], "E3008"),
        transpose("f32[2, 3]", &[-1, 0], "E3008"),
        transpose("f32[2, 3]", &[1, 1], "E3008"),
        expand("f32[3, 4]", &[0, 2], "f32[1, 3, 1, 4]"),
        expand("f32[3, 4]", &[2, 0], "f32[1, 3, 1, 4]"),
        expand("f32[3, 4]", &[2, 3], "f32[3, 4, 1, 1]"),
        expand("bool[B]", &[], "bool[B]"),
        expand("f32[3, 4]", &[3], "E3004"),
        expand("f32[3, 4]", &[-1], "E3004"),
        expand("f32[3, 4]", &[1, 1], "E3005"),
        expand("f32[3, 4]", &[9, 9], "E3004"),
        expand("f32[3, 4]", &MANY, "E3002"),
        squeeze("f32[1, 3, 1, 4]", &[0, 2], "f32[3, 4]"),
        squeeze("bool[1]", &[0], "bool[]"),
        squeeze("f32[B, 3]", &[], "f32[B, 3]"),
        squeeze("f32[1, 3]", &[2], "E3004"),
        squeeze("f32[1, 3]", &[-1], "E3004"),
        squeeze("f32[1, 3]", &[0, 0], "E3005"),
        squeeze("f32[1, 3]", &[1], "E3009"),
        squeeze("f32[B]", &[0], "E3009"),
        squeeze("f32[?]", &[0], "E3009"),
    ]
}

/// Broadcast to, iota and dim.
pub fn extents() -> Vec<Case> {
    let f = Dim::Fixed;
    let to = |operand: &str, target: &[Dim], expected| {
        let target: &'static [Dim] = target.to_vec().leak();
        case(
            BroadcastTo::DEF,
            operand,
            BroadcastTo::attrs(target),
            expected,
        )
    };
    let iota = |target: &[Dim], axis, expected| {
        let target: &'static [Dim] = target.to_vec().leak();
        case(
            Iota::DEF,
            "",
            Iota::attrs(DType::U8, target, axis),
            expected,
        )
    };
    let dim = |operand: &str, axis, expected| {
        case(ExtentOf::DEF, operand, ExtentOf::attrs(axis), expected)
    };
    vec![
        to("f32[3, 1]", &[f(2), f(3), f(4)], "f32[2, 3, 4]"),
        to("bool[]", &[], "bool[]"),
        to("f32[1]", &[f(0)], "f32[0]"),
        to("f32[0]", &[f(2), f(0)], "f32[2, 0]"),
        to("f32[B, 1]", &[b(), c()], "f32[B, C]"),
        to("f32[?, 3]", &[f(4), f(3)], "f32[4, 3]"),
        to("f32[B, 3]", &[Dim::Dynamic, f(3)], "f32[B, 3]"),
        to("f32[?, 3]", &[Dim::Dynamic, f(3)], "f32[?, 3]"),
        to("f32[2]", &[f(3)], "E3001"),
        to("f32[2]", &[f(1)], "E3001"),
        to("f32[B]", &[c()], "E3001"),
        to("f32[2, 3]", &[f(3)], "E3002"),
        to("f32[]", &[f(1); 33], "E3002"),
        to("f32[7, 3]", &[f(-1), f(3)], "f32[7, 3]"),
        to("f32[1]", &[f(-2)], "E3006"),
        to("f32[3]", &[Dim::Dynamic, f(3)], "E3011"),
        iota(&[f(2), b()], -1, "u8[2, B]"),
        iota(&[f(0)], 0, "u8[0]"),
        iota(&[f(1); 33], 0, "E3002"),
        iota(&[], 0, "E3004"),
        iota(&[f(2)], 1, "E3004"),
        iota(&[f(2), f(-1)], 0, "E3006"),
        iota(&[Dim::Dynamic], 0, "E3011"),
        dim("bool[2, B]", 1, "i64[]"),
        dim("f32[?]", -1, "i64[]"),
        dim("f32[]", 0, "E3004"),
        dim("f32[2]", 1, "E3004"),
    ]
}

/// Index, slice and gather.
pub fn parts() -> Vec<Case> {
    let index =
        |operand: &str, list, expected| case(Index::DEF, operand, Index::attrs(list), expected);
    let slice = |operand: &str, starts, ends, steps, expected| {
        case(
            Slice::DEF,
            operand,
            Slice::attrs(starts, ends, steps),
            expected,
        )
    };
    let gather = |operands: &str, axis, expected| {
        case(
            Gather::DEF,
            operands,
            Gather::attrs(axis, Bounds::Strict),
            expected,
        )
    };
    let deep = format!("f32[{}]; i64[2, 2]", ["1"; 32].join(", "));
    vec![
        index("bool[2, B]", &[1, 2], "bool[]"),
        index("f32[]", &[], "f32[]"),
        index("f32[2, 3]", &[9, -9], "f32[]"),
        index("f32[2, 3]", &[1], "E4006"),
        index("f32[2]", &[1, 1], "E4006"),
        slice("f32[5, 6]", &[0, 1], &[5, 4], &[2, 1], "f32[3, 3]"),
        slice("bool[5]", &[3], &[2], &[1], "bool[0]"),
        slice("f32[5]", &[1], &[OPEN_END], &[3], "f32[2]"),
        slice("f32[B]", &[0], &[OPEN_END], &[1], "f32[B]"),
        slice("f32[B]", &[1], &[OPEN_END], &[1], "f32[?]"),
        slice("f32[B]", &[0], &[OPEN_END], &[2], "f32[?]"),
        slice("f32[?]", &[0], &[OPEN_END], &[1], "f32[?]"),
        slice("f32[B]", &[1], &[7], &[2], "f32[3]"),
        slice("f32[]", &[], &[], &[], "f32[]"),
        slice("f32[5]", &[0, 0], &[5], &[1], "E4007"),
        slice("f32[5]", &[0], &[5, 5], &[1], "E4007"),
        slice("f32[5]", &[0], &[5], &[], "E4007"),
        slice("f32[5]", &[0], &[5], &[0], "E4008"),
        slice("f32[5]", &[0], &[5], &[-1], "E4008"),
        slice("f32[5]", &[0], &[6], &[1], "E3003"),
        slice("f32[5]", &[-1], &[5], &[1], "E3003"),
        slice("f32[B]", &[0], &[-1], &[1], "E3003"),
        gather("f32[5, 3]; i64[2, B]", 0, "f32[2, B, 3]"),
        gather("bool[5, ?]; i32[]", 0, "bool[?]"),
        gather("f32[5, 3]; i32[4]", 1, "f32[5, 4]"),
        gather("f32[5, 3]; i32[4]", -1, "f32[5, 4]"),
        gather("f32[5]; i16[4]", 0, "E4011"),
        gather("f32[5]; f32[4]", 0, "E4011"),
        gather("f32[5]; bool[4]", 0, "E4011"),
        gather("f32[]; i32[4]", 0, "E3002"),
        gather(&deep, 0, "E3002"),
        gather("f32[5]; i32[4]", 1, "E3004"),
        gather("f32[5]; i32[4]", -2, "E3004"),
    ]
}

/// Concat and split.
pub fn joins() -> Vec<Case> {
    let concat =
        |operands: &str, axis, expected| case(Concat::DEF, operands, Concat::attrs(axis), expected);
    let split = |operand: &str, axis, count, part, expected| {
        case(
            Split::DEF,
            operand,
            Split::attrs(axis, count, part),
            expected,
        )
    };
    vec![
        concat("f32[2, 3]; f32[4, 3]", 0, "f32[6, 3]"),
        concat("bool[2, 3]; bool[2, 1]; bool[2, 5]", -1, "bool[2, 9]"),
        concat("f32[B, 3]", 0, "f32[B, 3]"),
        concat("f32[B, 3]; f32[2, 3]", 0, "f32[?, 3]"),
        concat("f32[B]; f32[B]", 0, "f32[?]"),
        concat("f32[2, B]; f32[3, B]", 0, "f32[5, B]"),
        concat("f32[2, ?]; f32[3, B]", 0, "f32[5, B]"),
        concat("f32[2, ?]; f32[3, 7]", 0, "f32[5, 7]"),
        concat("f32[2, ?]; f32[3, 1]", 0, "f32[5, 1]"),
        concat("f32[2, ?]; f32[3, ?]", 0, "f32[5, ?]"),
        concat("f32[0, 3]; f32[0, 3]", 0, "f32[0, 3]"),
        concat("i8[9223372036854775807]; i8[1]", 0, "E3006"),
        concat("f32[2, B]; f32[3, C]", 0, "E3003"),
        concat("f32[2, B]; f32[3, 7]", 0, "E3003"),
        concat("f32[2, B]; f32[3, 1]", 0, "E3003"),
        concat("f32[2, 3]; f32[2, 4]", 0, "E3003"),
        concat("f32[2]; i32[2]", 0, "E2004"),
        concat("f32[2]; f32[2, 1]", 0, "E3002"),
        concat("f32[2]; f32[2, 1]", 9, "E3002"),
        concat("f32[2]; f32[2]", 1, "E3004"),
        concat("f32[2]; f32[2]", -2, "E3004"),
        concat("f32[]; f32[]", 0, "E3004"),
        split("f32[6, 2]", 0, 3, 2, "f32[2, 2]"),
        split("bool[2, 6]", -1, 6, 0, "bool[2, 1]"),
        split("f32[B]", 0, 1, 0, "f32[B]"),
        split("f32[B]", 0, 2, 0, "f32[?]"),
        split("f32[?]", 0, 2, 1, "f32[?]"),
        split("f32[6]", 0, 4, 0, "E3003"),
        split("f32[6]", 0, 3, 3, "E3003"),
        split("f32[6]", 0, 3, -1, "E3003"),
        split("f32[6]", 0, 0, 0, "E3003"),
        split("f32[6]", 1, 3, 0, "E3004"),
        split("f32[6]", -2, 3, 0, "E3004"),
    ]
}
