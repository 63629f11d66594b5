//! Random windows and convolutions.

use mind_core::ops::conv::Conv2d;
use mind_core::ops::convolution::{Conv, ConvTranspose, Layout};
use mind_core::ops::sample::{
    Coordinates, GridCoordinates, GridPadding, GridSample, Interpolation, Resize, Rounding,
};
use mind_core::ops::window::{ArgMaxWindow, ReduceWindow};
use mind_ir::ValueId;
use mind_ir::attr::Padding;
use mind_ir::opdef::{Op, OpDef, OperandClass};
use mind_ir::scalar::Reduction;
use mind_ir::types::TensorType;

use crate::generator::Generator;
use crate::products::sums;
use crate::shape::small;

/// Parameters of a window that slides along every dimension.
struct Lists {
    input: ValueId,
    window: Vec<i64>,
    strides: Vec<i64>,
    dilations: Vec<i64>,
    low: Vec<i64>,
    high: Vec<i64>,
}

impl Lists {
    fn draw(draw: &mut Generator<'_>) -> Option<Lists> {
        let input = draw.value(OperandClass::Num);
        let ty = draw.graph.ty(input).to_owned();
        let extents = small(ty.view()).filter(|extents| !extents.is_empty())?;
        let mut list = |choices: &[i64]| -> Vec<i64> {
            extents.iter().map(|_| draw.rng.pick(choices)).collect()
        };
        Some(Lists {
            input,
            window: list(&[1, 1, 1, 2, 3, 4]),
            strides: list(&[1, 1, 2, 3]),
            dilations: list(&[1, 1, 2]),
            low: list(&[0, 0, 1, 2]),
            high: list(&[0, 0, 1, 3]),
        })
    }
}

pub(crate) fn reduce_window(draw: &mut Generator<'_>) -> Option<ValueId> {
    let lists = Lists::draw(draw)?;
    let kind = draw.rng.pick(Reduction::ALL);
    let counts_padding = draw.rng.once_in(2);
    let dtype = draw.graph.ty(lists.input).dtype;
    if kind == Reduction::Mean && !dtype.is_float() && !counts_padding {
        // The mean of no integers is undefined.
        return None;
    }
    let attrs = ReduceWindow::attrs(
        &lists.window,
        &lists.strides,
        &lists.dilations,
        &lists.low,
        &lists.high,
        kind,
        counts_padding,
    );
    draw.op(ReduceWindow::DEF, &[lists.input], &attrs)
}

pub(crate) fn argmax_window(draw: &mut Generator<'_>) -> Option<ValueId> {
    let lists = Lists::draw(draw)?;
    let attrs = ArgMaxWindow::attrs(
        &lists.window,
        &lists.strides,
        &lists.dilations,
        &lists.low,
        &lists.high,
    );
    draw.op(ArgMaxWindow::DEF, &[lists.input], &attrs)
}

/// Draws a resize of some dimensions.
pub(crate) fn resize(draw: &mut Generator<'_>) -> Option<ValueId> {
    let input = draw.value(OperandClass::Num);
    let extents = small(draw.graph.ty(input))?;
    let mut axes: Vec<i64> = Vec::new();
    for (axis, &extent) in extents.iter().enumerate() {
        if extent > 0 && draw.rng.once_in(2) {
            axes.push(axis as i64);
        }
    }
    let sizes = axes.iter().map(|_| draw.rng.pick(&[0, 1, 2, 3, 5]));
    let sizes: Vec<i64> = sizes.collect();
    let attrs = Resize::attrs(
        &axes,
        &sizes,
        draw.rng.pick(Interpolation::ALL),
        draw.rng.pick(Coordinates::ALL),
        draw.rng.pick(Rounding::ALL),
        draw.rng.pick(&[-0.75, -0.5]),
        draw.rng.once_in(2),
        draw.rng.once_in(2),
        draw.rng.pick(&[0.0, 1.5]),
    );
    draw.op(Resize::DEF, &[input], &attrs)
}

/// Draws a grid sampling of an image.
pub(crate) fn grid_sample(draw: &mut Generator<'_>) -> Option<ValueId> {
    let given = draw.value(OperandClass::Float);
    let dtype = draw.graph.ty(given).dtype;
    let spatial = draw.rng.pick(&[1usize, 2, 2, 3]);
    let mut list =
        |choices: &[i64]| -> Vec<i64> { (0..spatial).map(|_| draw.rng.pick(choices)).collect() };
    let (extents, positions) = (list(&[1, 2, 3, 5]), list(&[1, 2, 3]));
    let layout = draw.rng.pick(Layout::ALL);
    let channels = draw.rng.pick(&[1, 3]);
    let image = match layout {
        Layout::Nhwc => [&[2][..], &extents, &[channels]].concat(),
        Layout::Nchw => [&[2, channels][..], &extents].concat(),
    };
    let grid = [&[2][..], &positions, &[spatial as i64]].concat();
    let input = draw.value_of(&TensorType::fixed(dtype, &image));
    let grid = draw.value_of(&TensorType::fixed(dtype, &grid));
    let attrs = GridSample::attrs(
        layout,
        draw.rng.pick(Interpolation::ALL),
        draw.rng.pick(GridCoordinates::ALL),
        draw.rng.pick(GridPadding::ALL),
        draw.rng.pick(&[0.0, 1.5]),
    );
    draw.op(GridSample::DEF, &[input, grid], &attrs)
}

pub(crate) fn conv2d(draw: &mut Generator<'_>) -> Option<ValueId> {
    let given = draw.value(OperandClass::Num);
    let dtype = draw.graph.ty(given).dtype;
    let images = match small(draw.graph.ty(given)) {
        Some(extents) if extents.len() == 4 => extents,
        _ => (0..4).map(|_| draw.rng.pick(&[1, 2, 3, 4])).collect(),
    };
    let input = if draw.graph.ty(given).static_shape().as_ref() == Some(&images) {
        given
    } else {
        draw.value_of(&TensorType::fixed(dtype, &images))
    };
    let [tall, wide] = [draw.rng.pick(&[1, 2, 3]), draw.rng.pick(&[1, 2, 3])];
    let filter = [tall, wide, images[3], draw.rng.pick(&[1, 2, 3])];
    let filter = draw.value_of(&TensorType::fixed(dtype, &filter));
    let strides = [draw.rng.pick(&[1, 2]), draw.rng.pick(&[1, 2])];
    let pads: [i64; 4] = std::array::from_fn(|_| draw.rng.below(3) as i64);
    let padding = match draw.rng.below(3) {
        0 => Padding::Valid,
        1 => Padding::Same,
        _ => Padding::Custom(&pads),
    };
    draw.op(
        Conv2d::DEF,
        &[input, filter],
        &Conv2d::attrs(&strides, padding),
    )
}

/// Draws a grouped convolution in either layout.
pub(crate) fn convolution(draw: &mut Generator<'_>, def: &'static OpDef) -> Option<ValueId> {
    let is_backward = std::ptr::eq(def, ConvTranspose::DEF);
    let given = draw.value(OperandClass::Num);
    let dtype = draw.graph.ty(given).dtype;
    let spatial = draw.rng.pick(&[1usize, 2, 2, 3]);
    let mut list = |choices: &[i64], count: usize| -> Vec<i64> {
        (0..count).map(|_| draw.rng.pick(choices)).collect()
    };
    let (extents, window) = (list(&[1, 2, 3, 5], spatial), list(&[1, 2, 3], spatial));
    let (strides, dilations) = (list(&[1, 1, 2, 3], spatial), list(&[1, 1, 2], spatial));
    let (pads, more) = (list(&[0, 0, 1, 2], 2 * spatial), list(&[0, 0, 1], spatial));
    let [batch, groups, each, out] = list(&[1, 1, 2, 3], 4)[..] else {
        return None;
    };
    let (channels, filters) = (groups * each, groups * out);
    let inner = if is_backward {
        [out, channels]
    } else {
        [each, filters]
    };
    let layout = draw.rng.pick(Layout::ALL);
    let (image, filter) = match layout {
        Layout::Nhwc => (
            [&[batch][..], &extents, &[channels]].concat(),
            [&window[..], &inner].concat(),
        ),
        Layout::Nchw => (
            [&[batch, channels][..], &extents].concat(),
            [&[inner[1], inner[0]][..], &window].concat(),
        ),
    };
    let input = draw.value_of(&TensorType::fixed(dtype, &image));
    let filter = draw.value_of(&TensorType::fixed(dtype, &filter));
    let sums = sums(draw, dtype);
    let attrs = if is_backward {
        ConvTranspose::attrs(layout, &strides, &dilations, &pads, &more, groups, sums)
    } else {
        Conv::attrs(layout, &strides, &dilations, &pads, groups, sums)
    };
    draw.op(def, &[input, filter], &attrs)
}
