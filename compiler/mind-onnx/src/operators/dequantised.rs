//! Tensors of numbers that bytes stand for, and the bytes.

use mind_convert::{EmitCore, Refusal, converted};
use mind_core::elements_of;
use mind_core::ops::quantize::Dequantize;
use mind_core::ops::shape::Transpose;
use mind_core::scale::Granularity;
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;
use mind_ir::{Graph, ValueId};

use crate::import::emit::{Emit, One};

/// The numbers `(byte - zero) * scale`, of which scales and zero points are constants.
pub(super) struct Dequantised {
    /// The bytes as the `Dequantize` reads them, an `i8` or `u8` each.
    bytes: ValueId,
    /// The order in which their axes are read.
    order: Vec<i64>,
    /// The axis of the numbers, as they are read, that has a scale for each slice; `None` if all have one.
    pub axis: Option<usize>,
    scale: ValueId,
    /// The scales.
    pub scales: Vec<f32>,
    /// The zero points, as many as scales.
    zeros: Vec<i64>,
}

/// Bytes, the zero point that is taken from each, and their scale.
pub(super) struct Bytes {
    /// The bytes, with their axes as the numbers have them.
    pub value: ValueId,
    /// The zero point, or a list of them along the axis of the scales; `None` for 0.
    pub zero: Option<ValueId>,
    /// The scale, or a list of them.
    pub scale: ValueId,
}

impl Dequantised {
    /// What `value` is computed from; `None` if it is no such tensor, as it stands or transposed.
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

    /// The bytes. Constants are moved by their zero points where bytes with a sign hold the differences, which then have
    /// none.
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

    /// The zero points, or the one that all are.
    fn zero(&self, e: &mut Emit<'_>) -> One {
        let dtype = e.dtype(self.bytes);
        let zeros = match (self.axis, &self.zeros[..]) {
            (None, &[zero, ..]) => Tensor::scalar(zero),
            (_, zeros) => Tensor::of(vec![zeros.len()], zeros.to_vec()),
        };
        Ok(e.tensor(&converted(&zeros, dtype)))
    }

    /// Constant bytes less their zero points, if `i8` holds all of them.
    fn differences(&self, g: &Graph) -> Option<Tensor> {
        let bytes = elements_of(g, self.bytes)?;
        let axis = self.axis.map(|axis| self.order[axis] as usize);
        differences(&bytes, &self.zeros, axis)
    }
}

/// Bytes less zero points, one for all or one for each slice along `axis`, if `i8` holds all differences.
pub(super) fn differences(bytes: &Tensor, zeros: &[i64], axis: Option<usize>) -> Option<Tensor> {
    // Neighbours with one zero point, and the number of zero points.
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

/// Integers, each as an `i64`.
pub(super) fn integers(tensor: &Tensor) -> Vec<i64> {
    converted(tensor, DType::I64).elements::<i64>().to_vec()
}
