//! Lowers convolutions in one of several ways: those of narrow integers become matrix products by im2col, undilated
//! ones without groups `tensor.window`, dilated ones `tensor.window` of their phases, transposed ones that tile the
//! result matrix products, and all others sliding windows with additional dimensions.
//!
//! For sliding windows, the channel dimension is split into groups and the channels of a group. The filters of a group
//! are one more dimension, along which the input is broadcast.

mod patches;
mod phases;

use mind_core::eval::sliding::SlideAxis;
use mind_core::ops::convolution::{Conv, ConvTranspose, Convolve, Direction, Layout};
use mind_core::slide::{Slide as Windows, SlideKind};
use mind_ir::attr::Padding;
use mind_ir::builder::Builder;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::types::{DType, Dim};
use mind_ir::{OpId, ValueId};
use mind_tensor::ops::broadcast::Broadcast;
use mind_tensor::ops::contract::Contract;
use mind_tensor::ops::transpose::Transpose;
use mind_tensor::ops::window::Window;

use crate::emit::{LowerKnown, Lowered, converted, reshape, shape};
use crate::known::Known;
use crate::window::{extents, is_small, slide};

pub(crate) const ROWS: &[(&OpDef, LowerKnown)] = &[
    (Conv::DEF, |op, b| forward(b, op, false)),
    (ConvTranspose::DEF, |op, b| {
        let view = ConvTranspose::from_id(op);
        let convolve = view.convolve(b.graph)?;
        let (input, filter) = (view.input(b.graph), view.filter(b.graph));
        lower(b, op, &convolve, [input, filter], false)
    }),
];

/// Like [`ROWS`], but with dot products of four bytes.
pub(crate) const ROWS_OF_BYTES: &[(&OpDef, LowerKnown)] =
    &[(Conv::DEF, |op, b| forward(b, op, true))];

fn forward(b: &mut Builder<'_>, op: OpId, dots_bytes: bool) -> Known {
    let view = Conv::from_id(op);
    let convolve = view.convolve(b.graph)?;
    let (input, filter) = (view.input(b.graph), view.filter(b.graph));
    lower(b, op, &convolve, [input, filter], dots_bytes)
}

fn lower(
    b: &mut Builder<'_>,
    op: OpId,
    convolve: &Convolve,
    operands: [ValueId; 2],
    dots_bytes: bool,
) -> Known {
    let shapes = operands.map(|value| extents(&shape(b, value)));
    let [Some(input), Some(filter)] = &shapes else {
        return Ok(None);
    };
    let slides = convolve.slides(input, filter).ok();
    let group = convolve.group(input, filter).ok();
    let Some((slides, [each, out])) = slides.zip(group).filter(|(slides, _)| is_small(slides))
    else {
        return Ok(None);
    };
    if kinds(&slides) > MOST_KINDS {
        return Ok(None);
    }
    let dims = ConvolutionDims {
        convolve,
        batch: input[0],
        slides,
        groups: convolve.groups as usize,
        each,
        out,
    };
    let dtype = b.graph.ty(b.graph.result(op)).dtype;
    match dims.patches(b, op, operands, dtype, dots_bytes)? {
        Some(product) => Ok(Some(product)),
        None => dims.lower(b, operands, dtype).map(Some),
    }
}

/// The largest number of position kinds for which sliding windows generate code.
const MOST_KINDS: i64 = 64;

/// Returns the number of kinds of positions, which differ in the taps that meet elements.
fn kinds(slides: &[SlideAxis]) -> i64 {
    slides
        .iter()
        .fold(1i64, |kinds, axis| kinds.saturating_mul(axis.base))
}

/// A convolution with known extents.
struct ConvolutionDims<'c> {
    convolve: &'c Convolve,
    batch: usize,
    slides: Vec<SlideAxis>,
    groups: usize,
    /// The input channels of a group.
    each: usize,
    /// The filters of a group.
    out: usize,
}

impl ConvolutionDims<'_> {
    fn lower(&self, b: &mut Builder<'_>, operands: [ValueId; 2], dtype: DType) -> Lowered {
        let [input, filter] = operands;
        let input = converted(b, input, dtype)?;
        let filter = converted(b, filter, dtype)?;
        if self.is_dense() {
            return self.dense(b, input, filter);
        }
        if self.is_in_phases() {
            return self.in_phases(b, input, filter);
        }
        if self.is_tiling() {
            return self.tiles(b, input, filter);
        }
        match (self.convolve.layout, self.convolve.direction) {
            (Layout::Nchw, Direction::Forward) if !self.is_narrow() => {
                self.channels_first(b, input, filter)
            }
            (Layout::Nhwc, _) | (Layout::Nchw, _) => {
                let (input, filter) = self.channels_last(b, input, filter)?;
                let result = self.slide_last(b, input, filter)?;
                self.restored(b, result)
            }
        }
    }

    fn spatial(&self) -> usize {
        self.slides.len()
    }

    /// Returns whether `tensor.window` can express the convolution.
    fn is_dense(&self) -> bool {
        let c = self.convolve;
        self.groups == 1
            && c.direction == Direction::Forward
            && self.spatial() <= 2
            && c.dilations.iter().all(|&dilation| dilation == 1)
    }

    /// Returns whether vectorising along the last spatial dimension is slower than two transposes to vectorise along
    /// the channels. It is slow if there are few positions, because those at the edges are computed one at a time, or
    /// if the stride makes elements non-contiguous.
    fn is_narrow(&self) -> bool {
        const FEW_POSITIONS: usize = 64;
        const VECTOR: usize = 8;
        let columns = self.slides.last();
        let is_slow = columns.is_some_and(|own| own.positions < FEW_POSITIONS || own.stride > 1);
        let channels = if self.out > 1 { self.out } else { self.groups };
        is_slow && channels >= VECTOR
    }

    /// Returns whether it is a transposed convolution where each position of the result has exactly one tap of one
    /// element, so that the windows tile the result.
    fn is_tiling(&self) -> bool {
        let tiles = |axis: &SlideAxis| {
            let window = axis.window as i64;
            let is_adjacent = window == axis.base && (axis.dilation == -1 || window == 1);
            is_adjacent && axis.low == 0 && axis.positions == axis.extent * axis.window
        };
        let is_backward = self.convolve.direction == Direction::Backward;
        is_backward && self.groups == 1 && self.slides.iter().all(tiles)
    }

    /// Lowers a tiling convolution to the matrix product of the channels of each element with all taps,
    /// `[N, s.., k.., F]`, followed by a permutation. Each position keeps the chain of its single tap.
    fn tiles(&self, b: &mut Builder<'_>, input: ValueId, filter: ValueId) -> Lowered {
        let (input, filter) = self.channels_last(b, input, filter)?;
        let spatial = self.spatial() as i64;
        let product = Contract::with(&[spatial + 1], &[spatial + 1]).build(b, input, filter)?;
        let side_by_side = (1..=spatial).flat_map(|axis| [axis, axis + spatial]);
        let order: Vec<i64> = [0]
            .into_iter()
            .chain(side_by_side)
            .chain([2 * spatial + 1])
            .collect();
        let windows = Transpose::with(&order).build(b, product)?;
        let positions: Vec<usize> = self.slides.iter().map(|axis| axis.positions).collect();
        let joined = [&[self.batch], &positions[..], &[self.out]].concat();
        let result = reshape(b, windows, &fixed(&joined), &[])?;
        self.restored(b, result)
    }

    /// Emits transposes to channels-last layout: images `[N, s.., C]`, filters `[k.., C / groups, F]`, or
    /// `[k.., F / groups, C]` for a transposed convolution.
    fn channels_last(
        &self,
        b: &mut Builder<'_>,
        input: ValueId,
        filter: ValueId,
    ) -> Result<(ValueId, ValueId), Box<mind_ir::verify::VerifyError>> {
        if self.convolve.layout == Layout::Nhwc {
            return Ok((input, filter));
        }
        let rank = self.spatial() as i64 + 2;
        let order: Vec<i64> = [0].into_iter().chain(2..rank).chain([1]).collect();
        let input = Transpose::with(&order).build(b, input)?;
        let order: Vec<i64> = (2..rank).chain([1, 0]).collect();
        let filter = Transpose::with(&order).build(b, filter)?;
        Ok((input, filter))
    }

    /// Emits a transpose of `[N, o.., F]` to the layout of the op.
    fn restored(&self, b: &mut Builder<'_>, result: ValueId) -> Lowered {
        if self.convolve.layout == Layout::Nhwc {
            return Ok(result);
        }
        let rank = self.spatial() as i64 + 2;
        let order: Vec<i64> = [0, rank - 1].into_iter().chain(1..rank - 1).collect();
        Transpose::with(&order).build(b, result)
    }

    /// Lowers to `tensor.window`.
    fn dense(&self, b: &mut Builder<'_>, input: ValueId, filter: ValueId) -> Lowered {
        let (input, filter) = self.channels_last(b, input, filter)?;
        let c = self.convolve;
        let pads = c.low.iter().zip(&c.high);
        let pads: Vec<i64> = pads.flat_map(|(&low, &high)| [low, high]).collect();
        let result = self.windows(b, [input, filter], &c.strides, &pads)?;
        self.restored(b, result)
    }

    /// Emits `tensor.window` on channels-last operands with one or two spatial dimensions; `pads` are the zeros before
    /// and after each. A single dimension is extended to two.
    fn windows(
        &self,
        b: &mut Builder<'_>,
        [mut input, mut filter]: [ValueId; 2],
        strides: &[i64],
        pads: &[i64],
    ) -> Lowered {
        let (mut strides, mut pads) = (strides.to_vec(), pads.to_vec());
        if self.spatial() == 1 {
            let unit = |b: &mut Builder<'_>, value: ValueId, at: usize| {
                let mut wide = shape(b, value);
                wide.insert(at, Dim::Fixed(1));
                reshape(b, value, &wide, &[])
            };
            input = unit(b, input, 1)?;
            filter = unit(b, filter, 0)?;
            strides.insert(0, 1);
            pads.splice(0..0, [0, 0]);
        }
        let custom: [i64; 4] = pads.try_into().expect("two pairs of pads");
        let padding = match custom {
            [0, 0, 0, 0] => Padding::Valid,
            _ => Padding::Custom(&custom),
        };
        let window = Window::with().strides(&strides).padding(padding);
        let mut result = window.build(b, input, filter)?;
        if self.spatial() == 1 {
            let mut narrow = shape(b, result);
            narrow.remove(1);
            result = reshape(b, result, &narrow, &[])?;
        }
        Ok(result)
    }

    /// Lowers to sliding windows over `[N, s.., G, C / G, F / G]`, for a result `[N, o.., F]`.
    fn slide_last(&self, b: &mut Builder<'_>, input: ValueId, filter: ValueId) -> Lowered {
        let spatial = self.spatial() as i64;
        let extents: Vec<usize> = self.slides.iter().map(|axis| axis.extent).collect();
        let split = [&[self.batch][..], &extents, &[self.groups, self.each]].concat();
        let split = reshape(b, input, &fixed(&split), &[])?;
        let dims: Vec<i64> = (0..spatial + 3).collect();
        let input = self.repeated(b, split, &dims, spatial as usize + 3)?;
        let taps: Vec<usize> = self.slides.iter().map(|axis| axis.window).collect();
        let (inner, order) = match self.convolve.direction {
            Direction::Forward => ([self.each, self.groups, self.out], [1, 0, 2]),
            Direction::Backward => ([self.out, self.groups, self.each], [1, 2, 0]),
        };
        let split = [&taps[..], &inner].concat();
        let split = reshape(b, filter, &fixed(&split), &[])?;
        let order: Vec<i64> = (0..spatial).chain(order.map(|at| spatial + at)).collect();
        let filter = Transpose::with(&order).build(b, split)?;
        let filter = self.with_batch(b, filter)?;
        let inner = [
            SlideAxis::fixed(self.groups),
            SlideAxis::whole(self.each),
            SlideAxis::fixed(self.out),
        ];
        let axes = [&[SlideAxis::fixed(self.batch)][..], &self.slides, &inner].concat();
        let result = self.slide(b, axes, input, filter)?;
        let positions: Vec<usize> = self.slides.iter().map(|axis| axis.positions).collect();
        let joined = [&[self.batch][..], &positions, &[self.groups * self.out]].concat();
        reshape(b, result, &fixed(&joined), &[])
    }

    /// Lowers to sliding windows over `[N, G, F / G, s.., C / G]`, for a result `[N, F, o..]`.
    fn channels_first(&self, b: &mut Builder<'_>, input: ValueId, filter: ValueId) -> Lowered {
        let spatial = self.spatial() as i64;
        let extents: Vec<usize> = self.slides.iter().map(|axis| axis.extent).collect();
        let split = [&[self.batch, self.groups, self.each][..], &extents].concat();
        let split = reshape(b, input, &fixed(&split), &[])?;
        let dims: Vec<i64> = [0, 1, spatial + 3]
            .into_iter()
            .chain(3..spatial + 3)
            .collect();
        let input = self.repeated(b, split, &dims, 2)?;
        let taps: Vec<usize> = self.slides.iter().map(|axis| axis.window).collect();
        let split = [&[self.groups, self.out, self.each][..], &taps].concat();
        let split = reshape(b, filter, &fixed(&split), &[])?;
        let order: Vec<i64> = [0, 1]
            .into_iter()
            .chain(3..spatial + 3)
            .chain([2])
            .collect();
        let filter = Transpose::with(&order).build(b, split)?;
        let filter = self.with_batch(b, filter)?;
        let outer = [self.batch, self.groups, self.out].map(SlideAxis::fixed);
        let axes = [&outer[..], &self.slides, &[SlideAxis::whole(self.each)]].concat();
        let result = self.slide(b, axes, input, filter)?;
        let positions: Vec<usize> = self.slides.iter().map(|axis| axis.positions).collect();
        let joined = [&[self.batch, self.groups * self.out][..], &positions].concat();
        reshape(b, result, &fixed(&joined), &[])
    }

    /// Emits a broadcast of a split input along a new dimension `at` for the filters of a group; dimension `i` becomes
    /// `dims[i]`.
    fn repeated(&self, b: &mut Builder<'_>, split: ValueId, dims: &[i64], at: usize) -> Lowered {
        let own = shape(b, split);
        let mut wide = vec![Dim::Fixed(self.out as i64); own.len() + 1];
        for (&to, &dim) in dims.iter().zip(&own) {
            wide[to as usize] = dim;
        }
        debug_assert!(!dims.contains(&(at as i64)));
        Broadcast::with(dims, &wide).build(b, &[split])
    }

    /// Emits a filter with a leading dimension of extent 1.
    fn with_batch(&self, b: &mut Builder<'_>, filter: ValueId) -> Lowered {
        let mut wide = shape(b, filter);
        wide.insert(0, Dim::Fixed(1));
        reshape(b, filter, &wide, &[])
    }

    fn slide(
        &self,
        b: &mut Builder<'_>,
        axes: Vec<SlideAxis>,
        input: ValueId,
        filter: ValueId,
    ) -> Lowered {
        let kind = match self.convolve.direction {
            Direction::Forward => SlideKind::Multiply,
            Direction::Backward => SlideKind::MultiplyInside,
        };
        slide(b, &Windows { kind, axes }, &[input, filter])
    }
}

fn fixed(extents: &[usize]) -> Vec<Dim> {
    extents
        .iter()
        .map(|&extent| Dim::Fixed(extent as i64))
        .collect()
}
