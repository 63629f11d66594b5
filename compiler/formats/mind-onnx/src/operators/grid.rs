//! Imports grid sampling, affine grids, RoI alignment and deformable convolutions.

use mind_convert::{EmitCore, Refusal, converted};
use mind_core::ops::compare::{Compare, Direction};
use mind_core::ops::contract::MatMul;
use mind_core::ops::dot_general::DotGeneral;
use mind_core::ops::extents::Iota;
use mind_core::ops::index::Gather;
use mind_core::ops::reduce::{Max, Mean};
use mind_core::ops::sample::{GridCoordinates, GridPadding, GridSample, Interpolation, Layout};
use mind_core::ops::shape::ExpandDims;
use mind_ir::ValueId;
use mind_ir::scalar::ScalarFn;
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim};

use super::Operator;
use super::place::{MOST_TAPS, elements};
use super::pool::Geometry;
use super::resize::interpolation;
use crate::import::emit::{Emit, One};
use crate::import::node::Node;

pub(super) const ROWS: &[Operator] = &[
    Operator::one("GridSample", &[16, 20, 22], grid_sample),
    Operator::one("AffineGrid", &[20], affine_grid),
    Operator::one("RoiAlign", &[10, 16, 22], roi_align),
    Operator::one("DeformConv", &[19, 22], deform_conv),
];

fn grid_sample(n: &mut Node<'_, '_, '_>) -> One {
    let mode = interpolation(n.word("mode")?.unwrap_or("linear"))?;
    let padding = match n.word("padding_mode")?.unwrap_or("zeros") {
        "zeros" => GridPadding::Constant,
        "border" => GridPadding::Border,
        "reflection" => GridPadding::Reflect,
        other => {
            return Err(Refusal::word(
                "padding_mode",
                other,
                &["zeros", "border", "reflection"],
            ));
        }
    };
    let coordinates = match n.flag("align_corners")? {
        true => GridCoordinates::AlignCorners,
        false => GridCoordinates::HalfPixel,
    };
    let (x, grid) = (n.input(0)?, n.input(1)?);
    let sample = GridSample::with()
        .layout(Layout::Nchw)
        .mode(mode)
        .coordinates(coordinates)
        .padding(padding);
    Ok(sample.build(&mut n.e, x, grid)?)
}

/// Returns `x` sampled at the grid by linear interpolation.
fn sampled(e: &mut Emit<'_>, x: ValueId, grid: ValueId, padding: GridPadding) -> One {
    let sample = GridSample::with()
        .layout(Layout::Nchw)
        .mode(Interpolation::Linear)
        .coordinates(GridCoordinates::Pixel)
        .padding(padding);
    Ok(sample.build(e, x, grid)?)
}

/// Imports an affine grid: coordinates from -1 to 1 along each dimension, each point multiplied by a matrix.
fn affine_grid(n: &mut Node<'_, '_, '_>) -> One {
    let aligned = n.flag("align_corners")?;
    let theta = n.input(0)?;
    let size = n.ints_in(1)?.unwrap_or_default();
    let spatial = size.get(2..).unwrap_or_default();
    let rank = spatial.len();
    if !(2..=3).contains(&rank) || spatial.iter().any(|extent| *extent <= 0) {
        let expected = "batch, channels, then 2 or 3 positive extents";
        return Err(Refusal::value(
            n.operand(1),
            format_args!("{size:?}"),
            expected,
        ));
    }
    let e = &mut n.e;
    let of = e.dtype(theta);
    let shape: Vec<Dim> = spatial.iter().copied().map(Dim::Fixed).collect();
    let whole = [&shape[..], &[Dim::Fixed(1)]].concat();
    let mut parts = Vec::with_capacity(rank + 1);
    // The coordinate of the innermost dimension comes first.
    for at in (0..rank).rev() {
        let places = Iota::with(DType::F64, &whole).axis(at as i64).build(e)?;
        let (offset, extent) = match aligned {
            true => (0.0, (spatial[at] - 1).max(1)),
            false => (0.5, spatial[at]),
        };
        let moved = e.apply_number(ScalarFn::Add, places, offset)?;
        let part = e.apply_number(ScalarFn::Mul, moved, 2.0)?;
        let part = e.apply_number(ScalarFn::Div, part, extent as f64)?;
        parts.push(e.apply_number(ScalarFn::Sub, part, 1.0)?);
    }
    let one = e.number(DType::F64, 1.0);
    parts.push(mind_core::ops::broadcast::BroadcastTo::with(&whole).build(e, one)?);
    let points = e.concat(&parts, rank)?;
    let points = e.convert(points, of)?;
    let product = DotGeneral::with()
        .lhs_contract(&[2])
        .rhs_contract(&[rank as i64])
        .build(e, theta, points)?;
    let mut order = vec![0];
    order.extend(2..2 + rank as i64);
    order.push(1);
    e.transpose(product, &order)
}

/// Imports RoI alignment: each bin of a region combines evenly spread sample points.
fn roi_align(n: &mut Node<'_, '_, '_>) -> One {
    let default = if n.opset < 16 {
        "output_half_pixel"
    } else {
        "half_pixel"
    };
    let half_pixel = match n.word("coordinate_transformation_mode")?.unwrap_or(default) {
        "half_pixel" => true,
        "output_half_pixel" => false,
        other => {
            return Err(Refusal::word(
                "coordinate_transformation_mode",
                other,
                &["half_pixel", "output_half_pixel"],
            ));
        }
    };
    let takes_largest = match n.word("mode")?.unwrap_or("avg") {
        "avg" => false,
        "max" => true,
        other => return Err(Refusal::word("mode", other, &["avg", "max"])),
    };
    let scale = n.float("spatial_scale")?.unwrap_or(1.0);
    let bins = [n.int("output_height")?, n.int("output_width")?].map(|own| own.unwrap_or(1));
    let points = n.int("sampling_ratio")?.unwrap_or(0);
    if points <= 0 {
        let refusal = Refusal::value("sampling_ratio", points, "a positive number of points");
        return Err(refusal.help(
            "0 takes as many points for each bin as its region has pixels, which only a run knows; export with `sampling_ratio=2`",
        ));
    }
    let (x, regions, images) = (n.input(0)?, n.input(1)?, n.input(2)?);
    let e = &mut n.e;
    let of = e.dtype(x);
    let regions = e.convert(regions, of)?;
    let regions = e.apply_number(ScalarFn::Mul, regions, scale)?;
    let x = Gather::with().build(e, x, images)?;
    let region = Regions {
        regions,
        offset: if half_pixel { 0.5 } else { 0.0 },
        least: if half_pixel { None } else { Some(1.0) },
        points,
    };
    let [columns, rows] = [(0, bins[1], 3), (1, bins[0], 2)].map(|(start, bins, axis)| {
        let extent = e.extent(x, axis)?;
        region.axis(e, start, bins, extent)
    });
    let (columns, rows) = (columns?, rows?);
    let sample = Sample { x, rows, columns };
    let all = if takes_largest {
        sample.largest_corner(e)?
    } else {
        sample.between(e)?
    };
    // The shape is `[regions, channels, rows, points, columns, points]`.
    let shape = e.dims(all);
    let [height, width, count] = [bins[0], bins[1], points].map(Dim::Fixed);
    let apart = e.reshape(all, &[shape[0], shape[1], height, count, width, count])?;
    match takes_largest {
        true => Ok(Max::with().axes(&[3, 5]).build(e, apart)?),
        false => Ok(Mean::with().axes(&[3, 5]).build(e, apart)?),
    }
}

/// Regions in image coordinates.
struct Regions {
    /// Start and end of each region, `[regions, 4]`.
    regions: ValueId,
    offset: f64,
    /// Minimum extent of a region.
    least: Option<f64>,
    /// The number of points of a bin along each axis.
    points: i64,
}

/// Sample points along one axis: indices `[regions, points]` that are clamped to the image, and whether they were
/// inside.
struct Points {
    index: ValueId,
    inside: ValueId,
    extent: i64,
}

impl Regions {
    fn axis(
        &self,
        e: &mut Emit<'_>,
        start: i64,
        bins: i64,
        extent: i64,
    ) -> Result<Points, Refusal> {
        let of = e.dtype(self.regions);
        let mut ends = [start, start + 2].map(|at| e.part(self.regions, 1, at, at + 1));
        for end in &mut ends {
            *end = Ok(e.apply_number(ScalarFn::Sub, end.clone()?, self.offset)?);
        }
        let [start, end] = ends;
        let (start, end) = (start?, end?);
        let mut length = e.apply(ScalarFn::Sub, &[end, start])?;
        if let Some(least) = self.least {
            length = e.apply_number(ScalarFn::Maximum, length, least)?;
        }
        // Each point is in the middle of its share of the region.
        let count = bins.checked_mul(self.points).ok_or_else(|| {
            let found = format!("{bins} bins of {}", self.points);
            Refusal::too_large("the number of points of a region", found, "2^63 - 1")
        })?;
        let step = e.apply_number(ScalarFn::Div, length, count as f64)?;
        let place = Iota::with(of, &[Dim::Fixed(1), Dim::Fixed(count)])
            .axis(1)
            .build(e)?;
        let middle = e.apply_number(ScalarFn::Add, place, 0.5)?;
        let way = e.apply(ScalarFn::Mul, &[step, middle])?;
        let index = e.apply(ScalarFn::Add, &[start, way])?;
        let (low, high) = (e.number(of, -1.0), e.number(of, extent as f64));
        let above = Compare::with(Direction::Ge).build(e, index, low)?;
        let below = Compare::with(Direction::Le).build(e, index, high)?;
        let inside = e.apply(ScalarFn::And, &[above, below])?;
        let index = e.apply_number(ScalarFn::Maximum, index, 0.0)?;
        let index = e.apply_number(ScalarFn::Minimum, index, (extent - 1) as f64)?;
        Ok(Points {
            index,
            inside,
            extent,
        })
    }
}

/// Images `[regions, channels, height, width]` and the points at which they are sampled.
struct Sample {
    x: ValueId,
    rows: Points,
    columns: Points,
}

impl Sample {
    /// Returns the elements at rows and columns: `[regions, channels, rows, columns]`.
    fn at(&self, e: &mut Emit<'_>, rows: ValueId, columns: ValueId) -> One {
        let rows = ExpandDims::with(&[2]).build(e, rows)?;
        let columns = ExpandDims::with(&[1]).build(e, columns)?;
        let shape = [e.dims(rows)[0], e.dims(rows)[1], e.dims(columns)[2]];
        let mut parts = [columns, rows];
        for part in &mut parts {
            let whole = mind_core::ops::broadcast::BroadcastTo::with(&shape).build(e, *part)?;
            *part = ExpandDims::with(&[3]).build(e, whole)?;
        }
        let grid = e.concat(&parts, 3)?;
        sampled(e, self.x, grid, GridPadding::Border)
    }

    /// Returns `x` where row and column are inside of the image, and 0 elsewhere.
    fn seen(&self, e: &mut Emit<'_>, x: ValueId) -> One {
        let rows = ExpandDims::with(&[1, 3]).build(e, self.rows.inside)?;
        let columns = ExpandDims::with(&[1, 2]).build(e, self.columns.inside)?;
        let inside = e.apply(ScalarFn::And, &[rows, columns])?;
        let zero = e.number(e.dtype(x), 0.0);
        e.apply(ScalarFn::Select, &[inside, x, zero])
    }

    fn between(&self, e: &mut Emit<'_>) -> One {
        let own = self.at(e, self.rows.index, self.columns.index)?;
        self.seen(e, own)
    }

    /// Returns the largest of the four weighted elements around each point.
    fn largest_corner(&self, e: &mut Emit<'_>) -> One {
        let (rows, columns) = (corners(e, &self.rows)?, corners(e, &self.columns)?);
        let mut largest: Option<ValueId> = None;
        for (row, down) in rows {
            for (column, across) in columns {
                let own = self.at(e, row, column)?;
                let down = ExpandDims::with(&[1, 3]).build(e, down)?;
                let across = ExpandDims::with(&[1, 2]).build(e, across)?;
                let weight = e.apply(ScalarFn::Mul, &[down, across])?;
                let own = e.apply(ScalarFn::Mul, &[own, weight])?;
                largest = Some(match largest {
                    Some(largest) => e.apply(ScalarFn::Maximum, &[largest, own])?,
                    None => own,
                });
            }
        }
        let largest = largest.expect("four corners");
        self.seen(e, largest)
    }
}

/// Returns the elements before and after each point with their interpolation weights.
fn corners(e: &mut Emit<'_>, points: &Points) -> Result<[(ValueId, ValueId); 2], Refusal> {
    let low = e.apply(ScalarFn::Floor, &[points.index])?;
    let next = e.apply_number(ScalarFn::Add, low, 1.0)?;
    let high = e.apply_number(ScalarFn::Minimum, next, (points.extent - 1) as f64)?;
    let part = e.apply(ScalarFn::Sub, &[points.index, low])?;
    let one = e.number(e.dtype(part), 1.0);
    let rest = e.apply(ScalarFn::Sub, &[one, part])?;
    Ok([(low, rest), (high, part)])
}

/// Imports a deformable convolution: taps are moved by offsets and weighted by a mask.
fn deform_conv(n: &mut Node<'_, '_, '_>) -> One {
    let (x, filter, offset) = (n.input(0)?, n.input(1)?, n.input(2)?);
    let (bias, mask) = (n.optional(3)?, n.optional(4)?);
    let groups = n.int("group")?.unwrap_or(1);
    let moved_groups = n.int("offset_group")?.unwrap_or(1);
    let weights = n.e.shape(filter)?;
    if weights.len() != n.e.rank(x) {
        return Err(Refusal::rank(
            n.operand(1),
            n.e.g().type_text(filter),
            n.e.rank(x),
        ));
    }
    let taps = weights.get(2..).unwrap_or_default().to_vec();
    let geometry = Geometry::of(n, x, &taps)?;
    let shape = n.e.shape(x)?;
    let made = n.e.shape(offset)?;
    let (rank, count) = (taps.len() as i64, elements(&taps)?);
    let (batch, channels, filters) = (shape[0], shape[1], weights[0]);
    let out = made.get(2..).unwrap_or_default().to_vec();
    let fits = |own: i64, parts: i64| parts > 0 && own % parts == 0;
    if made.len() != shape.len()
        || !fits(channels, groups)
        || !fits(filters, groups)
        || !fits(channels, moved_groups)
        || made[0] != batch
        || elements(&[moved_groups, count, rank])? != made[1]
        || weights[1] != channels / groups
    {
        return Err(Refusal::parts(
            "the node",
            format_args!(
                "input {shape:?}, filter {weights:?} and offsets {made:?} in {groups} and {moved_groups} groups"
            ),
            format_args!(
                "channels that the groups divide, filters of {} channels and {} offsets for each group of offsets",
                channels.checked_div(groups).unwrap_or(0),
                count.saturating_mul(rank),
            ),
        ));
    }
    let area = elements(&out)?;
    if elements(&[count, rank, area])? > MOST_TAPS {
        let found = format!("{count} in each of {area}");
        return Err(Refusal::too_large(
            "the number of elements of all windows",
            found,
            MOST_TAPS,
        ));
    }
    let e = &mut n.e;
    let of = e.dtype(x);
    let corners = e.tensor(&converted(&geometry.taps(&out), of));
    // The shape is `[batch and group, taps, rank, positions]`.
    let offset = e.reshape_to(offset, &[batch * moved_groups, count, rank, area])?;
    let index = e.apply(ScalarFn::Add, &[offset, corners])?;
    let index = e.transpose(index, &[0, 1, 3, 2])?;
    let index = mind_core::ops::shape::Reverse::with(&[3]).build(e, index)?;
    let index = match rank {
        1 => e.reshape_to(index, &[batch * moved_groups, count * area, 1])?,
        2 => index,
        _ => e.reshape_to(index, &[batch * moved_groups, count, area, 1, rank])?,
    };
    let own = channels / moved_groups;
    let images = [&[batch * moved_groups, own][..], &shape[2..]].concat();
    let x = e.reshape_to(x, &images)?;
    let seen = sampled(e, x, index, GridPadding::Constant)?;
    let mut seen = e.reshape_to(seen, &[batch, moved_groups, own, count, area])?;
    if let Some(mask) = mask {
        let mask = e.reshape_to(mask, &[batch, moved_groups, 1, count, area])?;
        seen = e.apply(ScalarFn::Mul, &[seen, mask])?;
    }
    let columns = channels / groups * count;
    let seen = e.reshape_to(seen, &[batch, groups, columns, area])?;
    let filter = e.reshape_to(filter, &[1, groups, filters / groups, columns])?;
    let product = MatMul::build(e, filter, seen)?;
    let result = e.reshape_to(product, &[&[batch, filters][..], &out].concat())?;
    let Some(bias) = bias else { return Ok(result) };
    let bias = e.per_channel(bias, shape.len())?;
    e.apply(ScalarFn::Add, &[result, bias])
}

impl Geometry {
    /// Returns the index of each tap at each position of the result, without offsets: `[taps, rank, positions]`.
    fn taps(&self, out: &[i64]) -> Tensor {
        let rank = self.window.len();
        let low = self.pads();
        let (count, area) = (
            self.window.iter().product::<i64>(),
            out.iter().product::<i64>(),
        );
        let mut index = vec![0.0f64; (count * area) as usize * rank];
        for tap in 0..count {
            for place in 0..area {
                let (mut tap_rest, mut place_rest) = (tap, place);
                for at in (0..rank).rev() {
                    let own = place_rest % out[at] * self.strides[at] - low[at]
                        + tap_rest % self.window[at] * self.dilations[at];
                    (tap_rest, place_rest) = (tap_rest / self.window[at], place_rest / out[at]);
                    let to = (tap * rank as i64 + at as i64) * area + place;
                    index[to as usize] = own as f64;
                }
            }
        }
        Tensor::of(vec![count as usize, rank, area as usize], index)
    }
}
