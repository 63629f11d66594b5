//! Where the elements of a resized image lie in the image.

use mind_ir::verify::VerifyError;

use crate::call::Call;

/// A place between two elements of an axis: so much of the one at `low`, the rest of the one at `high`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sample {
    /// The element at or below the place.
    pub low: usize,
    /// The element above it, or the last.
    pub high: usize,
    /// How much of `high` there is, from 0 to 1.
    pub part: f32,
}

/// The axes that an op gives other extents, counted from the front, and what each of their positions samples.
pub type Axes = Vec<(usize, Vec<Sample>)>;

/// Where the samples of an axis lie, as positions in the input from 0 to its extent less 1.
///
/// `mode` is a `sampling_mode`; source: Core ML MIL, `resize_bilinear`, "Notes".
fn positions(mode: &str, extent: usize, out: usize) -> Vec<f64> {
    let (last, size, steps) = (extent as f64 - 1.0, extent as f64, out as f64);
    let apart = if out > 1 { steps - 1.0 } else { 1.0 };
    let place = |at: f64| match mode {
        "ALIGN_CORNERS" if out == 1 => last / 2.0,
        "ALIGN_CORNERS" | "STRICT_ALIGN_CORNERS" => at * (last / apart),
        "OFFSET_CORNERS" => (at + 0.5) * (last.max(1.0) / steps),
        "UNALIGN_CORNERS" => (at + 0.5) * (size / steps) - 0.5,
        _ => at * ((size - size / steps) / apart),
    };
    (0..out)
        .map(|at| place(at as f64).clamp(0.0, last.max(0.0)))
        .collect()
}

fn sample(place: f64, extent: usize, nearest: bool) -> Sample {
    let low = place as usize;
    let part = if nearest { 0.0 } else { place - low as f64 };
    Sample {
        low,
        high: (low + 1).min(extent - 1),
        part: part as f32,
    }
}

/// The sampling mode of an op.
fn mode<'c>(call: &'c Call<'_>) -> &'c str {
    if call.name == "upsample_bilinear" {
        let halves = call.value("half_pixel_centers");
        return match (call.flag("align_corners"), halves) {
            (true, _) => "STRICT_ALIGN_CORNERS",
            (false, Some(_)) if !call.flag("half_pixel_centers") => "DEFAULT",
            _ => "UNALIGN_CORNERS",
        };
    }
    match call.word("sampling_mode") {
        "" => "DEFAULT",
        word => word,
    }
}

/// What each position of the result samples, for `x` of these extents: the last two dimensions, or for `resize`
/// as many as it names. `target` are the extents of the result.
///
/// # Errors
///
/// Nearest elements between which the op's reference does not decide, a dimension without elements.
pub fn axes(call: &Call<'_>, x: &[usize], target: &[usize]) -> Result<Axes, Box<VerifyError>> {
    let nearest = call.name.ends_with("nearest_neighbor")
        || call.word("interpolation_mode") == "NEAREST_NEIGHBOR";
    let mode = mode(call);
    if nearest && mode != "DEFAULT" {
        return Err(call.refused("sampling_mode", mode, "DEFAULT for nearest elements"));
    }
    if x.len() != target.len() || x.contains(&0) {
        let problem = format!("{x:?} is not resized to {target:?}");
        return Err(Box::new(VerifyError::Structure { problem }));
    }
    let changed = (0..x.len()).filter(|&dim| x[dim] != target[dim] || dim + 2 >= x.len());
    let all = changed.map(|dim| {
        let (extent, out) = (x[dim], target[dim]);
        let places = if nearest {
            (0..out).map(|at| (at * extent / out) as f64).collect()
        } else {
            positions(mode, extent, out)
        };
        let samples = places
            .into_iter()
            .map(|place| sample(place, extent, nearest));
        (dim, samples.collect())
    });
    Ok(all.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_lie_where_the_reference_has_them() {
        let near = |found: Vec<f64>, expected: &[f64]| {
            let fits = found
                .iter()
                .zip(expected)
                .all(|(a, b)| (a - b).abs() < 0.005);
            assert!(fits && found.len() == expected.len(), "{found:?}");
        };
        near(
            positions("UNALIGN_CORNERS", 2, 5),
            &[0.0, 0.1, 0.5, 0.9, 1.0],
        );
        near(
            positions("ALIGN_CORNERS", 2, 5),
            &[0.0, 0.25, 0.5, 0.75, 1.0],
        );
        near(positions("DEFAULT", 2, 5), &[0.0, 0.4, 0.8, 1.0, 1.0]);
        near(
            positions("OFFSET_CORNERS", 2, 5),
            &[0.1, 0.3, 0.5, 0.7, 0.9],
        );
        near(
            positions("DEFAULT", 2, 6),
            &[0.0, 0.33, 0.67, 1.0, 1.0, 1.0],
        );
        near(positions("ALIGN_CORNERS", 3, 1), &[1.0]);
    }
}
