//! Recognises dequantised tensors and their bytes.

use mind_convert::{EmitCore, Refusal, converted};
use mind_core::elements_of;
use mind_core::ops::quantize::Dequantize;
use mind_core::ops::shape::Transpose;
use mind_core::scale::Granularity;
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;
use mind_ir::{Graph, ValueId};

use crate::import::emit::{Emit, One};

/// A tensor `(byte - zero) * scale` with constant scales and zero points.
pub(super) struct Dequantised {
    /// The operand of the `Dequantize`, of dtype `i8` or `u8`.
    bytes: ValueId,
    /// The permutation that is applied to its dimensions.
    order: Vec<i64>,
    /// The axis of a per-channel scale, after the permutation; `None` if one scale applies to all elements.
    pub axis: Option<usize>,
    scale: ValueId,
    /// The scales.
    pub scales: Vec<f32>,
    /// The zero points, one for each scale.
    zeros: Vec<i64>,
}

/// Quantised bytes with their zero point and scale.
pub(super) struct Bytes {
    /// The bytes, in the permuted order of dimensions.
    pub value: ValueId,
    /// The zero point, or a list along the axis of the scales; `None` if it is 0.
    pub zero: Option<ValueId>,
    /// The scale, or a list of scales.
    pub scale: ValueId,
}

impl Dequantised {
    /// Recognises `value` as a dequantised tensor, which may be transposed.
    pub fn of(g: &Graph, value: ValueId) -> Option<Dequantised> {
        let (mut source, mut order) = (value, None);
        if let Some(transpose) = g.view::<Transpose>(g.defining_op(value)?) {
            source = transpose.input(g);
            let rank = g.ty(source).rank() as i64;
            let own = transpose.permutation(g).to_vec();
            order = Some(if own.is_empty() {
                (0..rank).rev().collect()
            } else {
                own
            });
        }
        let own = g.view::<Dequantize>(g.defining_op(source)?)?;
        let (bytes, scale) = (own.input(g), own.scale(g));
        let order = order.unwrap_or_else(|| (0..g.ty(bytes).rank() as i64).collect());
        let axis = match own.granularity(g).ok()? {
            Granularity::Tensor => None,
            Granularity::Axis(axis) => Some(order.iter().position(|&own| own == axis as i64)?),
            Granularity::Blocks => return None,
        };
        let is_narrow = matches!(g.ty(bytes).dtype, DType::I8 | DType::U8);
        if !is_narrow || g.ty(scale).dtype != DType::F32 {
            return None;
        }
        let scales = elements_of(g, scale)?.elements::<f32>().to_vec();
        let zeros = match own.zero_point(g) {
            Some(zero) => integers(&elements_of(g, zero)?),
            None => vec![0; scales.len()],
        };
        Some(Dequantised {
            bytes,
            order,
            axis,
            scale,
            scales,
            zeros,
        })
    }

    /// Returns the bytes. The zero points of constants are subtracted in advance if the differences fit in `i8`.
    pub fn bytes(&self, e: &mut Emit<'_>) -> Result<Bytes, Refusal> {
        let is_centred = self.zeros.iter().all(|&zero| zero == 0);
        let (bytes, zero) = match is_centred {
            true => (self.bytes, None),
            false => match self.differences(e.g()) {
                Some(differences) => (e.tensor(&differences), None),
                None => (self.bytes, Some(self.zero(e)?)),
            },
        };
        Ok(Bytes {
            value: e.transpose(bytes, &self.order)?,
            zero,
            scale: self.scale,
        })
    }

    /// Returns the zero points, or the single one.
    fn zero(&self, e: &mut Emit<'_>) -> One {
        let dtype = e.dtype(self.bytes);
        let zeros = match (self.axis, &self.zeros[..]) {
            (None, &[zero, ..]) => Tensor::scalar(zero),
            (_, zeros) => Tensor::of(vec![zeros.len()], zeros.to_vec()),
        };
        Ok(e.tensor(&converted(&zeros, dtype)))
    }

    /// Returns constant bytes minus their zero points, if all differences fit in `i8`.
    fn differences(&self, g: &Graph) -> Option<Tensor> {
        let bytes = elements_of(g, self.bytes)?;
        let axis = self.axis.map(|axis| self.order[axis] as usize);
        differences(&bytes, &self.zeros, axis)
    }
}

/// Returns bytes minus zero points, if all differences fit in `i8`. There is one zero point for all bytes, or one for
/// each slice along `axis`.
pub(super) fn differences(bytes: &Tensor, zeros: &[i64], axis: Option<usize>) -> Option<Tensor> {
    // `inner` is the number of consecutive elements with the same zero point.
    let inner = axis.map_or(1, |axis| bytes.shape()[axis + 1..].iter().product());
    let each = zeros.len().max(1);
    let differences = integers(bytes).into_iter().enumerate();
    let differences = differences.map(|(at, byte)| {
        let zero = zeros.get(at / inner.max(1) % each);
        i8::try_from(byte - zero.copied().unwrap_or(0)).ok()
    });
    let differences: Option<Vec<i8>> = differences.collect();
    Some(Tensor::of(bytes.shape().to_vec(), differences?))
}

/// Returns the integers of a tensor as `i64`.
pub(super) fn integers(tensor: &Tensor) -> Vec<i64> {
    converted(tensor, DType::I64).elements::<i64>().to_vec()
}
