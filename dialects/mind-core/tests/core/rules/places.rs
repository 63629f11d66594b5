//! Shape rules of gathers, scatters, sorts and ops with data-dependent results.

use mind_core::eval::bounds::Bounds;
use mind_core::ops::{data::*, gather::*, scatter::*, sort::*};
use mind_ir::opdef::Op;

use super::{Case, case};

/// Gather elements and gather nd.
pub fn gathers() -> Vec<Case> {
    let elements = |operands: &str, axis, expected| {
        let attrs = GatherElements::attrs(axis, Bounds::Strict);
        case(GatherElements::DEF, operands, attrs, expected)
    };
    let nd = |operands: &str, batch, expected| {
        let attrs = GatherNd::attrs(batch, Bounds::Strict);
        case(GatherNd::DEF, operands, attrs, expected)
    };
    vec![
        elements("f32[5, 3]; i32[7, 2]", 0, "f32[7, 2]"),
        elements("bool[5, B]; i64[5, ?]", -1, "bool[5, ?]"),
        elements("f32[0]; i64[0]", 0, "f32[0]"),
        elements("f32[5]; u8[2]", 0, "E2005"),
        elements("f32[5]; i64[2, 1]", 0, "E3002"),
        elements("f32[5, 3]; i64[5, 4]", 0, "E3003"),
        elements("f32[5]; i64[2]", 1, "E3004"),
        elements("f32[]; i64[]", 0, "E3004"),
        nd("f32[2, 3]; i32[4, 1]", 0, "f32[4, 3]"),
        nd("f32[2, 3]; i64[2]", 0, "f32[]"),
        nd("f32[B, C, 3]; i64[B, ?, 1]", 1, "f32[B, ?, 3]"),
        nd("f32[2]; i64[4, 0]", 0, "f32[4, 2]"),
        nd("f32[2]; f32[4, 1]", 0, "E2005"),
        nd("f32[2]; i64[]", 0, "E3002"),
        nd("f32[2]; i64[4, 2]", 0, "E3002"),
        nd("f32[2, 3]; i64[3, 1]", 1, "E3003"),
        nd("f32[2, 3]; i64[4, ?]", 0, "E3003"),
        nd("f32[2, 3]; i64[2, 1]", 2, "E3004"),
        nd("f32[2, 3]; i64[2, 1]", -1, "E3004"),
    ]
}

/// Scatter elements and scatter nd.
pub fn scatters() -> Vec<Case> {
    let elements = |operands: &str, axis, kind, expected| {
        let attrs = ScatterElements::attrs(axis, kind, Bounds::Skip);
        case(ScatterElements::DEF, operands, attrs, expected)
    };
    let nd = |operands: &str, kind, expected| {
        let attrs = ScatterNd::attrs(kind, Bounds::Clamp);
        case(ScatterNd::DEF, operands, attrs, expected)
    };
    let (replace, add) = (Update::Replace, Update::Add);
    vec![
        elements("f32[5, 3]; i32[7, 2]; f32[7, 2]", 0, add, "f32[5, 3]"),
        elements("bool[B]; i64[?]; bool[4]", -1, replace, "bool[B]"),
        elements("f32[5]; i64[2]; f16[2]", 0, add, "E2004"),
        elements("f32[5]; f32[2]; f32[2]", 0, add, "E2005"),
        elements("bool[5]; i64[2]; bool[2]", 0, add, "E2005"),
        elements("f32[5]; i64[2, 1]; f32[2, 1]", 0, add, "E3002"),
        elements("f32[5]; i64[2]; f32[]", 0, add, "E3002"),
        elements("f32[5]; i64[2]; f32[3]", 0, add, "E3003"),
        elements("f32[5, 3]; i64[5, 4]; f32[5, 4]", 0, add, "E3003"),
        elements("f32[5]; i64[2]; f32[2]", 1, add, "E3004"),
        nd("f32[4, 3]; i32[2, 1]; f32[2, 3]", add, "f32[4, 3]"),
        nd("f32[B, 3]; i64[?, 2]; f32[C]", replace, "f32[B, 3]"),
        nd("f32[4]; i64[2, 1]; f16[2]", add, "E2004"),
        nd("f32[4]; u8[2, 1]; f32[2]", add, "E2005"),
        nd("bool[4]; i64[2, 1]; bool[2]", Update::Min, "E2005"),
        nd("f32[4]; i64[2, 2]; f32[2]", add, "E3002"),
        nd("f32[4]; i64[2, 1]; f32[2, 1]", add, "E3002"),
        nd("f32[4]; i64[2, 1]; f32[3]", add, "E3003"),
        nd("f32[4]; i64[2, ?]; f32[2]", add, "E3003"),
    ]
}

/// Sort and top-k.
pub fn sorts() -> Vec<Case> {
    let sort = |operands: &str, axis, expected| {
        case(Sort::DEF, operands, Sort::attrs(axis, false), expected)
    };
    let top = |operands: &str, k, axis, expected| {
        case(TopK::DEF, operands, TopK::attrs(k, axis, true), expected)
    };
    vec![
        sort("f32[B, ?]", -1, "f32[B, ?]; i64[B, ?]"),
        sort("bool[0, 3]", 0, "bool[0, 3]; i64[0, 3]"),
        sort("f32[4]", 1, "E3004"),
        sort("f32[]", 0, "E3004"),
        top("f16[2, 5]", 3, -1, "f16[2, 3]; i64[2, 3]"),
        top("u8[B, ?]", 3, 0, "u8[3, ?]; i64[3, ?]"),
        top("f32[4]", 0, 0, "f32[0]; i64[0]"),
        top("f32[2, 5]", 3, 0, "E3003"),
        top("f32[4]", 1, -2, "E3004"),
        top("f32[4]", -1, 0, "E3006"),
    ]
}

/// Ops with data-dependent numbers of results.
pub fn data() -> Vec<Case> {
    let nonzero = |operands: &str, expected| case(NonZero::DEF, operands, vec![], expected);
    let unique = |operands: &str, flat, axis, expected| {
        case(
            Unique::DEF,
            operands,
            Unique::attrs(flat, axis, true),
            expected,
        )
    };
    let boxes = |operands: &str, expected| {
        let operands = format!("{operands}; i64[]; f32[]; f32[]");
        case(
            NonMaxSuppression::DEF,
            &operands,
            NonMaxSuppression::attrs(false),
            expected,
        )
    };
    vec![
        nonzero("bool[B, 3, ?]", "i64[3, ?]"),
        nonzero("f32[]", "i64[0, ?]"),
        unique("f16[2, 3]", true, 7, "f16[?]; i64[?]; i64[6]; i64[?]"),
        unique("bool[]", true, 0, "bool[?]; i64[?]; i64[1]; i64[?]"),
        unique("f32[B]", true, 0, "f32[?]; i64[?]; i64[?]; i64[?]"),
        unique(
            "u8[2, B, 4]",
            false,
            -2,
            "u8[2, ?, 4]; i64[?]; i64[B]; i64[?]",
        ),
        unique("f32[2]", false, 1, "E3004"),
        unique("f32[]", false, 0, "E3004"),
        boxes("f32[B, N, 4]; f32[B, 2, N]", "i64[?, 3]"),
        boxes("f32[1, ?, ?]; f32[1, 2, 9]", "i64[?, 3]"),
        boxes("f16[1, 9, 4]; f32[1, 2, 9]", "E2005"),
        boxes("f32[9, 4]; f32[1, 2, 9]", "E3002"),
        boxes("f32[2, 9, 4]; f32[1, 2, 9]", "E3003"),
        boxes("f32[1, 9, 4]; f32[1, 2, 8]", "E3003"),
        boxes("f32[1, 9, 5]; f32[1, 2, 9]", "E3003"),
    ]
}
