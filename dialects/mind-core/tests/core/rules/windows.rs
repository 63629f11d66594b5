//! Shape rules of ops with sliding windows.

use mind_core::ops::convolution::{Conv, ConvTranspose, Layout, SumType};
use mind_core::ops::window::{ArgMaxWindow, ReduceWindow};
use mind_ir::opdef::Op;
use mind_ir::scalar::Reduction;

use super::{Case, case};

/// Reductions of windows.
pub fn reductions() -> Vec<Case> {
    let row = |operand: &str, window, lists: [&'static [i64]; 4], expected| {
        let [strides, dilations, low, high] = lists;
        let attrs =
            ReduceWindow::attrs(window, strides, dilations, low, high, Reduction::Max, false);
        case(ReduceWindow::DEF, operand, attrs, expected)
    };
    let plain: [&'static [i64]; 4] = [&[], &[], &[], &[]];
    vec![
        row("f32[]", &[], plain, "f32[]"),
        row("f32[5, 6]", &[2, 3], plain, "f32[4, 4]"),
        row("i8[5, 6]", &[2, 3], [&[2, 3], &[], &[], &[]], "i8[2, 2]"),
        row("f32[7]", &[3], [&[], &[3], &[], &[]], "f32[1]"),
        row("f32[7]", &[3], [&[2], &[2], &[1], &[3]], "f32[4]"),
        row("f32[B, 6]", &[1, 3], plain, "f32[B, 4]"),
        row("f32[B]", &[3], plain, "f32[?]"),
        row("f32[B]", &[3], [&[], &[2], &[3], &[1]], "f32[B]"),
        row("f32[B]", &[3], [&[2], &[], &[1], &[1]], "f32[?]"),
        row("f32[?]", &[1], plain, "f32[?]"),
        row("f32[0]", &[3], [&[], &[], &[2], &[2]], "f32[2]"),
        row("f32[2]", &[3], plain, "f32[0]"),
        row("f32[1]", &[3], plain, "E3006"),
        row("f32[4]", &[2], [&[], &[], &[i64::MAX], &[]], "E3006"),
        row("bool[3]", &[2], plain, "E2005"),
        row("f32[3]", &[], plain, "E4006"),
        row("f32[3]", &[2], [&[1, 1], &[], &[], &[]], "E4006"),
        row("f32[3]", &[0], plain, "E4010"),
        row("f32[3]", &[2], [&[0], &[], &[], &[]], "E4010"),
        row("f32[3]", &[2], [&[], &[0], &[], &[]], "E4010"),
        row("f32[3]", &[2], [&[], &[], &[-1], &[]], "E4010"),
        row("f32[3, 3]", &[1 << 32, 1 << 32], plain, "E4010"),
    ]
}

/// Indices of the largest elements of windows.
pub fn places() -> Vec<Case> {
    let row = |operand: &str, window, strides, low, expected| {
        let attrs = ArgMaxWindow::attrs(window, strides, &[], low, &[]);
        case(ArgMaxWindow::DEF, operand, attrs, expected)
    };
    vec![
        row("f32[5, 6]", &[2, 3], &[], &[], "i64[4, 4]"),
        row("i8[B, 6]", &[1, 3], &[1, 3], &[], "i64[B, 2]"),
        row("f32[?]", &[2], &[], &[], "i64[?]"),
        row("f32[0]", &[1], &[], &[2], "i64[2]"),
        row("f32[1]", &[3], &[], &[], "E3006"),
        row("bool[3]", &[2], &[], &[], "E2005"),
        row("f32[3]", &[2], &[1, 1], &[], "E4006"),
        row("f32[3]", &[2], &[0], &[], "E4010"),
    ]
}

/// Convolutions with groups, forward and transposed.
pub fn convolutions() -> Vec<Case> {
    const PLAIN: [&[i64]; 3] = [&[], &[], &[]];
    let (last, first, same) = (Layout::Nhwc, Layout::Nchw, SumType::Same);
    let conv = |operands: &str, layout, lists: [&'static [i64]; 3], groups, dtype, expected| {
        let [strides, dilations, pads] = lists;
        let attrs = Conv::attrs(layout, strides, dilations, pads, groups, dtype);
        case(Conv::DEF, operands, attrs, expected)
    };
    let back = |operands: &str, layout, lists: [&'static [i64]; 4], groups, expected| {
        let [strides, dilations, pads, more] = lists;
        let attrs = ConvTranspose::attrs(layout, strides, dilations, pads, more, groups, same);
        case(ConvTranspose::DEF, operands, attrs, expected)
    };
    let transposed =
        |operands: &str, expected| back(operands, last, [&[], &[], &[], &[]], 1, expected);
    vec![
        conv(
            "f32[2, 9, 4]; f32[3, 4, 8]",
            last,
            PLAIN,
            1,
            same,
            "f32[2, 7, 8]",
        ),
        conv(
            "f32[2, 4, 9]; f32[8, 4, 3]",
            first,
            PLAIN,
            1,
            same,
            "f32[2, 8, 7]",
        ),
        conv(
            "f32[2, 4, 9, 9]; f32[4, 1, 3, 3]",
            first,
            [&[2, 1], &[], &[1, 1, 1, 1]],
            4,
            same,
            "f32[2, 4, 5, 9]",
        ),
        conv(
            "f32[1, 7, 7, 7, 2]; f32[3, 3, 3, 2, 5]",
            last,
            [&[], &[1, 2, 3], &[]],
            1,
            same,
            "f32[1, 5, 3, 1, 5]",
        ),
        conv(
            "f32[B, ?, 4]; f32[3, 2, C]",
            last,
            PLAIN,
            2,
            same,
            "f32[B, ?, C]",
        ),
        conv(
            "f32[B, C, 4]; f32[3, 4, 6]",
            last,
            [&[], &[], &[1, 1]],
            1,
            same,
            "f32[B, C, 6]",
        ),
        conv(
            "f32[1, B, 9]; f32[8, B, 3]",
            first,
            PLAIN,
            1,
            same,
            "f32[1, 8, 7]",
        ),
        conv(
            "f32[1, 9, ?]; f32[1, 3, 6]",
            last,
            PLAIN,
            2,
            same,
            "f32[1, 9, 6]",
        ),
        conv(
            "f32[0, 2, 3]; f32[3, 3, 0]",
            last,
            PLAIN,
            1,
            same,
            "f32[0, 0, 0]",
        ),
        conv(
            "u8[1, 3, 2]; i8[1, 2, 4]",
            last,
            PLAIN,
            1,
            SumType::I32,
            "i32[1, 3, 4]",
        ),
        conv(
            "i16[1, 3, 2]; i16[1, 2, 4]",
            last,
            PLAIN,
            1,
            SumType::I64,
            "i64[1, 3, 4]",
        ),
        conv(
            "bf16[1, 3, 2]; bf16[1, 2, 4]",
            last,
            PLAIN,
            1,
            SumType::F32,
            "f32[1, 3, 4]",
        ),
        conv(
            "f32[1, 3, 2]; f32[1, 2, 4]",
            last,
            PLAIN,
            1,
            SumType::F64,
            "f64[1, 3, 4]",
        ),
        conv("f32[1, 3, 2]; f64[1, 2, 4]", last, PLAIN, 1, same, "E2004"),
        conv("u8[1, 3, 2]; i8[1, 2, 4]", last, PLAIN, 1, same, "E2004"),
        conv(
            "u8[1, 3, 2]; i16[1, 2, 4]",
            last,
            PLAIN,
            1,
            SumType::I32,
            "E2004",
        ),
        conv(
            "i32[1, 3, 2]; i32[1, 2, 4]",
            last,
            PLAIN,
            1,
            SumType::I64,
            "E2005",
        ),
        conv(
            "f64[1, 3, 2]; f64[1, 2, 4]",
            last,
            PLAIN,
            1,
            SumType::F32,
            "E2005",
        ),
        conv(
            "bool[1, 3, 2]; bool[1, 2, 4]",
            last,
            PLAIN,
            1,
            same,
            "E2005",
        ),
        conv("f32[3, 2]; f32[2, 4]", last, PLAIN, 1, same, "E3002"),
        conv(
            "f32[1, 3, 2]; f32[1, 1, 2, 4]",
            last,
            PLAIN,
            1,
            same,
            "E3002",
        ),
        conv("f32[1, 1, 2]; f32[3, 2, 4]", last, PLAIN, 1, same, "E3006"),
        conv(
            "f32[1, 9, 2]; f32[3, 2, 4]",
            last,
            [&[], &[], &[i64::MAX, 9]],
            1,
            same,
            "E3006",
        ),
        conv(
            "f32[1, 3, 2]; f32[1, 2, 4]",
            last,
            [&[1, 1], &[], &[]],
            1,
            same,
            "E4006",
        ),
        conv(
            "f32[1, 3, 2]; f32[1, 2, 4]",
            last,
            [&[], &[], &[1]],
            1,
            same,
            "E4006",
        ),
        conv("f32[1, 3, 4]; f32[1, 4, 4]", last, PLAIN, 2, same, "E4009"),
        conv("f32[1, 3, B]; f32[1, 2, 4]", last, PLAIN, 1, same, "E4009"),
        conv("f32[1, 3, 4]; f32[1, 2, 3]", last, PLAIN, 2, same, "E4010"),
        conv("f32[1, 3, 4]; f32[1, 2, 3]", last, PLAIN, 0, same, "E4010"),
        conv(
            "f32[1, 3, 2]; f32[1, 2, 4]",
            last,
            [&[0], &[], &[]],
            1,
            same,
            "E4010",
        ),
        conv(
            "f32[1, 3, 2]; f32[1, 2, 4]",
            last,
            [&[], &[], &[0, -1]],
            1,
            same,
            "E4010",
        ),
        transposed("f32[2, 5, 4]; f32[3, 8, 4]", "f32[2, 7, 8]"),
        back(
            "f32[2, 4, 5]; f32[4, 3, 3]",
            first,
            [&[2], &[2], &[1, 0], &[1]],
            2,
            "f32[2, 6, 13]",
        ),
        back(
            "f32[B, ?, C]; f32[3, 8, C]",
            last,
            [&[2], &[], &[], &[]],
            1,
            "f32[B, ?, 8]",
        ),
        back(
            "f32[1, 5, 4]; f32[3, B, 4]",
            last,
            [&[], &[], &[], &[]],
            2,
            "f32[1, 7, ?]",
        ),
        transposed("f32[1, 5, 4]; f64[3, 8, 4]", "E2004"),
        transposed("bool[1, 5, 4]; bool[3, 8, 4]", "E2005"),
        transposed("f32[5, 4]; f32[3, 8]", "E3002"),
        back(
            "f32[1, 1, 4]; f32[1, 8, 4]",
            last,
            [&[], &[], &[1, 1], &[]],
            1,
            "E3006",
        ),
        back(
            "f32[1, 3, 4]; f32[1, 8, 4]",
            last,
            [&[i64::MAX], &[], &[], &[]],
            1,
            "E3006",
        ),
        back(
            "f32[1, 3, 4]; f32[1, 8, 4]",
            last,
            [&[], &[], &[], &[1, 1]],
            1,
            "E4006",
        ),
        transposed("f32[1, 5, 4]; f32[3, 8, 5]", "E4009"),
        back(
            "f32[1, 5, 4]; f32[3, 8, 4]",
            last,
            [&[], &[], &[], &[]],
            3,
            "E4010",
        ),
    ]
}
