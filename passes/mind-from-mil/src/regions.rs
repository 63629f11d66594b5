//! Imports affine resampling and crops, as samples at coordinates.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::broadcast::BroadcastTo;
use mind_core::ops::contract::MatMul;
use mind_core::ops::index::Gather;
use mind_core::ops::sample::{
    GridCoordinates, GridPadding, GridSample, GridSampling, Interpolation, Layout,
};
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim};
use mind_ir::{OpId, ValueId};
use mind_mil::MilOp;
use mind_mil::infer::sample::grid;
use mind_mil::ops::image;

use crate::emit::{Emit, Import, One};
use crate::place::check_places;

pub(crate) const ROWS: &[(&MilOp, Import)] =
    &[(&image::AFFINE, affine), (&image::CROP_RESIZE, crop_resize)];

/// Refuses coordinate lists of more than [`MOST_PLACES`] entries; there are `count` times `each`.
fn listed(count: i64, each: i64) -> Result<(), Refusal> {
    check_places(count.checked_mul(each))
}

/// Returns the images `x` sampled at the coordinates `places`.
pub(crate) fn sampled(
    e: &mut Emit<'_>,
    x: ValueId,
    places: ValueId,
    sampling: GridSampling,
) -> One {
    let sample = GridSample::with()
        .layout(Layout::Nchw)
        .mode(sampling.mode)
        .coordinates(sampling.coordinates)
        .padding(sampling.padding)
        .fill(sampling.fill);
    Ok(sample.build(&mut e.b, x, places)?)
}

/// Maps coordinates from 0..1 to -1..1.
pub(crate) fn doubled(e: &mut Emit<'_>, places: ValueId) -> One {
    let doubled = e.mul_n(places, 2.0)?;
    e.add_n(doubled, -1.0)
}

/// Imports `affine`: the image, sampled at the coordinates of the result mapped by a matrix.
fn affine(op: OpId, e: &mut Emit<'_>) -> One {
    let (x, matrix) = (e.argument(op, "x")?, e.argument(op, "transform_matrix")?);
    let (sampling, from_zero) = grid(&e.call(op)?)?;
    let result = e.g().result(op);
    let &[batch, _, height, width] = &e.shape(result)?[..] else {
        let ty = e.g().type_text(result);
        return Err(Refusal::rank("its result".to_owned(), ty, 4));
    };
    listed(height, width)?;
    let place = |at: i64, count: i64| -> f64 {
        let (at, count) = (at as f64, count as f64);
        let part = match sampling.coordinates {
            GridCoordinates::Pixel => return at,
            GridCoordinates::AlignCorners if count == 1.0 => 0.5,
            GridCoordinates::AlignCorners => at / (count - 1.0),
            GridCoordinates::HalfPixel => (at + 0.5) / count,
        };
        if from_zero { part } else { part * 2.0 - 1.0 }
    };
    let places = (0..height).flat_map(|row| (0..width).map(move |column| (row, column)));
    let columns = places
        .clone()
        .map(|(_, column)| place(column, width) as f32);
    let rows = places.clone().map(|(row, _)| place(row, height) as f32);
    let ones = places.clone().map(|_| 1.0f32);
    let numbers: Vec<f32> = columns.chain(rows).chain(ones).collect();
    let count = (height * width) as usize;
    let base = e.tensor(&Tensor::of(vec![3, count], numbers));
    let matrix = e.convert(matrix, DType::F32)?;
    let matrix = e.reshape_to(matrix, &[batch, 2, 3])?;
    let mapped = MatMul::build(&mut e.b, matrix, base)?;
    let mapped = e.transpose(mapped, &[0, 2, 1])?;
    let mut places = e.reshape_to(mapped, &[batch, height, width, 2])?;
    if from_zero {
        places = doubled(e, places)?;
    }
    sampled(e, x, places, sampling)
}

/// Boxes by their edges: top, left, bottom and right, each `[N, 1]`, in pixels.
struct Boxes {
    ends: [ValueId; 4],
    count: i64,
}

impl Boxes {
    /// Returns the boxes of a list `[N, 4]`.
    fn of(
        op: OpId,
        e: &mut Emit<'_>,
        list: ValueId,
        [height, width]: [i64; 2],
    ) -> Result<Boxes, Refusal> {
        let call = e.call(op)?;
        let mode = match call.word("box_coordinate_mode") {
            "" => "CORNERS_HEIGHT_FIRST",
            word => word,
        };
        let (centred, wide_first) = match mode {
            "CORNERS_HEIGHT_FIRST" => (false, false),
            "CORNERS_WIDTH_FIRST" => (false, true),
            "CENTER_SIZE_HEIGHT_FIRST" => (true, false),
            "CENTER_SIZE_WIDTH_FIRST" => (true, true),
            word => {
                let modes = [
                    "CORNERS_HEIGHT_FIRST",
                    "CORNERS_WIDTH_FIRST",
                    "CENTER_SIZE_HEIGHT_FIRST",
                    "CENTER_SIZE_WIDTH_FIRST",
                ];
                return Err(Refusal::word("box_coordinate_mode", word, &modes));
            }
        };
        let scale = call.float("spatial_scale").unwrap_or(1.0);
        let normalized = call.flag("normalized_coordinates");
        let count = e.shape(list)?[0];
        let mut ends = Vec::new();
        for at in 0..4 {
            let own = e.part(list, 1, at, at + 1)?;
            let is_wide = (at % 2 == 1) != wide_first;
            let extent = if is_wide { width } else { height };
            let factor = if normalized { (extent - 1) as f64 } else { 1.0 } * scale;
            ends.push(if factor == 1.0 {
                own
            } else {
                e.mul_n(own, factor)?
            });
        }
        if wide_first {
            ends.swap(0, 1);
            ends.swap(2, 3);
        }
        if centred {
            for at in 0..2 {
                let half = e.mul_n(ends[at + 2], 0.5)?;
                let middle = ends[at];
                (ends[at], ends[at + 2]) = (e.sub(middle, half)?, e.add(middle, half)?);
            }
        }
        let ends = ends
            .try_into()
            .map_err(|_| Refusal::no_counterpart("boxes have four ends"))?;
        Ok(Boxes { ends, count })
    }

    /// Returns the coordinates `[N, count]` of `count` samples from one edge to the other.
    ///
    /// Source: Core ML MIL, `resize_bilinear`, "Notes", over the extent of a box.
    fn samples(&self, e: &mut Emit<'_>, axis: usize, count: i64, mode: &str) -> One {
        let (start, end) = (self.ends[axis], self.ends[axis + 2]);
        let length = e.sub(end, start)?;
        let total = count as f64;
        let corners = |at: f64| at / (total - 1.0).max(1.0);
        let (length, shift, part): (ValueId, f64, &dyn Fn(f64) -> f64) = match mode {
            "ALIGN_CORNERS" if count == 1 => (length, 0.0, &|_| 0.5),
            "ALIGN_CORNERS" | "STRICT_ALIGN_CORNERS" => (length, 0.0, &corners),
            "OFFSET_CORNERS" => {
                let one = e.number(DType::F32, 1.0);
                (e.max(length, one)?, 0.0, &|at| (at + 0.5) / total)
            }
            "UNALIGN_CORNERS" => (e.add_n(length, 1.0)?, -0.5, &|at| (at + 0.5) / total),
            "" | "DEFAULT" => (e.add_n(length, 1.0)?, 0.0, &|at| at / total),
            word => {
                let modes = [
                    "DEFAULT",
                    "ALIGN_CORNERS",
                    "STRICT_ALIGN_CORNERS",
                    "OFFSET_CORNERS",
                    "UNALIGN_CORNERS",
                ];
                return Err(Refusal::word("sampling_mode", word, &modes));
            }
        };
        let parts: Vec<f32> = (0..count).map(|at| part(at as f64) as f32).collect();
        let parts = e.tensor(&Tensor::of(vec![parts.len()], parts));
        let offsets = e.mul(length, parts)?;
        let places = e.add(start, offsets)?;
        if shift == 0.0 {
            Ok(places)
        } else {
            e.add_n(places, shift)
        }
    }
}

/// Imports crops of images, all resized to one size.
fn crop_resize(op: OpId, e: &mut Emit<'_>) -> One {
    let x = e.argument(op, "x")?;
    let &[batch, _, height, width] = &e.shape(x)?[..] else {
        return Err(Refusal::rank("x", e.g().type_text(x), 4));
    };
    let result = e.shape(e.g().result(op))?;
    let &[.., rows, columns] = &result[..] else {
        let ty = e.g().type_text(e.g().result(op));
        return Err(Refusal::rank("its result".to_owned(), ty, "4 or 5"));
    };
    let call = e.call(op)?;
    let (mode, fill) = (
        call.word("sampling_mode").to_owned(),
        call.float("pad_value").unwrap_or(0.0),
    );
    let is_list = call.value("boxes").is_some();
    let name = if is_list { "boxes" } else { "roi" };
    let list = e.argument(op, name)?;
    let list = e.convert(list, DType::F32)?;
    let shape = e.shape(list)?;
    let &[count, ..] = &shape[..] else {
        return Err(Refusal::rank(name, e.g().type_text(list), "2 or 5"));
    };
    let each = shape.get(if is_list { 1 } else { 2 }).copied();
    listed(rows, columns)?;
    listed(count, batch)?;
    let Some(each @ 4..=5) = each else {
        let (found, expected) = (each.unwrap_or(0), "4 or 5");
        return Err(Refusal::extent(
            "the number of entries of a box",
            found,
            expected,
        ));
    };
    let list = e.reshape_to(list, &[count, each])?;
    let own = e.part(list, 1, each - 4, each)?;
    let boxes = Boxes::of(op, e, own, [height, width])?;
    let (down, across) = (
        boxes.samples(e, 0, rows, &mode)?,
        boxes.samples(e, 1, columns, &mode)?,
    );
    let across = spread(e, across, [boxes.count, 1, columns, 1], rows, columns)?;
    let down = spread(e, down, [boxes.count, rows, 1, 1], rows, columns)?;
    let mut places = e.concat(&[across, down], 3)?;
    let images = match (is_list, each) {
        (true, _) => e.optional(op, "box_indices")?,
        (false, 5) => {
            let first = e.part(list, 1, 0, 1)?;
            Some(e.reshape_to(first, &[count])?)
        }
        (false, _) => None,
    };
    let x = if let Some(images) = images {
        let images = e.convert(images, DType::I32)?;
        Gather::with().axis(0).build(&mut e.b, x, images)?
    } else if is_list && batch == count {
        x
    } else {
        // All pairs of a box and an image.
        let pairs = (0..count).flat_map(|own| (0..batch).map(move |image| (own, image)));
        let (own, image): (Vec<i64>, Vec<i64>) = pairs.unzip();
        let [own, image] = [own, image].map(|list| e.tensor(&Tensor::of(vec![list.len()], list)));
        places = Gather::with().axis(0).build(&mut e.b, places, own)?;
        Gather::with().axis(0).build(&mut e.b, x, image)?
    };
    let sampling = GridSampling {
        mode: Interpolation::Linear,
        coordinates: GridCoordinates::Pixel,
        padding: GridPadding::Constant,
        fill,
    };
    let samples = sampled(e, x, places, sampling)?;
    e.reshape_to(samples, &result)
}

/// Broadcasts coordinates along one axis to all positions of a region: `[N, rows, columns, 1]`.
fn spread(e: &mut Emit<'_>, places: ValueId, shape: [i64; 4], rows: i64, columns: i64) -> One {
    let thin = e.reshape_to(places, &shape)?;
    let whole = [shape[0], rows, columns, 1].map(Dim::Fixed);
    Ok(BroadcastTo::with(&whole).build(&mut e.b, thin)?)
}
