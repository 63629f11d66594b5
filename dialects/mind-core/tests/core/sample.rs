//! Resizing and grid sampling, compared with the examples of ONNX.

use GridCoordinates::{AlignCorners, HalfPixel, Pixel};
use GridPadding::{Border, Constant, Reflect, Symmetric};
use Interpolation::{Cubic, Linear, Nearest};
use mind_core::ops::sample::{
    Coordinates, GridCoordinates, GridPadding, GridSample, Interpolation, Layout, Resize, Rounding,
};
use mind_core::ops::window::ArgMaxWindow;
use mind_ir::opdef::Op;
use mind_ir::tensor::Tensor;

use crate::run::RUN;

/// The parameters of a resize of a matrix.
#[derive(Clone, Copy)]
struct How {
    sizes: [i64; 2],
    mode: Interpolation,
    coordinates: Coordinates,
    nearest: Rounding,
    cubic_a: f64,
    exclude_outside: bool,
    antialias: bool,
}

const LINEAR: How = How {
    sizes: [4, 4],
    mode: Interpolation::Linear,
    coordinates: Coordinates::HalfPixel,
    nearest: Rounding::PreferFloor,
    cubic_a: -0.75,
    exclude_outside: false,
    antialias: false,
};

const CUBIC: How = How {
    sizes: [8, 8],
    mode: Interpolation::Cubic,
    ..LINEAR
};

fn run(how: How, operands: &[&Tensor]) -> Tensor {
    let attrs = Resize::attrs(
        &[0, 1],
        &how.sizes,
        how.mode,
        how.coordinates,
        how.nearest,
        how.cubic_a,
        how.exclude_outside,
        how.antialias,
        10.0,
    );
    RUN.get(Resize::DEF, &attrs, operands)
}

/// Returns the numbers 1, 2, 3, .. in rows and columns.
fn counted(rows: usize, columns: usize) -> Tensor {
    let numbers = (1..=rows * columns).map(|number| number as f32);
    Tensor::of(vec![rows, columns], numbers.collect::<Vec<f32>>())
}

fn assert_near(found: &Tensor, expected: &[f32]) {
    let found = &found.elements::<f32>()[..expected.len()];
    let near = |(a, b): (&f32, &f32)| (a - b).abs() < 2e-4;
    assert!(
        found.iter().zip(expected).all(near),
        "{found:?}, expected {expected:?}"
    );
}

fn resized(rows: usize, columns: usize, how: How, scales: &[f64], expected: &[f32]) {
    let x = counted(rows, columns);
    let scales = Tensor::of(vec![scales.len()], scales.to_vec());
    let operands = if scales.count() == 0 {
        vec![&x]
    } else {
        vec![&x, &scales]
    };
    assert_near(&run(how, &operands), expected);
}

#[test]
fn lines_between_elements() {
    let first = [1.0, 1.25, 1.75, 2.0, 1.5, 1.75, 2.25, 2.5];
    resized(2, 2, LINEAR, &[], &first);
    resized(2, 2, LINEAR, &[2.0, 2.0], &first);
    let aligned = How {
        coordinates: Coordinates::AlignCorners,
        ..LINEAR
    };
    resized(
        2,
        2,
        aligned,
        &[],
        &[1.0, 1.333_333_4, 1.666_666_6, 2.0, 1.666_666_6],
    );
    let symmetric = How {
        sizes: [1, 2],
        coordinates: Coordinates::HalfPixelSymmetric,
        ..LINEAR
    };
    resized(1, 4, symmetric, &[1.0, 0.6], &[1.666_666_6, 3.333_333_3]);
    let centre = How {
        sizes: [1, 1],
        coordinates: Coordinates::AlignCentre,
        ..LINEAR
    };
    resized(3, 3, centre, &[], &[5.0]);
    let crop = How {
        sizes: [3, 3],
        coordinates: Coordinates::Crop,
        ..LINEAR
    };
    resized(
        4,
        4,
        crop,
        &[0.4, 0.6, 0.6, 0.8],
        &[7.6, 7.9, 8.2, 8.8, 9.1, 9.4, 10.0, 10.3, 10.6],
    );
    let beyond = How {
        sizes: [1, 3],
        ..crop
    };
    resized(1, 3, beyond, &[0.0, -1.0, 0.0, 1.0], &[10.0, 1.0, 3.0]);
}

#[test]
fn cubics_through_four_elements() {
    let plain = [
        0.472_656, 0.769_531, 1.246_094, 1.875, 2.281_25, 2.910_156, 3.386_719, 3.683_594,
    ];
    resized(4, 4, CUBIC, &[], &plain);
    let excluded = [
        0.558_824, 0.814_942, 1.356_982, 1.897_059, 2.397_059, 2.937_135, 3.479_176,
    ];
    resized(
        4,
        4,
        How {
            cubic_a: -0.5,
            exclude_outside: true,
            ..CUBIC
        },
        &[],
        &excluded,
    );
}

#[test]
fn stretched_filters() {
    let smaller = How {
        sizes: [2, 2],
        antialias: true,
        ..LINEAR
    };
    resized(4, 4, smaller, &[0.6, 0.6], &[2.875, 4.5, 9.375, 11.0]);
    let cubic = How {
        mode: Interpolation::Cubic,
        ..smaller
    };
    resized(
        4,
        4,
        cubic,
        &[0.6, 0.6],
        &[2.518_072, 4.285_886, 9.589_329, 11.357_142],
    );
}

#[test]
fn nearest_elements() {
    let row = |coordinates, nearest, expected: &[f32]| {
        let mode = Interpolation::Nearest;
        let how = How {
            mode,
            coordinates,
            nearest,
            ..CUBIC
        };
        resized(4, 4, how, &[], expected);
    };
    let up = [1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0, 4.0];
    row(Coordinates::HalfPixel, Rounding::Ceil, &up);
    row(Coordinates::Asymmetric, Rounding::PreferCeil, &up);
    let down = [1.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0];
    row(Coordinates::AlignCorners, Rounding::Floor, &down);
    row(
        Coordinates::HalfPixel,
        Rounding::PreferFloor,
        &[1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0],
    );
}

#[test]
fn elements_without_a_part_of_others_are_untouched() {
    let infinite = Tensor::of(vec![1, 2], vec![-0.0f32, f32::INFINITY]);
    let how = How {
        sizes: [1, 3],
        coordinates: Coordinates::AlignCorners,
        ..LINEAR
    };
    let found = run(how, &[&infinite]);
    let found = found.elements::<f32>();
    assert_eq!(found[0].to_bits(), (-0.0f32).to_bits());
    assert_eq!(found[2], f32::INFINITY);
    let whole = Tensor::of(vec![1, 2], vec![100i8, 127]);
    let found = run(
        How {
            sizes: [1, 4],
            ..CUBIC
        },
        &[&whole],
    );
    assert_eq!(found.elements::<i8>(), &[97, 106, 121, 127]);
}

#[test]
fn a_scale_that_is_no_number_is_refused() {
    let x = counted(1, 2);
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-9] {
        let scales = Tensor::of(vec![2], vec![1.0, scale]);
        let how = How {
            sizes: [1, 4],
            antialias: true,
            ..LINEAR
        };
        let attrs = Resize::attrs(
            &[0, 1],
            &how.sizes,
            how.mode,
            how.coordinates,
            how.nearest,
            -0.75,
            false,
            true,
            0.0,
        );
        assert!(
            RUN.eval(Resize::DEF, &attrs, &[&x, &scales]).is_err(),
            "{scale}"
        );
    }
}

fn sampled(mode: Interpolation, padding: GridPadding, grid: &[f32], expected: &[f32]) {
    let image: Vec<f32> = (0..6).map(|number| number as f32).collect();
    let image = Tensor::of(vec![1, 1, 3, 2], image);
    let grid = Tensor::of(
        vec![1, 1, grid.len(), 2],
        grid.iter().flat_map(|&x| [x, x]).collect(),
    );
    let half = GridCoordinates::HalfPixel;
    let attrs = GridSample::attrs(Layout::Nchw, mode, half, padding, 0.0);
    assert_near(
        &RUN.get(GridSample::DEF, &attrs, &[&image, &grid]),
        expected,
    );
}

#[test]
fn grids_sample_images() {
    let (nearest, linear) = (Interpolation::Nearest, Interpolation::Linear);
    let grid = [-10.0, -5.0, -0.2, 10.0, 5.0];
    sampled(
        linear,
        GridPadding::Constant,
        &grid,
        &[0.0, 0.0, 1.7, 0.0, 0.0],
    );
    sampled(
        linear,
        GridPadding::Border,
        &grid,
        &[0.0, 0.0, 1.7, 5.0, 5.0],
    );
    sampled(
        linear,
        GridPadding::Reflect,
        &grid,
        &[2.5, 0.0, 1.7, 2.5, 5.0],
    );
    sampled(
        nearest,
        GridPadding::Constant,
        &grid,
        &[0.0, 0.0, 2.0, 0.0, 0.0],
    );
    let grid = [-1.0, -0.5, -0.2, 0.0, 0.5, 1.0];
    let cubic = [-0.1406, 0.3828, 1.7556, 2.9688, 5.1445, 1.3906];
    sampled(Interpolation::Cubic, GridPadding::Constant, &grid, &cubic);
}

/// Coordinates inside of the image, near its edges and far outside; x before y.
const POINTS: [f32; 16] = [
    -1.1, 0.2, 0.9, -0.9, 1.05, 1.3, -1.6, -1.05, 0.5, 0.5, 2.4, -3.7, -0.95, 1.0, 11.3, 0.0,
];

/// Samples of a 3 by 4 image at [`POINTS`] for each combination of attributes.
///
/// Source: `torch.nn.functional.grid_sample` of PyTorch 1.13, with which ONNX Runtime 1.32 agrees to six digits.
#[rustfmt::skip]
const SAMPLES: [(GridCoordinates, Interpolation, GridPadding, [f32; 8]); 18] = [
    (HalfPixel, Nearest, Constant, [0.0, 1.125, 0.0, 0.0, 12.5, 0.0, 8.0, 0.0]),
    (HalfPixel, Nearest, Border, [2.0, 1.125, 15.125, 0.0, 12.5, 1.125, 8.0, 6.125]),
    (HalfPixel, Nearest, Reflect, [2.0, 1.125, 15.125, 0.125, 12.5, 3.125, 8.0, 2.0]),
    (HalfPixel, Linear, Constant, [1.14, 0.51188, 0.3025, 0.0, 11.6875, 0.0, 2.4, 0.0]),
    (HalfPixel, Linear, Border, [3.8, 1.125, 15.125, 0.0, 11.6875, 1.125, 8.0, 6.125]),
    (HalfPixel, Linear, Reflect, [3.8, 1.125, 15.125, 0.0875, 11.6875, 5.8025, 8.0, 2.1125]),
    (HalfPixel, Cubic, Constant, [1.11573, 0.17499, 0.24448, 0.00736, 15.12274, 0.0, 2.66738, 0.0]),
    (HalfPixel, Cubic, Border, [3.82295, 0.62715, 15.33016, -0.15579, 12.24963, 1.125, 8.32287, 6.125]),
    (HalfPixel, Cubic, Reflect, [3.656, 0.34344, 15.92453, -0.42972, 12.24963, 5.86001, 8.70875, 2.08297]),
    (AlignCorners, Nearest, Constant, [2.0, 1.125, 15.125, 0.0, 12.5, 0.0, 8.0, 0.0]),
    (AlignCorners, Nearest, Border, [2.0, 1.125, 15.125, 0.0, 12.5, 1.125, 8.0, 6.125]),
    (AlignCorners, Nearest, Reflect, [2.0, 1.125, 15.125, 0.125, 12.5, 3.125, 8.0, 2.0]),
    (AlignCorners, Linear, Constant, [2.72, 1.51625, 9.79344, 0.0, 9.03125, 0.0, 8.15938, 0.0]),
    (AlignCorners, Linear, Border, [3.2, 1.51625, 15.125, 0.0, 9.03125, 1.125, 8.15938, 6.125]),
    (AlignCorners, Linear, Reflect, [3.39875, 1.51625, 12.25063, 0.2575, 9.03125, 5.0825, 8.15938, 2.50625]),
    (AlignCorners, Cubic, Constant, [2.88306, 1.5805, 11.27687, -0.00613, 11.27631, 0.0, 8.50381, 0.0]),
    (AlignCorners, Cubic, Border, [3.13445, 1.3913, 16.24889, -0.0683, 9.58533, 1.125, 8.11878, 6.125]),
    (AlignCorners, Cubic, Reflect, [3.43398, 1.14641, 13.82093, 0.0945, 10.44775, 5.49086, 8.01651, 2.26958]),
];

#[test]
fn every_mode_and_padding_samples_as_torch_does() {
    let image: Vec<f32> = (0..12).map(|at| (at * at) as f32 / 8.0).collect();
    let image = Tensor::of(vec![1, 1, 3, 4], image);
    let grid = Tensor::of(vec![1, 1, 8, 2], POINTS.to_vec());
    for (coordinates, mode, padding, expected) in SAMPLES {
        let attrs = GridSample::attrs(Layout::Nchw, mode, coordinates, padding, 0.0);
        let found = RUN.get(GridSample::DEF, &attrs, &[&image, &grid]);
        let found = found.elements::<f32>();
        let near = |(a, b): (&f32, &f32)| (a - b).abs() < 2e-5 * (1.0 + b.abs());
        assert!(
            found.iter().zip(&expected).all(near),
            "{coordinates:?} {mode:?} {padding:?}: {found:?}, expected {expected:?}"
        );
    }
}

#[test]
fn taps_of_a_cubic_are_reflected_one_by_one() {
    let image = Tensor::of(vec![1, 1, 4], vec![1.0f32, 2.0, 4.0, 8.0]);
    let at = |coordinates, padding, x: f32| {
        let grid = Tensor::of(vec![1, 1, 1], vec![x]);
        let attrs = GridSample::attrs(Layout::Nchw, Cubic, coordinates, padding, 0.0);
        let found = RUN.get(GridSample::DEF, &attrs, &[&image, &grid]);
        found.elements::<f32>()[0]
    };
    assert_eq!(at(HalfPixel, Reflect, 1.0), 8.75);
    // Pixel coordinates, reflected about the edges of the elements.
    assert_eq!(at(Pixel, Symmetric, 3.5), 8.75);
    // Index 0.25 is the reflection about the centre of the first element.
    assert_eq!(at(Pixel, Reflect, -0.25), at(Pixel, Reflect, 0.25));
    for padding in [Reflect, Symmetric] {
        assert!(at(Pixel, padding, f32::INFINITY).is_nan());
    }
}

#[test]
fn grids_that_are_not_numbers_sample_nothing() {
    let image = Tensor::of(vec![1, 2, 1], vec![1.0f32, 2.0]);
    let grid = Tensor::of(vec![1, 4, 1], vec![f32::NAN, f32::INFINITY, -1e30, 0.0]);
    let run = |padding, coordinates| {
        let attrs = GridSample::attrs(
            Layout::Nhwc,
            Interpolation::Linear,
            coordinates,
            padding,
            7.0,
        );
        let found = RUN.get(GridSample::DEF, &attrs, &[&image, &grid]);
        found.elements::<f32>().to_vec()
    };
    let found = run(GridPadding::Constant, GridCoordinates::Pixel);
    assert!(found[0].is_nan());
    assert_eq!(found[2..], [7.0, 1.0]);
    let found = run(GridPadding::Border, GridCoordinates::AlignCorners);
    assert_eq!(found[1..], [2.0, 1.0, 1.5]);
    assert!(run(GridPadding::Symmetric, GridCoordinates::Pixel)[1].is_nan());
}

#[test]
fn places_of_the_largest_elements() {
    let x = Tensor::of(vec![2, 3], vec![1.0f32, 5.0, 5.0, f32::NAN, 0.0, -0.0]);
    let run = |window: &[i64], strides: &[i64], low: &[i64]| {
        let attrs = ArgMaxWindow::attrs(window, strides, &[], low, &[]);
        let found = RUN.get(ArgMaxWindow::DEF, &attrs, &[&x]);
        (found.shape().to_vec(), found.elements::<i64>().to_vec())
    };
    assert_eq!(run(&[1, 2], &[], &[]), (vec![2, 2], vec![1, 1, 3, 4]));
    assert_eq!(run(&[2, 2], &[], &[]), (vec![1, 2], vec![3, 1]));
    assert_eq!(
        run(&[1, 1], &[2, 2], &[1, 1]),
        (vec![2, 2], vec![-1, -1, -1, 4])
    );
}
