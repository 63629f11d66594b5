//! Imports space to batch and back, sliding windows, and resizes.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::index::Gather;
use mind_core::ops::pad::PadOp;
use mind_core::ops::sample::Resize;
use mind_ir::OpId;
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;
use mind_mil::MilOp;
use mind_mil::infer::sample::{dimensions, filter, grid};
use mind_mil::ops::{image, movement};

use crate::emit::{Emit, Import, One};
use crate::regions::{doubled, sampled};
use crate::slice::strided;

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
];

/// The shape of the input, the height and width of a block, and the padding or crops at the ends of both.
type Moved = ([i64; 4], [i64; 2], [i64; 4]);

/// Returns the shape of `x`, the block size, and the argument `around`, which is padding or crops of height and width.
fn block(op: OpId, e: &mut Emit<'_>, around: &str) -> Result<Moved, Refusal> {
    let (sizes, ends) = (e.ints(op, "block_shape")?, e.ints(op, around)?);
    let x = e.argument(op, "x")?;
    let all = e
        .shape(x)?
        .try_into()
        .ok()
        .zip(sizes.try_into().ok())
        .zip(ends.try_into().ok());
    let ((shape, sizes), ends) = all.ok_or_else(|| Refusal::rank("x", e.g().type_text(x), 4))?;
    Ok((shape, sizes, ends))
}

fn from_batch(op: OpId, e: &mut Emit<'_>) -> One {
    let ([n, c, h, w], [p, q], ends) = block(op, e, "crops")?;
    let x = e.argument(op, "x")?;
    let outer = n / (p * q);
    let apart = e.reshape_to(x, &[p, q, outer, c, h, w])?;
    let whole = e.transpose(apart, &[2, 3, 4, 0, 5, 1])?;
    let whole = e.reshape_to(whole, &[outer, c, h * p, w * q])?;
    let starts = [0, 0, ends[0], ends[2]];
    let ends = [outer, c, h * p - ends[1], w * q - ends[3]];
    strided(e, whole, &starts, &ends, &[1; 4])
}

fn to_batch(op: OpId, e: &mut Emit<'_>) -> One {
    let ([n, c, h, w], [p, q], ends) = block(op, e, "paddings")?;
    let x = e.argument(op, "x")?;
    let (low, high) = ([0, 0, ends[0], ends[2]], [0, 0, ends[1], ends[3]]);
    let whole = if ends == [0; 4] {
        x
    } else {
        PadOp::with(&low, &high).build(&mut e.b, x, None)?
    };
    let (rows, columns) = ((h + ends[0] + ends[1]) / p, (w + ends[2] + ends[3]) / q);
    let apart = e.reshape_to(whole, &[n, c, rows, p, columns, q])?;
    let apart = e.transpose(apart, &[3, 5, 0, 1, 2, 4])?;
    e.reshape_to(apart, &[n * p * q, c, rows, columns])
}

fn sliding(op: OpId, e: &mut Emit<'_>) -> One {
    let x = e.argument(op, "x")?;
    let call = e.call(op)?;
    let axis = call.axis(call.int("axis").unwrap_or(0), e.rank(x))?;
    let (size, stride) = (
        call.int("size").unwrap_or(1),
        call.int("stride").unwrap_or(1),
    );
    let shape = e.shape(e.g().result(op))?;
    let places = (0..shape[axis]).flat_map(|window| (0..size).map(move |at| window * stride + at));
    let extents = vec![shape[axis] as usize, size as usize];
    let places = e.tensor(&Tensor::of(extents, places.collect::<Vec<i64>>()));
    Ok(Gather::with()
        .axis(axis as i64)
        .build(&mut e.b, x, places)?)
}

fn crop(op: OpId, e: &mut Emit<'_>) -> One {
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

/// Resizes some of the last dimensions to the extents of the result.
fn resized(op: OpId, e: &mut Emit<'_>) -> One {
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

/// Imports sampling at coordinates, which core takes from -1 to 1.
fn resample(op: OpId, e: &mut Emit<'_>) -> One {
    let (x, places) = (e.argument(op, "x")?, e.argument(op, "coordinates")?);
    let (sampling, from_zero) = grid(&e.call(op)?)?;
    let mut places = e.convert(places, DType::F32)?;
    if from_zero {
        places = doubled(e, places)?;
    }
    sampled(e, x, places, sampling)
}
