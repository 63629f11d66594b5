//! Positions as batch and as windows, and images of other extents.

use mind_core::ops::pad::PadOp;
use mind_core::ops::sample::{GridSample, Layout, Resize};
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;
use mind_ir::{OpId, ValueId};
use mind_mil::MilOp;
use mind_mil::infer::sample::{dimensions, filter, grid};
use mind_mil::ops::{image, movement, normalization};

use crate::emit::{Emit, Import, Imported, number};
use crate::refuse::Refused;
use crate::slice::{part, strided, taken};

pub(crate) const ROWS: &[(&MilOp, Import)] = &[
    (&movement::BATCH_TO_SPACE, from_batch),
    (&movement::SPACE_TO_BATCH, to_batch),
    (&movement::SLIDING_WINDOWS, sliding),
    (&image::CROP, crop),
    (&image::RESAMPLE, resample),
    (&image::RESIZE, resized),
    (&image::RESIZE_BILINEAR, resized),
    (&image::RESIZE_NEAREST_NEIGHBOR, resized),
    (&image::UPSAMPLE_BILINEAR, resized),
    (&image::UPSAMPLE_NEAREST_NEIGHBOR, resized),
    (&normalization::LOCAL_RESPONSE_NORM, across_channels),
];

/// The shape of what is moved; height and width of a block; what each end of both loses or gains.
type Moved = ([i64; 4], [i64; 2], [i64; 4]);

/// The extents of `x`, and of a block, and what goes off or on at the ends of height and width.
fn block(op: OpId, e: &mut Emit<'_>, around: &str) -> Result<Moved, Box<Refused>> {
    let (sizes, ends) = (e.ints(op, "block_shape")?, e.ints(op, around)?);
    let x = e.argument(op, "x")?;
    let all = e
        .shape(x)?
        .try_into()
        .ok()
        .zip(sizes.try_into().ok())
        .zip(ends.try_into().ok());
    let ((shape, sizes), ends) = all.ok_or_else(|| Refused::new("it takes rank 4"))?;
    Ok((shape, sizes, ends))
}

fn from_batch(op: OpId, e: &mut Emit<'_>) -> Imported {
    let ([n, c, h, w], [p, q], ends) = block(op, e, "crops")?;
    let x = e.argument(op, "x")?;
    let outer = n / (p * q);
    let apart = e.reshape(x, &[p, q, outer, c, h, w])?;
    let whole = e.transpose(apart, &[2, 3, 4, 0, 5, 1])?;
    let whole = e.reshape(whole, &[outer, c, h * p, w * q])?;
    let rows = part(e, whole, 2, ends[0], h * p - ends[1])?;
    part(e, rows, 3, ends[2], w * q - ends[3])
}

fn to_batch(op: OpId, e: &mut Emit<'_>) -> Imported {
    let ([n, c, h, w], [p, q], ends) = block(op, e, "paddings")?;
    let x = e.argument(op, "x")?;
    let zero = number(e.dtype(e.float(x)?), 0.0);
    let rows = between(e, x, 2, [ends[0], ends[1]], &zero)?;
    let whole = between(e, rows, 3, [ends[2], ends[3]], &zero)?;
    let (rows, columns) = ((h + ends[0] + ends[1]) / p, (w + ends[2] + ends[3]) / q);
    let apart = e.reshape(whole, &[n, c, rows, p, columns, q])?;
    let apart = e.transpose(apart, &[3, 5, 0, 1, 2, 4])?;
    e.reshape(apart, &[n * p * q, c, rows, columns])
}

/// `x` with `pads` elements of `value` before and after it along `axis`.
pub(crate) fn between(
    e: &mut Emit<'_>,
    x: ValueId,
    axis: usize,
    pads: [i64; 2],
    value: &Tensor,
) -> Imported {
    let mut low = vec![0; e.rank(x)];
    let mut high = low.clone();
    [low[axis], high[axis]] = pads;
    let value = e.constant(value);
    Ok(PadOp::with(&low, &high).build(&mut e.b, x, Some(value))?)
}

fn sliding(op: OpId, e: &mut Emit<'_>) -> Imported {
    let x = e.argument(op, "x")?;
    let call = e.call(op)?;
    let axis = call.axis(call.int("axis").unwrap_or(0), e.rank(x))?;
    let (size, stride) = (
        call.int("size").unwrap_or(1),
        call.int("stride").unwrap_or(1),
    );
    let shape = e.shape(e.g().result(op))?;
    let places = (0..shape[axis]).flat_map(|window| (0..size).map(move |at| window * stride + at));
    let row = taken(e, x, axis, &places.collect::<Vec<i64>>())?;
    e.reshape(row, &shape)
}

fn crop(op: OpId, e: &mut Emit<'_>) -> Imported {
    let (height, width) = (e.ints(op, "crop_height")?, e.ints(op, "crop_width")?);
    let x = e.argument(op, "x")?;
    let shape = e.shape(x)?;
    let first = shape.len() - 2;
    let (mut starts, mut ends) = (vec![0; shape.len()], shape.clone());
    for (at, cuts) in [height, width].iter().enumerate() {
        (starts[first + at], ends[first + at]) = (cuts[0], shape[first + at] - cuts[1]);
    }
    strided(e, x, &starts, &ends, &vec![1; shape.len()])
}

/// Some of the last dimensions with the extents of the result.
fn resized(op: OpId, e: &mut Emit<'_>) -> Imported {
    let x = e.argument(op, "x")?;
    let call = e.call(op)?;
    let (filter, dimensions) = (filter(&call)?, dimensions(&call, e.rank(x)));
    let to = e.shape(e.g().result(op))?;
    let axes: Vec<i64> = dimensions.clone().map(|axis| axis as i64).collect();
    let resize = Resize::with(&axes, &to[dimensions])
        .mode(filter.mode)
        .coordinates(filter.coordinates)
        .nearest(filter.nearest);
    Ok(resize.build(&mut e.b, x, None)?)
}

/// Images at coordinates, which are from -1 to 1 in core.
fn resample(op: OpId, e: &mut Emit<'_>) -> Imported {
    let (x, places) = (e.argument(op, "x")?, e.argument(op, "coordinates")?);
    let (sampling, from_zero) = grid(&e.call(op)?)?;
    let mut places = e.convert(places, DType::F32)?;
    if from_zero {
        let doubled = e.mul_n(places, 2.0)?;
        places = e.add_n(doubled, -1.0)?;
    }
    let sample = GridSample::with()
        .layout(Layout::Nchw)
        .mode(sampling.mode)
        .coordinates(sampling.coordinates)
        .padding(sampling.padding)
        .fill(sampling.fill);
    Ok(sample.build(&mut e.b, x, places)?)
}

/// The most channels whose squares are added up around one.
const MOST_CHANNELS: i64 = 256;

fn across_channels(op: OpId, e: &mut Emit<'_>) -> Imported {
    let x = e.argument(op, "x")?;
    let call = e.call(op)?;
    let number_of =
        |name: &str, default: f64| f64::from(call.float(name).unwrap_or(default) as f32);
    let (alpha, beta, k) = (
        number_of("alpha", 1e-4),
        number_of("beta", 0.75),
        number_of("k", 1.0),
    );
    let size = call.int("size").unwrap_or(1).max(1);
    if size > MOST_CHANNELS {
        return Err(Refused::new(format!(
            "{size} channels are more than {MOST_CHANNELS}"
        )));
    }
    let channels = e.shape(x)?[1];
    e.rounding_once(x, |e, x| {
        let square = e.mul(x, x)?;
        let padded = between(
            e,
            square,
            1,
            [size / 2, (size - 1) / 2],
            &number(DType::F32, 0.0),
        )?;
        let mut sum = part(e, padded, 1, 0, channels)?;
        for at in 1..size {
            let own = part(e, padded, 1, at, at + channels)?;
            sum = e.add(sum, own)?;
        }
        let scaled = e.mul_n(sum, f64::from(alpha as f32 / size as f32))?;
        let below = e.add_n(scaled, k)?;
        let log = e.log(below)?;
        let power = e.mul_n(log, beta)?;
        let power = e.exp(power)?;
        e.div(x, power)
    })
}
