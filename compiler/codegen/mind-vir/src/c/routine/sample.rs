//! Image sampling as C statements.

use mind_ir::tensor::row_major;
use mind_ir::types::DType;

use super::super::lane::constant;
use super::Arrays;
use super::block::{Block, sum};
use super::element::{c_type, read, write as stored};
use crate::ir::Lane;
use crate::program::{Between, Beyond, Coordinates, Sampling};

/// Writes a loop over the points of the grid, with a loop over channels.
pub(super) fn write(sampling: &Sampling, (read, written): Arrays<'_>, block: &mut Block<'_>) {
    let counts = [sampling.images, sampling.points, sampling.channels];
    let sampling = &match counts.contains(&0) {
        // Empty loops; their strides are unused.
        true => Sampling {
            images: 0,
            points: 0,
            channels: 0,
            extents: vec![1; sampling.extents.len()],
            ..sampling.clone()
        },
        false => sampling.clone(),
    };
    let axes = sampling.extents.len();
    block.count("image", sampling.images);
    block.count("point", sampling.points);
    block.line(format_args!(
        "int64_t elements[{axes}][{0}];",
        taps(sampling)
    ));
    block.line(format_args!("double weights[{axes}][{0}];", taps(sampling)));
    block.line("int is_number = 1;");
    for axis in 0..axes {
        along(sampling, axis, &read[1], block);
    }
    block.count("channel", sampling.channels);
    chain(sampling, (&read[0], &written[0]), block);
    block.close(3);
}

/// Returns the number of taps along each dimension.
const fn taps(sampling: &Sampling) -> usize {
    match sampling.between {
        Between::Nearest => 1,
        Between::Linear => 2,
        Between::Cubic => 4,
    }
}

/// Writes the element indices and weights of the taps along a dimension.
fn along(sampling: &Sampling, axis: usize, grid: &str, block: &mut Block<'_>) {
    let (extent, axes) = (sampling.extents[axis], sampling.extents.len());
    let (taps, last) = (taps(sampling), extent as f64 - 1.0);
    let at = format!(
        "{grid} + ((image * {} + point) * {axes} + {}) * {}",
        sampling.points,
        axes - 1 - axis,
        sampling.grid.size()
    );
    let number = read(sampling.grid, &at);
    let place = match sampling.coordinates {
        Coordinates::HalfPixel => format!("((number + 1.0) * {extent}.0 - 1.0) / 2.0"),
        Coordinates::AlignCorners => format!("(number + 1.0) * {last:.1} / 2.0"),
        Coordinates::Pixel => "number".to_owned(),
    };
    let place = match sampling.between {
        Between::Nearest => format!("mind_round_f64({place})"),
        Between::Linear | Between::Cubic => place,
    };
    // Far enough outside, all taps of a cubic are the nearest element.
    let margin = match sampling.between {
        Between::Nearest | Between::Linear => 0.0,
        Between::Cubic => 2.0,
    };
    block.open("{");
    block.line(format_args!("const double number = {number};"));
    block.line(format_args!(
        "const double place = {};",
        moved(sampling, &place, margin, last)
    ));
    block.line("const double base = mind_floor_f64(place);");
    block.line("is_number &= place == place;");
    match sampling.between {
        Between::Nearest => block.line(format_args!("weights[{axis}][0] = 1.0;")),
        Between::Linear => {
            block.line(format_args!("weights[{axis}][0] = 1.0 - (place - base);"));
            block.line(format_args!("weights[{axis}][1] = place - base;"));
        }
        Between::Cubic => block.line(format_args!(
            "mind_cubic_weights(place - base, weights[{axis}]);"
        )),
    }
    let first = match sampling.between {
        Between::Nearest | Between::Linear => "base + tap",
        Between::Cubic => "base + (tap - 1)",
    };
    block.open(format_args!("for (int tap = 0; tap < {taps}; ++tap) {{"));
    block.line(format_args!(
        "elements[{axis}][tap] = mind_whole({}, {last:.1});",
        inside(sampling.beyond, first, 0.0, last)
    ));
    block.close(2);
}

/// Applies the padding to a coordinate before its taps are computed. A cubic reflects each tap instead, so that its
/// coordinate is only replaced by NaN if it is infinite.
fn moved(sampling: &Sampling, place: &str, margin: f64, last: f64) -> String {
    match (sampling.beyond, sampling.between) {
        (Beyond::MirrorCentres | Beyond::MirrorEdges, Between::Cubic) => {
            format!("mind_finite_f64({place})")
        }
        (Beyond::Fill(_) | Beyond::Border, _)
        | (Beyond::MirrorCentres | Beyond::MirrorEdges, Between::Nearest | Between::Linear) => {
            inside(sampling.beyond, place, margin, last)
        }
    }
}

/// Returns an expression that applies the padding to a coordinate; the result is in bounds, or at most `margin` outside
/// of a border.
fn inside(beyond: Beyond, place: &str, margin: f64, last: f64) -> String {
    match beyond {
        Beyond::Fill(_) => place.to_owned(),
        Beyond::Border => {
            let (first, last) = (0.0 - margin, last + margin);
            format!("mind_within({place}, {first:.1}, {last:.1})")
        }
        Beyond::MirrorCentres => format!("mind_mirrored({place}, {last:.1}, 0.0)"),
        Beyond::MirrorEdges => format!("mind_mirrored({place}, {last:.1}, -0.5)"),
    }
}

/// Writes the weighted sum of the taps of a channel, as a chain of multiply-adds.
fn chain(sampling: &Sampling, (from, to): (&str, &str), block: &mut Block<'_>) {
    let Sampling {
        dtype,
        points,
        channels,
        extents,
        has_channels_last,
        ..
    } = sampling;
    let (size, ty, axes) = (dtype.size(), c_type(*dtype), extents.len());
    let suffix = if *dtype == DType::F64 { "f64" } else { "f32" };
    // Dimensions of the image, with the channels last if the layout says so.
    let shape = match has_channels_last {
        true => [&extents[..], &[*channels]].concat(),
        false => extents.clone(),
    };
    let strides = row_major(&shape);
    let count: usize = extents.iter().product();
    let (channel, result) = match has_channels_last {
        true => (
            1,
            format!("(image * {points} + point) * {channels} + channel"),
        ),
        false => (
            count,
            format!("(image * {channels} + channel) * {points} + point"),
        ),
    };
    block.line(format_args!(
        "const unsigned char *const from = {from} + (image * {} + channel * {channel}) * {size};",
        count * channels
    ));
    let nan = number(*dtype, f64::NAN);
    block.line(format_args!("{ty} sum = is_number ? 0 : {nan};"));
    block.open("if (is_number) {");
    for axis in 0..axes {
        block.open(format_args!(
            "for (int t{axis} = 0; t{axis} < {}; ++t{axis}) {{",
            taps(sampling)
        ));
    }
    let weights = (0..axes).map(|axis| format!("({ty})weights[{axis}][t{axis}]"));
    let weights: Vec<String> = weights.collect();
    block.line(format_args!("const {ty} weight = {};", weights.join(" * ")));
    let places: Vec<String> = (0..axes)
        .map(|axis| format!("elements[{axis}][t{axis}]"))
        .collect();
    let terms = places.iter().zip(&strides);
    let place = sum(terms.map(|(name, &stride)| (name.as_str(), stride)));
    let element = read(*dtype, &format!("from + ({place}) * {size}"));
    let element = match sampling.beyond {
        Beyond::Fill(fill) => {
            let inside: Vec<String> = places.iter().map(|own| format!("{own} >= 0")).collect();
            format!(
                "{} ? {element} : {}",
                inside.join(" && "),
                number(*dtype, f64::from_bits(fill))
            )
        }
        Beyond::Border | Beyond::MirrorCentres | Beyond::MirrorEdges => element,
    };
    block.line(format_args!("const {ty} element = {element};"));
    block.line(format_args!(
        "sum = mind_fma_{suffix}(element, weight, sum);"
    ));
    block.close(axes + 1);
    let to = format!("{to} + ({result}) * {size}");
    block.line(stored(*dtype, &to, "sum"));
}

/// A constant of the computation type.
fn number(dtype: DType, x: f64) -> String {
    if dtype == DType::F64 {
        constant(Lane::F64, x.to_bits())
    } else {
        constant(Lane::F32, u64::from((x as f32).to_bits()))
    }
}
