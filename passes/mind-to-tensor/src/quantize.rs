//! Lowers quantisation and dequantisation to a map over the elements and their scales.

use mind_core::ops::convert::Cast;
use mind_core::ops::elementwise::{Add, Div, Maximum, Minimum, Mul, Sub};
use mind_core::ops::quantize::{Dequantize, Quantize};
use mind_core::ops::rounding::Round;
use mind_core::scale::Granularity;
use mind_ir::builder::Builder;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::tensor::{Num, Tensor};
use mind_ir::types::{DType, Dim};
use mind_ir::{ValueId, with_num};
use mind_tensor::ops::index::Gather;

use crate::broadcast::{BroadcastOperand, broadcast_operand};
use crate::emit::{LowerKnown, Lowered, map, reshape, shape};
use crate::known::{Known, LONGEST};

pub(crate) const ROWS: &[(&OpDef, LowerKnown)] = &[
    (Quantize::DEF, |op, b| {
        let view = Quantize::from_id(op);
        let (input, scale) = (view.input(b.graph), view.scale(b.graph));
        let (zero_point, dtype) = (view.zero_point(b.graph), view.dtype(b.graph));
        let granularity = view.granularity(b.graph)?;
        at_scales(b, granularity, input, scale, zero_point, |b, scalars| {
            quantized(b, scalars, dtype)
        })
    }),
    (Dequantize::DEF, |op, b| {
        let view = Dequantize::from_id(op);
        let (input, scale) = (view.input(b.graph), view.scale(b.graph));
        let (zero_point, granularity) = (view.zero_point(b.graph), view.granularity(b.graph)?);
        at_scales(b, granularity, input, scale, zero_point, dequantized)
    }),
];

/// Emits a map over the elements of `input`, their scales and, if present, their zero points. Returns `None` if the
/// extents that determine the scale of each element are not known.
fn at_scales(
    b: &mut Builder<'_>,
    granularity: Granularity,
    input: ValueId,
    scale: ValueId,
    zero_point: Option<ValueId>,
    body: impl FnOnce(&mut Builder<'_>, &[ValueId]) -> Lowered,
) -> Known {
    let Some(parts) = axis_blocks(b, granularity, input, scale) else {
        return Ok(None);
    };
    let own = shape(b, input);
    let split: Vec<Dim> = parts.iter().flat_map(|part| part.split.clone()).collect();
    let input = reshape_if(b, input, &split)?;
    let mut operands = vec![input];
    for factor in [scale].into_iter().chain(zero_point) {
        operands.push(factor_of_each(b, granularity, &parts, factor, input)?);
    }
    let result = map(b, &operands, body)?;
    reshape_if(b, result, &own).map(Some)
}

/// Emits a reshape, unless `value` already has the shape.
fn reshape_if(b: &mut Builder<'_>, value: ValueId, to: &[Dim]) -> Lowered {
    if shape(b, value)[..] == *to {
        Ok(value)
    } else {
        reshape(b, value, to, &[])
    }
}

/// The blocks along one dimension of a tensor.
struct AxisBlocks {
    /// The dimensions to which it is split: the blocks and the elements of a block, or only itself.
    split: Vec<Dim>,
    /// The index of the scale of each position, if the blocks have different lengths.
    scale_indices: Option<Vec<i64>>,
}

/// Returns how the dimensions of `input` are split to blocks; `None` if relevant extents are not known.
fn axis_blocks(
    b: &Builder<'_>,
    granularity: Granularity,
    input: ValueId,
    scale: ValueId,
) -> Option<Vec<AxisBlocks>> {
    let (own, scales) = (b.graph.ty(input).shape, b.graph.ty(scale).shape);
    let whole = |dim: Dim| AxisBlocks {
        split: vec![dim],
        scale_indices: None,
    };
    match granularity {
        Granularity::Tensor => Some(own.iter().copied().map(whole).collect()),
        Granularity::Axis(axis) => {
            let agrees = own[axis] == scales[0] && own[axis] != Dim::Dynamic;
            agrees.then(|| own.iter().copied().map(whole).collect())
        }
        Granularity::Blocks => {
            let pairs = own.iter().zip(scales);
            let part = |(&dim, &blocks): (&Dim, &Dim)| {
                if blocks == Dim::Fixed(1) || blocks == dim && dim != Dim::Dynamic {
                    return Some(whole(dim));
                }
                let (Dim::Fixed(extent @ 1..), Dim::Fixed(blocks @ 1..)) = (dim, blocks) else {
                    return None;
                };
                let length = (extent as u64).div_ceil(blocks as u64) as i64;
                if length * blocks == extent {
                    return Some(AxisBlocks {
                        split: vec![Dim::Fixed(blocks), Dim::Fixed(length)],
                        scale_indices: None,
                    });
                }
                let scale_indices = || (0..extent).map(|at| at / length).collect();
                (extent <= LONGEST).then(|| AxisBlocks {
                    split: vec![dim],
                    scale_indices: Some(scale_indices()),
                })
            };
            let parts: Vec<AxisBlocks> = pairs.map(part).collect::<Option<_>>()?;
            let splits = parts.iter().any(|part| part.split.len() > 1);
            (!splits || !own.contains(&Dim::Dynamic)).then_some(parts)
        }
    }
}

/// Emits for each element of `input`, which is split to `parts`, its element of `factor`.
fn factor_of_each(
    b: &mut Builder<'_>,
    granularity: Granularity,
    parts: &[AxisBlocks],
    mut factor: ValueId,
    input: ValueId,
) -> Lowered {
    let dims: Vec<Option<usize>> = match granularity {
        Granularity::Tensor => Vec::new(),
        Granularity::Axis(axis) => vec![Some(axis)],
        Granularity::Blocks => {
            let mut dims = Vec::with_capacity(parts.len());
            let mut next = 0;
            for (at, part) in parts.iter().enumerate() {
                if let Some(scale_indices) = &part.scale_indices {
                    let scale_indices =
                        Tensor::of(vec![scale_indices.len()], scale_indices.clone());
                    let scale_indices = mind_core::constant(b, &scale_indices);
                    factor = Gather::with(at as i64).build(b, factor, scale_indices)?;
                }
                dims.push(Some(next));
                next += part.split.len();
            }
            dims
        }
    };
    let target = shape(b, input);
    let other_dims: Vec<Option<usize>> = (0..target.len()).map(Some).collect();
    let operand = BroadcastOperand {
        value: factor,
        dims: &dims,
        other: input,
        other_dims: &other_dims,
        shape: &target,
    };
    broadcast_operand(b, &operand)
}

/// Emits a scalar cast, unless `x` already has the dtype `to`.
fn converted(b: &mut Builder<'_>, x: ValueId, to: DType) -> Lowered {
    if b.graph.ty(x).dtype == to {
        Ok(x)
    } else {
        Cast::with(to).build(b, x)
    }
}

/// Returns an integer dtype that represents the difference of any two integers of `dtype`.
fn wide(dtype: DType) -> DType {
    if dtype.size() <= 2 {
        DType::I32
    } else {
        DType::I64
    }
}

/// Emits the smallest and the largest integer of `dtype`, in the dtype that represents their difference.
fn range(b: &mut Builder<'_>, dtype: DType) -> [ValueId; 2] {
    let [least, most] = with_num!(dtype, T => {
        [T::LOWEST, T::HIGHEST].map(|bound| bound.to_i128().unwrap_or_default())
    }, else { [0, 1] });
    [least, most].map(|bound| {
        let bound = match wide(dtype) {
            DType::I32 => Tensor::scalar(bound as i32),
            _ => Tensor::scalar(bound as i64),
        };
        mind_core::constant(b, &bound)
    })
}

/// Emits the rounded quotient, which the cast saturates to the range of `dtype`. With a zero point the quotient is
/// clamped before the zero point is added, so that the sum is exact.
fn quantized(b: &mut Builder<'_>, scalars: &[ValueId], dtype: DType) -> Lowered {
    let (scale, float) = (scalars[1], b.graph.ty(scalars[1]).dtype);
    let x = converted(b, scalars[0], float)?;
    let quotient = Div::build(b, x, scale)?;
    let rounded = Round::build(b, quotient)?;
    let Some(&zero) = scalars.get(2) else {
        return converted(b, rounded, dtype);
    };
    let number = converted(b, rounded, wide(dtype))?;
    let zero = converted(b, zero, wide(dtype))?;
    let [least, most] = range(b, dtype);
    let (least, most) = (Sub::build(b, least, zero)?, Sub::build(b, most, zero)?);
    let number = Maximum::build(b, number, least)?;
    let number = Minimum::build(b, number, most)?;
    let number = Add::build(b, number, zero)?;
    converted(b, number, dtype)
}

/// Emits the exact difference, rounded to the dtype of the scale, times the scale.
fn dequantized(b: &mut Builder<'_>, scalars: &[ValueId]) -> Lowered {
    let (mut x, scale) = (scalars[0], scalars[1]);
    if let Some(&zero) = scalars.get(2) {
        let exact = wide(b.graph.ty(x).dtype);
        x = converted(b, x, exact)?;
        let zero = converted(b, zero, exact)?;
        x = Sub::build(b, x, zero)?;
    }
    let float = b.graph.ty(scale).dtype;
    let number = converted(b, x, float)?;
    Mul::build(b, number, scale)
}
