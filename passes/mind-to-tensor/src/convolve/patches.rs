//! Convolutions of 8 and 16 bit integers by im2col: the elements under each window are concatenated and multiplied by
//! the filters. This pays because the products use packed dot products.

use mind_core::eval::sliding::SlideAxis;
use mind_core::ops::convolution::Direction;
use mind_core::pairs::{Pairs, Side};
use mind_ir::builder::Builder;
use mind_ir::tensor::{Buffer, Tensor};
use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};
use mind_tensor::ops::broadcast::Broadcast;
use mind_tensor::ops::index::Slice;
use mind_tensor::ops::join::Concat;

use super::{ConvolutionDims, fixed};
use crate::emit::{Lowered, reshape, shape};
use crate::known::Known;
use crate::packed::pays;
use crate::product::product;

/// The largest number of taps, because im2col copies the input once for each.
const MOST_TAPS: usize = 64;

impl ConvolutionDims<'_> {
    /// Lowers to a product with sums of `dtype`, with dot products of four bytes if `dots_bytes`. Returns `None` if
    /// im2col does not apply or does not pay.
    pub(super) fn patches(
        &self,
        b: &mut Builder<'_>,
        op: OpId,
        operands: [ValueId; 2],
        dtype: DType,
        dots_bytes: bool,
    ) -> Known {
        let taps: usize = self.slides.iter().map(|axis| axis.window).product();
        let positions: usize = self.slides.iter().map(|axis| axis.positions).product();
        let extents = [self.batch * positions, self.out, taps * self.each].map(|own| own as i64);
        let is_forward = self.convolve.direction == Direction::Forward && self.groups == 1;
        if !is_forward || taps > MOST_TAPS || !pays(b.graph, operands, dtype, extents) {
            return Ok(None);
        }
        let (input, filter) = self.channels_last(b, operands[0], operands[1])?;
        let input = self.with_zeros(b, input)?;
        let mut parts = Vec::with_capacity(taps);
        for tap in 0..taps {
            parts.push(self.under(b, input, tap)?);
        }
        let last = self.spatial() + 1;
        let patches = match parts[..] {
            [only] => only,
            _ => Concat::with(last as i64).build(b, &parts)?,
        };
        let filter = reshape(b, filter, &fixed(&[taps * self.each, self.out]), &[])?;
        let pairs = Pairs {
            op: "conv",
            lhs: Side::new(0, &[last], last + 1),
            rhs: Side::new(0, &[0], 2),
        };
        let result = product(op, b, &pairs, [patches, filter], dtype, dots_bytes)?;
        self.restored(b, result).map(Some)
    }

    /// Emits `[N, s.., C]`, padded with zeros as far as windows read.
    fn with_zeros(&self, b: &mut Builder<'_>, mut input: ValueId) -> Lowered {
        for (at, axis) in self.slides.iter().enumerate() {
            let low = axis.low.max(0);
            let high = zeros_after(axis).max(0);
            input = zeros_around(b, input, at + 1, [low, high])?;
        }
        Ok(input)
    }

    /// Emits the elements of `[N, s.., C]` that a tap, numbered in row-major order, reads at each position.
    fn under(&self, b: &mut Builder<'_>, input: ValueId, tap: usize) -> Lowered {
        let mut ends = b.graph.ty(input).static_shape().unwrap_or_default();
        let (mut starts, mut steps) = (vec![0; ends.len()], vec![1; ends.len()]);
        let mut rest = tap;
        for (at, axis) in self.slides.iter().enumerate().rev() {
            let own = rest % axis.window;
            rest /= axis.window;
            starts[at + 1] = own as i64 * axis.dilation;
            ends[at + 1] = end(axis, own);
            steps[at + 1] = axis.stride;
        }
        Slice::with(&starts, &ends, &steps).build(b, input)
    }
}

/// Returns the number of zeros that windows read after the last element.
pub(super) fn zeros_after(axis: &SlideAxis) -> i64 {
    end(axis, axis.window - 1) - axis.low - axis.extent as i64
}

/// Emits `input`, padded along a dimension with the given numbers of zeros before and after.
pub(super) fn zeros_around(
    b: &mut Builder<'_>,
    mut input: ValueId,
    axis: usize,
    counts: [i64; 2],
) -> Lowered {
    for (count, is_front) in counts.into_iter().zip([true, false]) {
        if count == 0 {
            continue;
        }
        let dtype = b.graph.ty(input).dtype;
        let zero = Tensor::new(Vec::new(), Buffer::zeros(dtype, 1));
        let zero = mind_core::constant(b, &zero);
        let mut edge = shape(b, input);
        edge[axis] = mind_ir::types::Dim::Fixed(count);
        let zeros = Broadcast::with(&[], &edge).build(b, &[zero])?;
        let parts = match is_front {
            true => [zeros, input],
            false => [input, zeros],
        };
        input = Concat::with(axis as i64).build(b, &parts)?;
    }
    Ok(input)
}

/// Returns one past the coordinate of tap `tap` at the last position, relative to its coordinate at tap 0 of the first
/// position.
fn end(axis: &SlideAxis, tap: usize) -> i64 {
    tap as i64 * axis.dilation + (axis.positions as i64 - 1) * axis.stride + 1
}
