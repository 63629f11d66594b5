//! Dilated convolutions, decomposed into phases. One position reads only elements whose coordinates are congruent
//! modulo the dilation, and for each residue these form an image of their own without dilation.

use mind_core::eval::sliding::SlideAxis;
use mind_core::ops::convolution::Direction;
use mind_ir::ValueId;
use mind_ir::builder::Builder;
use mind_tensor::ops::index::Slice;
use mind_tensor::ops::transpose::Transpose;

use super::patches::{zeros_after, zeros_around};
use super::{ConvolutionDims, fixed};
use crate::emit::{Lowered, reshape};

impl ConvolutionDims<'_> {
    /// Returns whether the decomposition applies: dilated dimensions have stride 1 and enough positions for all phases,
    /// so that `tensor.window` can compute them.
    pub(super) fn is_in_phases(&self) -> bool {
        let fits = |axis: &SlideAxis| {
            let is_plain =
                axis.stride == 1 && axis.base == 1 && axis.low >= 0 && zeros_after(axis) >= 0;
            axis.dilation == 1 || is_plain && axis.positions as i64 >= 2 * axis.dilation
        };
        self.groups == 1
            && self.convolve.direction == Direction::Forward
            && self.spatial() <= 2
            && self
                .slides
                .iter()
                .all(|axis| axis.dilation >= 1 && fits(axis))
            && self.slides.iter().any(|axis| axis.dilation > 1)
    }

    /// Lowers to one convolution of all phases, which become additional images in the batch.
    pub(super) fn in_phases(
        &self,
        b: &mut Builder<'_>,
        input: ValueId,
        filter: ValueId,
    ) -> Lowered {
        let (mut input, filter) = self.channels_last(b, input, filter)?;
        let (mut strides, mut pads) = (self.convolve.strides.clone(), Vec::new());
        let (mut split, mut joined) = (vec![self.batch], Vec::new());
        let (mut phases, mut lines) = (Vec::new(), Vec::new());
        let mut all = self.batch;
        for (at, axis) in self.slides.iter().enumerate() {
            lines.push(split.len() as i64);
            if axis.dilation == 1 {
                pads.extend([axis.low, self.convolve.high[at]]);
                split.push(axis.extent);
                joined.push(axis.positions);
                continue;
            }
            let phase = axis.dilation as usize;
            let each = axis.positions.div_ceil(phase);
            let total = (each + axis.window - 1) * phase;
            let high = total as i64 - axis.low - axis.extent as i64;
            input = zeros_around(b, input, at + 1, [axis.low, high])?;
            strides[at] = 1;
            pads.extend([0, 0]);
            phases.push(split.len() as i64 + 1);
            split.extend([total / phase, phase]);
            joined.push(each);
            all *= phase;
        }
        let channels = split.len() as i64;
        split.push(self.each);
        let apart = reshape(b, input, &fixed(&split), &[])?;
        let order = [&[0], &phases[..], &lines, &[channels]].concat();
        let apart = Transpose::with(&order).build(b, apart)?;
        let heights = lines.iter().map(|&at| split[at as usize]);
        let images: Vec<usize> = [all]
            .into_iter()
            .chain(heights)
            .chain([self.each])
            .collect();
        let images = reshape(b, apart, &fixed(&images), &[])?;
        let result = self.windows(b, [images, filter], &strides, &pads)?;
        // The remaining ops convert `[N, phases.., o.., F]` to `[N, o.., F]`.
        let counts = phases.iter().map(|&at| split[at as usize]);
        let counts: Vec<usize> = counts.collect();
        let results = [&[self.batch], &counts[..], &joined, &[self.out]].concat();
        let result = reshape(b, result, &fixed(&results), &[])?;
        let (mut order, mut next) = (vec![0], 1);
        let first = 1 + counts.len() as i64;
        let mut whole = vec![self.batch];
        for (at, axis) in self.slides.iter().enumerate() {
            order.push(first + at as i64);
            whole.push(joined[at] * axis.dilation as usize);
            if axis.dilation > 1 {
                order.push(next);
                next += 1;
            }
        }
        order.push(results.len() as i64 - 1);
        whole.push(self.out);
        let result = Transpose::with(&order).build(b, result)?;
        let result = reshape(b, result, &fixed(&whole), &[])?;
        let positions = self.slides.iter().map(|axis| axis.positions as i64);
        let batch = [self.batch as i64];
        let ends: Vec<i64> = batch
            .into_iter()
            .chain(positions)
            .chain([self.out as i64])
            .collect();
        let result = match whole
            .iter()
            .zip(&ends)
            .all(|(&own, &end)| own as i64 == end)
        {
            true => result,
            false => {
                Slice::with(&vec![0; ends.len()], &ends, &vec![1; ends.len()]).build(b, result)?
            }
        };
        self.restored(b, result)
    }
}
