//! Shape rules of slices with data-dependent starts.

use mind_core::eval::bounds::Bounds;
use mind_core::ops::dynamic::{DynamicSlice, DynamicUpdateSlice};
use mind_ir::opdef::Op;

use super::{Case, case};

/// Dynamic slices and their updates.
pub fn windows() -> Vec<Case> {
    let slice = |operands: &str, sizes: &'static [i64], expected| {
        let attrs = DynamicSlice::attrs(sizes, Bounds::Clamp);
        case(DynamicSlice::DEF, operands, attrs, expected)
    };
    let update = |operands: &str, expected| {
        let attrs = DynamicUpdateSlice::attrs(Bounds::Strict);
        case(DynamicUpdateSlice::DEF, operands, attrs, expected)
    };
    let skipped = |def, operands, attrs| case(def, operands, attrs, "E4022");
    vec![
        slice("f32[4, B]; i32[]; i64[]", &[2, 3], "f32[2, 3]"),
        slice("bool[?]; i64[]", &[0], "bool[0]"),
        slice("f32[4]; i8[]", &[2], "E2005"),
        slice("f32[4]; i32[1]", &[2], "E3002"),
        slice("f32[4]; i32[]", &[5], "E3003"),
        slice("f32[?]; i32[]", &[-1], "E3003"),
        slice("f32[4, 4]; i32[]", &[2, 2], "E4006"),
        slice("f32[4, 4]; i32[]; i32[]", &[2], "E4006"),
        skipped(
            DynamicSlice::DEF,
            "f32[4]; i32[]",
            DynamicSlice::attrs(&[2], Bounds::Skip),
        ),
        update("f32[4, B]; f32[2, ?]; i32[]; i64[]", "f32[4, B]"),
        update("f32[4]; f32[0]; i32[]", "f32[4]"),
        update("f32[4]; f16[2]; i32[]", "E2004"),
        update("f32[4]; f32[2]; f32[]", "E2005"),
        update("f32[4]; f32[2]; i32[1]", "E3002"),
        update("f32[4]; f32[2, 1]; i32[]", "E3002"),
        update("f32[4]; f32[5]; i32[]", "E3003"),
        update("f32[4]; f32[2]; i32[]; i32[]", "E4006"),
        skipped(
            DynamicUpdateSlice::DEF,
            "f32[4]; f32[2]; i32[]",
            DynamicUpdateSlice::attrs(Bounds::Skip),
        ),
    ]
}
