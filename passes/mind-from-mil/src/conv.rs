//! Convolutions.

use mind_core::ops::conv::Conv2d;
use mind_ir::attr::Padding;
use mind_ir::tensor::{Buffer, Tensor, advance, row_major};
use mind_ir::types::{DType, Dim};
use mind_ir::{OpId, ValueId};
use mind_mil::MilOp;
use mind_mil::infer::window::{Axis, Windows};
use mind_mil::ops::conv;

use crate::contract::alike;
use crate::emit::{Emit, Import, Imported};
use crate::refuse::Refused;
use crate::slice::{part, strided};

pub(crate) const ROWS: &[(&MilOp, Import)] = &[(&conv::CONV, convolution)];

/// The most groups that become convolutions of their own, and the most taps of a kernel that is laid over one
/// channel at a time.
const MOST_PARTS: i64 = 64;

/// `[N, C, ..]` under `[O, C / groups, ..]`, through core's `[N, H, W, C]` under `[Kh, Kw, C, F]`.
fn convolution(op: OpId, e: &mut Emit<'_>) -> Imported {
    let (x, weight) = (e.argument(op, "x")?, e.argument(op, "weight")?);
    let weight = alike(e, weight, x)?;
    let (outer, kernel) = (e.shape(x)?, e.shape(weight)?);
    let call = e.call(op)?;
    let groups = call.int("groups").unwrap_or(1).max(1);
    let dims: Vec<Dim> = outer[2..].iter().copied().map(Dim::Fixed).collect();
    let mut axes = Windows::of(&call, &kernel[2..], &dims)?.axes;
    let (x, weight) = match axes.len() {
        1 => {
            axes.insert(0, POINT);
            let [n, c, w] = [outer[0], outer[1], outer[2]];
            let [o, i, k] = [kernel[0], kernel[1], kernel[2]];
            (
                e.reshape(x, &[n, c, 1, w])?,
                e.reshape(weight, &[o, i, 1, k])?,
            )
        }
        2 => (x, weight),
        spatial => {
            return Err(Refused::new(format!(
                "core has no window of {spatial} dimensions"
            )));
        }
    };
    let (inputs, outputs) = (e.shape(x)?[1], kernel[0]);
    let own = match groups {
        1 => {
            let weight = spread(op, e, weight, &axes)?;
            grouped(e, x, weight, &axes)?
        }
        groups if groups == inputs && groups == outputs => per_channel(e, x, weight, &axes)?,
        groups if groups <= MOST_PARTS => {
            let weight = spread(op, e, weight, &axes)?;
            let (each, out) = (inputs / groups, outputs / groups);
            let parts: Result<Vec<ValueId>, Box<Refused>> = (0..groups)
                .map(|group| {
                    let x = part(e, x, 1, group * each, (group + 1) * each)?;
                    let weight = part(e, weight, 0, group * out, (group + 1) * out)?;
                    grouped(e, x, weight, &axes)
                })
                .collect();
            e.concat(&parts?, 1)?
        }
        groups => {
            return Err(Refused::new(format!(
                "{groups} groups are more than {MOST_PARTS}"
            )));
        }
    };
    let shape = e.shape(e.g().result(op))?;
    let own = match e.optional(op, "bias")? {
        Some(bias) => {
            let bias = alike(e, bias, x)?;
            let bias = e.reshape(bias, &[outputs, 1, 1])?;
            e.add(own, bias)?
        }
        None => own,
    };
    e.reshape(own, &shape)
}

/// A window of one position.
pub(crate) const POINT: Axis = Axis {
    reach: 1,
    stride: 1,
    dilation: 1,
    kernel: 1,
    pads: [0, 0],
};

/// One convolution of core.
pub(crate) fn grouped(e: &mut Emit<'_>, x: ValueId, weight: ValueId, axes: &[Axis]) -> Imported {
    let x = e.transpose(x, &[0, 2, 3, 1])?;
    let filter = e.transpose(weight, &[2, 3, 1, 0])?;
    let strides = [axes[0].stride, axes[1].stride];
    let pads = [
        axes[0].pads[0],
        axes[0].pads[1],
        axes[1].pads[0],
        axes[1].pads[1],
    ];
    let padding = match pads {
        [0, 0, 0, 0] => Padding::Valid,
        _ => Padding::Custom(&pads),
    };
    let y = Conv2d::with()
        .strides(&strides)
        .padding(padding)
        .build(&mut e.b, x, filter)?;
    e.transpose(y, &[0, 3, 1, 2])
}

/// A kernel of its own for every channel: the products of each tap, dilated or not, added up in `f32`.
fn per_channel(e: &mut Emit<'_>, x: ValueId, weight: ValueId, axes: &[Axis]) -> Imported {
    let taps = e.shape(weight)?;
    if taps[2] * taps[3] > MOST_PARTS {
        return Err(Refused::new(format!(
            "a kernel of {} taps is larger than {MOST_PARTS}",
            taps[2] * taps[3]
        )));
    }
    let dtype = e.dtype(x);
    let wide = e.convert(x, DType::F32)?;
    let zero = Tensor::scalar(0f32);
    let padded = padded(e, wide, axes, &zero)?;
    let weight = e.convert(weight, DType::F32)?;
    let mut sum: Option<ValueId> = None;
    for (row, column) in (0..taps[2]).flat_map(|row| (0..taps[3]).map(move |column| (row, column)))
    {
        let factor = part(e, weight, 2, row, row + 1)?;
        let factor = part(e, factor, 3, column, column + 1)?;
        let factor = e.reshape(factor, &[taps[0], 1, 1])?;
        let read = tap(e, padded, axes, &[row as usize, column as usize])?;
        let product = e.mul(read, factor)?;
        sum = Some(match sum {
            Some(sum) => e.add(sum, product)?,
            None => product,
        });
    }
    let sum = sum.ok_or_else(|| Refused::new("a kernel without taps"))?;
    e.convert(sum, dtype)
}

/// `[N, C, ..]` with its padding written out, each element of it `value`.
pub(crate) fn padded(e: &mut Emit<'_>, x: ValueId, axes: &[Axis], value: &Tensor) -> Imported {
    let mut x = x;
    for (at, axis) in axes.iter().enumerate() {
        let edge =
            |e: &mut Emit<'_>, x: ValueId, extent: i64| -> Result<Option<ValueId>, Box<Refused>> {
                let mut shape = e.shape(x)?;
                shape[2 + at] = extent;
                Ok((extent > 0).then(|| e.splat(value, &shape)))
            };
        let (before, behind) = (edge(e, x, axis.pads[0])?, edge(e, x, axis.pads[1])?);
        let parts: Vec<ValueId> = [before, Some(x), behind].into_iter().flatten().collect();
        x = e.concat(&parts, 2 + at)?;
    }
    Ok(x)
}

/// What one tap of the windows over padded `x` reads.
pub(crate) fn tap(e: &mut Emit<'_>, x: ValueId, axes: &[Axis], tap: &[usize]) -> Imported {
    let shape = e.shape(x)?;
    let rank = shape.len();
    let (mut starts, mut ends, mut steps) = (vec![0; rank], shape.clone(), vec![1; rank]);
    for (at, axis) in axes.iter().enumerate() {
        let count = (shape[2 + at] - axis.reach) / axis.stride + 1;
        starts[2 + at] = tap[at] as i64 * axis.dilation;
        ends[2 + at] = starts[2 + at] + (count - 1) * axis.stride + 1;
        steps[2 + at] = axis.stride;
    }
    strided(e, x, &starts, &ends, &steps)
}

/// A constant kernel with zeros between its taps, where it is dilated; taps that are next to each other are
/// all that core has.
pub(crate) fn spread(op: OpId, e: &mut Emit<'_>, weight: ValueId, axes: &[Axis]) -> Imported {
    if axes.iter().all(|axis| axis.dilation == 1) {
        return Ok(weight);
    }
    let shape = e.shape(weight)?;
    let tensor = e.known(op, "weight")?;
    let own: Vec<usize> = shape.iter().map(|&extent| extent as usize).collect();
    let mut wide = own.clone();
    (wide[2], wide[3]) = (axes[0].reach as usize, axes[1].reach as usize);
    let (size, bytes) = (tensor.dtype().size(), tensor.buffer().to_bytes());
    let count = wide
        .iter()
        .try_fold(size, |all, &extent| all.checked_mul(extent));
    let count = count.filter(|&count| count <= 1 << 26);
    let mut spread = vec![0; count.ok_or_else(|| Refused::new("the dilated kernel is too large"))?];
    let strides = row_major(&wide);
    let mut index = [0usize; 4];
    for element in bytes.chunks_exact(size) {
        let places = [
            index[0],
            index[1],
            index[2] * axes[0].dilation as usize,
            index[3] * axes[1].dilation as usize,
        ];
        let at: usize = places
            .iter()
            .zip(&strides)
            .map(|(place, stride)| place * stride)
            .sum();
        spread[at * size..][..size].copy_from_slice(element);
        advance(&mut index, &own);
    }
    let spread = e.constant(&Tensor::new(
        wide,
        Buffer::from_bytes(tensor.dtype(), &spread),
    ));
    let to = e.dtype(weight);
    e.convert(spread, to)
}
