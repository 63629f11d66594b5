//! Rules of ops that read and write at places that a tensor lists.

use mind_core::eval::bounds::Bounds;
use mind_core::ops::{gather::*, scatter::*};
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
