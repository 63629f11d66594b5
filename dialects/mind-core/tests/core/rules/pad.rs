//! Shape rules of `Pad`.

use mind_core::ops::pad::{PadMode, PadOp};
use mind_ir::opdef::Op;

use super::{Case, case};

/// Amounts, modes and the value.
pub fn pads() -> Vec<Case> {
    use PadMode::{Constant, Edge, Reflect, Wrap};
    let pad = |operands: &str, [low, high, interior]: [&'static [i64]; 3], mode, expected| {
        let attrs = PadOp::attrs(low, high, interior, mode);
        case(PadOp::DEF, operands, attrs, expected)
    };
    const MAX: &[i64] = &[i64::MAX];
    vec![
        pad("f32[2, 3]", [&[1, 0], &[2, 0], &[]], Constant, "f32[5, 3]"),
        pad("bool[B, ?]", [&[0, 1], &[0, 0], &[]], Edge, "bool[B, ?]"),
        pad("f32[B]", [&[1], &[0], &[]], Constant, "f32[?]"),
        pad("f32[]", [&[], &[], &[]], Wrap, "f32[]"),
        pad("f32[3]", [&[0], &[0], &[2]], Constant, "f32[7]"),
        pad("f32[0]", [&[1], &[1], &[2]], Constant, "f32[2]"),
        pad("f32[3]", [&[-2], &[-5], &[2]], Constant, "f32[0]"),
        pad("f32[3]", [&[-9], &[8], &[]], Constant, "f32[2]"),
        pad("f32[3]; f32[]", [&[1], &[1], &[]], Constant, "f32[5]"),
        pad("f32[3]", [&[7], &[7], &[0]], Reflect, "f32[17]"),
        pad("f32[0]", [&[0], &[0], &[]], Edge, "f32[0]"),
        pad("f32[3]; f16[]", [&[1], &[1], &[]], Constant, "E2004"),
        pad("f32[3]; f32[1]", [&[1], &[1], &[]], Constant, "E3002"),
        pad("f32[0]", [&[0], &[1], &[]], Wrap, "E3003"),
        pad("f32[3]", [&[-2], &[-2], &[]], Constant, "E3006"),
        pad("f32[3]", [MAX, &[0], &[]], Edge, "E3006"),
        pad("f32[9]", [MAX, MAX, MAX], Constant, "E3006"),
        pad("f32[3]", [&[1, 1], &[1], &[]], Constant, "E4006"),
        pad("f32[3]", [&[1], &[], &[]], Constant, "E4006"),
        pad("f32[3]", [&[1], &[1], &[1, 1]], Constant, "E4006"),
        pad("f32[3]", [&[1], &[1], &[-1]], Constant, "E4010"),
        pad("f32[3]", [&[-1], &[1], &[]], Edge, "E4010"),
        pad("f32[3]", [&[1], &[-1], &[]], Reflect, "E4010"),
        pad("f32[3]", [&[1], &[1], &[1]], Wrap, "E4010"),
        pad("f32[3]; f32[]", [&[1], &[1], &[]], Wrap, "E4010"),
    ]
}
