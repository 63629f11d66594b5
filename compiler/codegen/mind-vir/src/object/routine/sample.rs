//! Image sampling: a loop over the points of the grid, with a loop over channels.

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_module::FuncId;
use mind_ir::tensor::row_major;
use mind_ir::types::DType;

use crate::object::body::Body;
use crate::program::{Between, Beyond, Coordinates, Sampling};

use super::element::{bits, computed, double, number, read, write as stored};
use super::mirror::within;
use super::sum;

/// A tap along one dimension.
#[derive(Clone, Copy)]
struct Tap {
    /// The element index; 0 if it is out of bounds.
    element: Value,
    /// Whether it is in bounds.
    is_inside: Value,
    /// Its weight, in `f64`.
    weight: Value,
}

/// A tap of an image.
struct Term {
    /// The element index.
    place: Value,
    /// Whether it is in bounds.
    is_inside: Value,
    /// The product of its weights, in the computation type.
    weight: Value,
}

/// State shared by the functions of a sampling.
struct Sampler<'s> {
    sampling: &'s Sampling,
    /// The function that reflects a coordinate, if the padding needs it.
    mirror: Option<FuncId>,
}

pub(super) fn write(
    body: &mut Body<'_>,
    sampling: &Sampling,
    mirror: Option<FuncId>,
    arrays: &[Value],
) {
    let Sampling {
        images,
        points,
        channels,
        ..
    } = *sampling;
    if [images, points, channels].contains(&0) {
        return;
    }
    let [from, grid, to] = *arrays else {
        unreachable!("a checked step has three arrays")
    };
    let sampler = Sampler { sampling, mirror };
    let image = body.open_repeat(images as u64);
    let point = body.open_repeat(points as u64);
    let axes = sampling.extents.len();
    let row = body.ins().imul_imm(image, points as i64);
    let row = body.ins().iadd(row, point);
    let row = body.scaled(grid, row, (axes * sampling.grid.size()) as i64);
    let mut is_number = body.ins().iconst(types::I8, 1);
    let mut taps = Vec::with_capacity(axes);
    for axis in 0..axes {
        // The innermost dimension comes first.
        let at = body.moved(row, ((axes - 1 - axis) * sampling.grid.size()) as u64);
        let (place, own) = sampler.along(body, axis, at);
        let is_own = body.ins().fcmp(FloatCC::Ordered, place, place);
        is_number = body.ins().band(is_number, is_own);
        taps.push(own);
    }
    let terms = sampler.terms(body, &taps);
    let channel = body.open_repeat(channels as u64);
    sampler.chain(body, &terms, is_number, (image, point, channel), (from, to));
    body.close(3);
}

impl Sampler<'_> {
    /// Returns the coordinate along a dimension for the number at `at`, and its taps.
    fn along(&self, body: &mut Body<'_>, axis: usize, at: Value) -> (Value, Vec<Tap>) {
        let Sampling {
            grid,
            between,
            coordinates,
            ..
        } = *self.sampling;
        let extent = self.sampling.extents[axis] as f64;
        let last = extent - 1.0;
        let own = read(body, grid, at);
        let own = if grid == DType::F64 {
            own
        } else {
            body.ins().fpromote(types::F64, own)
        };
        let one = double(body, 1.0);
        let two = double(body, 2.0);
        let place = match coordinates {
            Coordinates::HalfPixel => {
                let extent = double(body, extent);
                let place = body.ins().fadd(own, one);
                let place = body.ins().fmul(place, extent);
                let place = body.ins().fsub(place, one);
                body.ins().fdiv(place, two)
            }
            Coordinates::AlignCorners => {
                let last = double(body, last);
                let place = body.ins().fadd(own, one);
                let place = body.ins().fmul(place, last);
                body.ins().fdiv(place, two)
            }
            Coordinates::Pixel => own,
        };
        // Far enough outside, all taps of a cubic are the nearest element.
        let (place, margin) = match between {
            Between::Nearest => (body.ins().nearest(place), 0.0),
            Between::Linear => (place, 0.0),
            Between::Cubic => (place, 2.0),
        };
        let place = self.moved(body, place, margin, last);
        let base = body.ins().floor(place);
        let part = body.ins().fsub(place, base);
        let weights = match between {
            Between::Nearest => vec![one],
            Between::Linear => vec![body.ins().fsub(one, part), part],
            Between::Cubic => (0..4).map(|tap| cubic_weight(body, tap, part)).collect(),
        };
        let first = match between {
            Between::Nearest | Between::Linear => 0.0,
            Between::Cubic => -1.0,
        };
        let weights = weights.into_iter().enumerate();
        let taps = weights.map(|(tap, weight)| {
            let offset = double(body, first + tap as f64);
            let own = body.ins().fadd(base, offset);
            let own = self.inside(body, own, 0.0, last);
            let (element, is_inside) = whole(body, own, last);
            Tap {
                element,
                is_inside,
                weight,
            }
        });
        (place, taps.collect())
    }

    /// Applies the padding to a coordinate before its taps are computed. A cubic reflects each tap instead, so that
    /// its coordinate is only replaced by NaN if it is infinite.
    fn moved(&self, body: &mut Body<'_>, place: Value, margin: f64, last: f64) -> Value {
        match (self.sampling.beyond, self.sampling.between) {
            (Beyond::MirrorCentres | Beyond::MirrorEdges, Between::Cubic) => {
                let nothing = body.ins().fsub(place, place);
                body.ins().fadd(place, nothing)
            }
            (Beyond::Fill(_) | Beyond::Border, _)
            | (Beyond::MirrorCentres | Beyond::MirrorEdges, Between::Nearest | Between::Linear) => {
                self.inside(body, place, margin, last)
            }
        }
    }

    /// Applies the padding to a coordinate; the result is in bounds, or at most `margin` outside of a border.
    fn inside(&self, body: &mut Body<'_>, place: Value, margin: f64, last: f64) -> Value {
        let low = match self.sampling.beyond {
            Beyond::Fill(_) => return place,
            Beyond::Border => {
                let (first, last) = (double(body, 0.0 - margin), double(body, last + margin));
                return within(body, place, (first, last));
            }
            Beyond::MirrorCentres => 0.0,
            Beyond::MirrorEdges => -0.5,
        };
        let mirror = self.mirror.expect("the function that mirrors");
        let place = bits(body, types::I64, place);
        let [last, low] = [last, low].map(|number| body.word(number.to_bits() as i64));
        let place = body.invoke(mirror, &[place, last, low]);
        bits(body, types::F64, place)
    }

    /// The taps of an image, row-major.
    fn terms(&self, body: &mut Body<'_>, taps: &[Vec<Tap>]) -> Vec<Term> {
        let Sampling {
            dtype,
            extents,
            channels,
            has_channels_last,
            ..
        } = self.sampling;
        // Dimensions of the image, with the channels last if the layout says so.
        let shape = match has_channels_last {
            true => [&extents[..], &[*channels]].concat(),
            false => extents.clone(),
        };
        let strides = row_major(&shape);
        let mut chosen: Vec<Vec<Tap>> = vec![Vec::new()];
        for axis in taps {
            let longer = chosen.iter().flat_map(|before| {
                let with = |tap: &Tap| [&before[..], &[*tap]].concat();
                axis.iter().map(with)
            });
            chosen = longer.collect();
        }
        let term = |taps: Vec<Tap>| {
            let elements = taps.iter().map(|tap| tap.element);
            let place = sum(body, elements.zip(strides.iter().copied()));
            let [first, others @ ..] = &taps[..] else {
                unreachable!("a checked image has a dimension")
            };
            let mut weight = narrowed(body, *dtype, first.weight);
            let mut is_inside = first.is_inside;
            for tap in others {
                let own = narrowed(body, *dtype, tap.weight);
                weight = body.ins().fmul(weight, own);
                is_inside = body.ins().band(is_inside, tap.is_inside);
            }
            Term {
                place,
                is_inside,
                weight,
            }
        };
        chosen.into_iter().map(term).collect()
    }

    /// Returns the weighted sum of the taps of a channel, as a chain of multiply-adds.
    fn chain(
        &self,
        body: &mut Body<'_>,
        terms: &[Term],
        is_number: Value,
        (image, point, channel): (Value, Value, Value),
        (from, to): (Value, Value),
    ) {
        let Sampling {
            dtype,
            points,
            channels,
            extents,
            has_channels_last,
            beyond,
            ..
        } = self.sampling;
        let (size, count) = (dtype.size() as i64, extents.iter().product::<usize>());
        let apart = if *has_channels_last { 1 } else { count };
        let from = body.scaled(from, image, (count * channels) as i64 * size);
        let from = body.scaled(from, channel, apart as i64 * size);
        let mut sum = number(body, *dtype, 0.0);
        let fill = match *beyond {
            Beyond::Fill(fill) => Some(number(body, *dtype, f64::from_bits(fill))),
            Beyond::Border | Beyond::MirrorCentres | Beyond::MirrorEdges => None,
        };
        for term in terms {
            let at = body.scaled(from, term.place, size);
            let mut element = read(body, *dtype, at);
            if let Some(fill) = fill {
                element = body.ins().select(term.is_inside, element, fill);
            }
            sum = body.ins().fma(element, term.weight, sum);
        }
        let nan = number(body, *dtype, f64::NAN);
        let sum = body.ins().select(is_number, sum, nan);
        let (outer, inner) = match has_channels_last {
            true => ((image, points), (point, channels, channel)),
            false => ((image, channels), (channel, points, point)),
        };
        let row = body.ins().imul_imm(outer.0, *outer.1 as i64);
        let row = body.ins().iadd(row, inner.0);
        let at = body.ins().imul_imm(row, *inner.1 as i64);
        let at = body.ins().iadd(at, inner.2);
        let to = body.scaled(to, at, size);
        stored(body, *dtype, to, sum);
    }
}

/// Converts a weight to the computation type of `dtype`.
fn narrowed(body: &mut Body<'_>, dtype: DType, weight: Value) -> Value {
    if computed(dtype) == types::F64 {
        weight
    } else {
        body.ins().fdemote(types::F32, weight)
    }
}

/// Returns the element index at an integral coordinate, 0 if it is out of bounds, and whether it is in bounds.
fn whole(body: &mut Body<'_>, place: Value, last: f64) -> (Value, Value) {
    let (first, last) = (double(body, 0.0), double(body, last));
    let is_after = body.ins().fcmp(FloatCC::GreaterThanOrEqual, place, first);
    let is_before = body.ins().fcmp(FloatCC::LessThanOrEqual, place, last);
    let is_inside = body.ins().band(is_after, is_before);
    let place = body.ins().select(is_inside, place, first);
    let element = body.ins().fcvt_to_sint_sat(types::I64, place);
    (element, is_inside)
}

/// The weight of one of four taps, of which the second is `part` before the place.
fn cubic_weight(body: &mut Body<'_>, tap: u32, part: Value) -> Value {
    const A: f64 = -0.75;
    let number = double(body, f64::from(tap) - 1.0);
    let distance = body.ins().fsub(number, part);
    let d = body.ins().fabs(distance);
    let [one, two, zero] = [1.0, 2.0, 0.0].map(|x| double(body, x));
    let constants = [A + 2.0, A + 3.0, A, 5.0 * A, 8.0 * A, 4.0 * A];
    let [a2, a3, a, a5, a8, a4] = constants.map(|x| double(body, x));
    let inner = body.ins().fmul(a2, d);
    let inner = body.ins().fsub(inner, a3);
    let inner = body.ins().fmul(inner, d);
    let inner = body.ins().fmul(inner, d);
    let inner = body.ins().fadd(inner, one);
    let outer = body.ins().fmul(a, d);
    let outer = body.ins().fsub(outer, a5);
    let outer = body.ins().fmul(outer, d);
    let outer = body.ins().fadd(outer, a8);
    let outer = body.ins().fmul(outer, d);
    let outer = body.ins().fsub(outer, a4);
    let is_inner = body.ins().fcmp(FloatCC::LessThanOrEqual, d, one);
    let is_outer = body.ins().fcmp(FloatCC::LessThan, d, two);
    let beyond = body.ins().select(is_outer, outer, zero);
    body.ins().select(is_inner, inner, beyond)
}
