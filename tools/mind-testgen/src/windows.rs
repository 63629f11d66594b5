//! Windows and convolutions.

use mind_core::ops::conv::Conv2d;
use mind_core::ops::convolution::{Conv, ConvTranspose, Layout};
use mind_core::ops::window::ReduceWindow;
use mind_ir::ValueId;
use mind_ir::attr::Padding;
use mind_ir::opdef::{Op, OpDef, OperandClass};
use mind_ir::scalar::Reduction;
use mind_ir::types::TensorType;

use crate::generator::Generator;
use crate::products::sums;
use crate::shape::small;

pub(crate) fn reduce_window(draw: &mut Generator<'_>) -> Option<ValueId> {
    let input = draw.value(OperandClass::Num);
    let ty = draw.graph.ty(input).to_owned();
    let extents = small(ty.view()).filter(|extents| !extents.is_empty())?;
    let mut list =
        |choices: &[i64]| -> Vec<i64> { extents.iter().map(|_| draw.rng.pick(choices)).collect() };
    let (window, strides) = (list(&[1, 1, 1, 2, 3, 4]), list(&[1, 1, 2, 3]));
    let (dilations, low, high) = (list(&[1, 1, 2]), list(&[0, 0, 1, 2]), list(&[0, 0, 1, 3]));
    let kind = draw.rng.pick(Reduction::ALL);
    let counts_padding = draw.rng.once_in(2);
    if kind == Reduction::Mean && !ty.dtype.is_float() && !counts_padding {
        // The mean of no integer has no result.
        return None;
    }
    let attrs = ReduceWindow::attrs(
        &window,
        &strides,
        &dilations,
        &low,
        &high,
        kind,
        counts_padding,
    );
    draw.op(ReduceWindow::DEF, &[input], &attrs)
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

/// A convolution by groups, in either layout.
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
