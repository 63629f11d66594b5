//! Shape rules of ops that sample images.

use mind_core::ops::sample::{
    Coordinates, GridCoordinates, GridPadding, GridSample, Interpolation, Layout, Resize, Rounding,
};
use mind_ir::opdef::Op;

use super::{Case, case};

/// Resizes.
pub fn resized() -> Vec<Case> {
    let by = |operands: &str, axes, sizes, coordinates, expected| {
        let (mode, nearest) = (Interpolation::Nearest, Rounding::PreferFloor);
        let attrs = Resize::attrs(
            axes,
            sizes,
            mode,
            coordinates,
            nearest,
            -0.75,
            false,
            false,
            0.0,
        );
        case(Resize::DEF, operands, attrs, expected)
    };
    let row = |operands: &str, axes, sizes, expected| {
        by(operands, axes, sizes, Coordinates::HalfPixel, expected)
    };
    vec![
        row("f32[]", &[], &[], "f32[]"),
        row("i8[2, 3]", &[1, 0], &[7, 5], "i8[5, 7]"),
        row("f32[B, ?, 3]", &[-2], &[4], "f32[B, 4, 3]"),
        row("f32[B]", &[0], &[4], "f32[4]"),
        row("f32[0, 2]", &[0], &[0], "f32[0, 2]"),
        row("f32[2]; f64[1]", &[0], &[4], "f32[4]"),
        row("f32[2]; f32[?]", &[0], &[4], "f32[4]"),
        by(
            "f32[2, 3]; f32[4]",
            &[0, 1],
            &[4, 4],
            Coordinates::Crop,
            "f32[4, 4]",
        ),
        by(
            "f32[2, 3]; f32[2]",
            &[0, 1],
            &[4, 4],
            Coordinates::Crop,
            "E3003",
        ),
        row("bool[2]", &[0], &[4], "E2005"),
        row("f32[2]; i32[1]", &[0], &[4], "E2005"),
        row("f32[2]; f32[1, 1]", &[0], &[4], "E3002"),
        row("f32[2]; f32[2]", &[0], &[4], "E3003"),
        row("f32[0]", &[0], &[4], "E3003"),
        row("f32[2]", &[1], &[4], "E3004"),
        row("f32[2]", &[0, -1], &[4, 4], "E3005"),
        row("f32[2]", &[0], &[], "E4006"),
        row("f32[2]", &[0], &[-1], "E4010"),
    ]
}

/// Grid samplings.
pub fn grids() -> Vec<Case> {
    let row = |operands: &str, layout, expected| {
        let attrs = GridSample::attrs(
            layout,
            Interpolation::Linear,
            GridCoordinates::HalfPixel,
            GridPadding::Constant,
            0.0,
        );
        case(GridSample::DEF, operands, attrs, expected)
    };
    let (last, first) = (Layout::Nhwc, Layout::Nchw);
    vec![
        row("f32[1, 4, 2]; f32[1, 3, 1]", last, "f32[1, 3, 2]"),
        row("f16[B, 2, 4, 5]; f32[B, 6, 7, 2]", first, "f16[B, 2, 6, 7]"),
        row(
            "f64[?, 4, 5, 6, C]; f64[2, 0, O, 3, 3]",
            last,
            "f64[2, 0, O, 3, C]",
        ),
        row("i32[1, 4, 2]; f32[1, 3, 1]", last, "E2005"),
        row("f32[4, 2]; f32[3, 1]", last, "E3002"),
        row("f32[1, 4, 2]; f32[1, 3, 3, 2]", last, "E3002"),
        row("f32[1, 4, 2]; f32[2, 3, 1]", last, "E3003"),
        row("f32[1, 4, 2]; f32[1, 3, 2]", last, "E3003"),
        row("f32[1, 0, 2]; f32[1, 3, 1]", last, "E3003"),
    ]
}
