//! Images at other places: resized, and at the coordinates of a grid.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim, Shape};
use mind_ir::verify::{InferResult, VerifyError};

pub use crate::convolve::Layout;
pub use crate::eval::grid::{GridCoordinates, GridPadding, GridSampling, Images};
pub use crate::eval::resize::{
    Coordinates, Filter, Interpolation, ResizedAxis, Rounding, Sample, computed_dtype,
};

use crate::axes::{named, resolve};
use crate::eval::convert::cast;
use crate::eval::resize::resize;
use crate::extent::agree;

ops! {
    /// `input` with extents `sizes` along `axes`, and what `mode` says between its elements.
    ///
    /// Element `o` of `m` is at the coordinate of `n` elements that `coordinates` names, where the scale `s` is `m / n` or
    /// that in `scales`: `half_pixel` `(o + 1/2) / s - 1/2`; `pytorch_half_pixel` the same, and 0 if `m` is 1;
    /// `half_pixel_symmetric` about the centre of `s n` elements; `asymmetric` `o / s`; `align_corners`
    /// `o (n - 1) / (m - 1)`, and 0 if `m` is 1; `align_centre` the same, and `(n - 1) / 2`; `offset`
    /// `(o + 1/2) max(n - 1, 1) / m`; `mil_default` `o (n - n / m) / max(m - 1, 1)`; `crop`, evenly from the start of a
    /// region to its end, of which 1 is index `n - 1`: `scales` has the starts for all axes, then the ends, and elements at
    /// coordinates outside of the input are `fill`.
    ///
    /// `nearest` rounds the coordinate as the attribute `nearest` says. `linear` is a line between the two elements about
    /// the coordinate, which is moved into the input first. `cubic` has four taps with coefficient `cubic_a`, those
    /// outside being the nearest elements; with `exclude_outside` they are left out and the weights divided by their sum.
    /// `antialias` makes the filter `max(1, 1 / s)` times as long and divides its weights by their sum.
    ///
    /// Shapes: `sizes` along `axes`.
    /// Order: one axis after the other, the last first, in `f32`, or `f64` for `f64` and integers of 32 and more bits,
    /// rounded once at the end, integers to nearest even and to the nearest of the dtype. Coordinates and weights are computed in `f64`, products first.
    /// `linear` is `fma(high, part, low * (1 - part))`, and `low` where `part` is 0; else a chain of fused multiply-adds
    /// over the taps. `nearest` moves elements.
    /// Errors: E2005 `bool`, E3002 `scales` not of rank 1, E3003 no element to resize, or numbers in `scales` that do not
    /// fit, E3004 axis out of range, E3005 duplicate axis, E4006 lists of different length, E4010 a negative size.
    /// Source: this compiler; ONNX `Resize` and `Upsample`, MIL `resize`, `resize_bilinear`, `upsample_bilinear` and others.
    Resize = "core.resize" {
        operands: (input: Num),
        optional: (scales: Float),
        attrs: {
            axes "ax": Ints, sizes "sz": Ints, mode "m": Interpolation = Interpolation::Nearest,
            coordinates "c": Coordinates = Coordinates::HalfPixel, nearest "n": Rounding = Rounding::PreferFloor,
            cubic_a "a": Float = -0.75, exclude_outside "x": Bool = false, antialias "aa": Bool = false,
            fill "f": Float = 0.0,
        },
        traits: [Pure, Extended],
        names: { core: "Resize", mic1: "resize" },
        infer: infer_resize,
        eval: eval_resize,
    }

    /// The elements of `input` at the coordinates in `grid`, and what `mode` says between them.
    ///
    /// Images are `[N, s.., C]` in layout `nhwc` and `[N, C, s..]` in `nchw`. `grid` is `[N, o.., r]`: for each element of
    /// the result a coordinate for each of `r` spatial dimensions, that of the innermost first. Along `n` elements
    /// coordinates are from -1 to 1: with `half_pixel` from the edge before the first element to that behind the last,
    /// with `align_corners` from the centre of the first to that of the last; with `pixel` they are indices. `nearest`
    /// rounds them to even; `linear` has two taps along each dimension, `cubic` four, with coefficient -0.75. Taps beyond
    /// the ends are `fill` with `constant`; `border` moves each tap to the nearest element, and `reflect` mirrors it, about
    /// the edges for `half_pixel` and else about the centres of the first and the last element; `symmetric` mirrors about
    /// the edges. `nearest` and `linear` move and mirror the coordinate in the same way before they take taps; `cubic` moves
    /// and mirrors the taps alone. A coordinate that is NaN, or infinite and mirrored, gives NaN.
    ///
    /// Shapes: `[N, o.., C]` or `[N, C, o..]`.
    /// Order: one chain of fused multiply-adds over the taps, row-major, in `f32` (`f64` for `f64`); the weights of a tap
    /// are multiplied in the order of the dimensions. Coordinates and weights are computed in `f64`.
    /// Errors: E2005 not a float, E3002 rank not 3 to 5, or different ranks, E3003 batches or coordinates that do not fit,
    /// or no element to sample.
    /// Source: this compiler; ONNX `GridSample`, MIL `resample`.
    GridSample = "core.grid_sample" {
        operands: (input: Float, grid: Float),
        attrs: {
            layout "l": Layout = Layout::Nhwc, mode "m": Interpolation = Interpolation::Linear,
            coordinates "c": GridCoordinates = GridCoordinates::HalfPixel,
            padding "p": GridPadding = GridPadding::Constant, fill "f": Float = 0.0,
        },
        traits: [Pure, Extended],
        names: { core: "GridSample", mic1: "grid_sample" },
        infer: infer_grid_sample,
        eval: eval_grid_sample,
    }
}

impl Resize {
    /// What holds for every axis.
    pub fn filter(self, g: &Graph) -> Filter {
        Filter {
            mode: self.mode(g),
            coordinates: self.coordinates(g),
            nearest: self.nearest(g),
            cubic_a: self.cubic_a(g),
            exclude_outside: self.exclude_outside(g),
            antialias: self.antialias(g),
            fill: self.fill(g),
        }
    }

    /// How many numbers `scales` has.
    fn numbers(self, g: &Graph) -> usize {
        let each = match self.coordinates(g) {
            Coordinates::Crop => 2,
            Coordinates::HalfPixel
            | Coordinates::PytorchHalfPixel
            | Coordinates::HalfPixelSymmetric
            | Coordinates::Asymmetric
            | Coordinates::AlignCorners
            | Coordinates::AlignCentre
            | Coordinates::Offset
            | Coordinates::MilDefault => 1,
        };
        each * self.axes(g).len()
    }

    /// The axes, in ascending order, of an input with these extents, resized by `scales`.
    ///
    /// # Errors
    ///
    /// `scales` has too many numbers, or too few.
    ///
    /// # Panics
    ///
    /// If the op is not verified.
    pub fn resized_by(
        self,
        cx: &EvalCx<'_>,
        extents: &[usize],
        scales: Option<&Tensor>,
    ) -> Result<Vec<ResizedAxis>, EvalError> {
        let numbers = match scales {
            Some(scales) => Some(cast(cx, scales, DType::F64)?),
            None => None,
        };
        let numbers = numbers.as_ref().map(|scales| scales.elements::<f64>());
        if let Some(numbers) = numbers.filter(|numbers| numbers.len() != self.numbers(cx.graph)) {
            let text = format!("{} numbers do not say how to resize", numbers.len());
            return Err(EvalError::Shape(text));
        }
        Ok(self.resized(cx.graph, extents, numbers))
    }

    fn resized(self, g: &Graph, extents: &[usize], numbers: Option<&[f64]>) -> Vec<ResizedAxis> {
        let (axes, sizes) = (self.axes(g), self.sizes(g));
        let crops = self.coordinates(g) == Coordinates::Crop;
        let resized = (0..axes.len()).map(|at| {
            let dimension = resolve("resize", axes[at], extents.len()).expect("a verified axis");
            let number = |at: usize| numbers.and_then(|numbers| numbers.get(at).copied());
            ResizedAxis {
                dimension,
                extent: extents[dimension],
                size: sizes[at] as usize,
                scale: number(at).filter(|_| !crops),
                region: match (number(at), number(axes.len() + at)) {
                    (Some(start), Some(end)) if crops => [start, end],
                    _ => [0.0, 1.0],
                },
            }
        });
        let mut resized: Vec<ResizedAxis> = resized.collect();
        resized.sort_by_key(|axis| axis.dimension);
        resized
    }
}

fn infer_resize(op: Resize, g: &Graph) -> InferResult {
    let input = g.ty(op.input(g));
    let (axes, sizes) = (op.axes(g), op.sizes(g));
    named("resize", axes, input.rank())?;
    if axes.len() != sizes.len() {
        let (op, rank, found) = ("resize", axes.len(), sizes.len());
        return Err(Box::new(VerifyError::IndexCount { op, rank, found }));
    }
    if sizes.iter().any(|&size| size < 0) {
        return Err(Box::new(VerifyError::Window {
            what: "sizes",
            expected: "integers of 0 or more",
            found: format!("{sizes:?}"),
        }));
    }
    if let Some(scales) = op.scales(g) {
        let scales = g.ty(scales);
        let &[count] = scales.shape else {
            return Err(rank("resize", "scales", "1", scales.rank()));
        };
        let expected = Dim::Fixed(op.numbers(g) as i64);
        let help = "a scale for each axis; for `crop` the starts, then the ends";
        agree(
            g,
            "resize",
            "the numbers of `scales`",
            expected,
            count,
            help,
        )?;
    }
    let mut shape: Shape = input.shape.iter().copied().collect();
    for (&axis, &size) in axes.iter().zip(sizes) {
        let dimension = resolve("resize", axis, input.rank())?;
        if shape[dimension] == Dim::Fixed(0) && size > 0 {
            return Err(empty(g, "resize", dimension, shape[dimension]));
        }
        shape[dimension] = Dim::Fixed(size);
    }
    Ok(input.with_shape(shape).into())
}

fn rank(op: &'static str, operand: &'static str, expected: &str, found: usize) -> Box<VerifyError> {
    let expected = expected.to_owned();
    Box::new(VerifyError::Rank {
        op,
        operand,
        expected,
        found,
    })
}

fn empty(g: &Graph, op: &'static str, dimension: usize, found: Dim) -> Box<VerifyError> {
    Box::new(VerifyError::Extent {
        op,
        dimension: format!("dimension {dimension}"),
        expected: "1 or more".to_owned(),
        found: found.display(g.symbols()).to_string(),
        help: "there is no element to sample",
    })
}

fn eval_resize(op: Resize, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let g = cx.graph;
    let axes = op.resized_by(cx, operands[0].shape(), operands.get(1).copied())?;
    resize(cx, &op.filter(g), &axes, operands[0])
}

fn infer_grid_sample(op: GridSample, g: &Graph) -> InferResult {
    let (input, grid) = (g.ty(op.input(g)), g.ty(op.grid(g)));
    if !(3..=5).contains(&input.rank()) {
        return Err(rank("grid_sample", "input", "3 to 5", input.rank()));
    }
    if grid.rank() != input.rank() {
        let expected = input.rank().to_string();
        return Err(rank("grid_sample", "grid", &expected, grid.rank()));
    }
    let spatial = input.rank() - 2;
    let (first, channels) = op.layout(g).image(spatial);
    let zero = |&at: &usize| input.shape[at] == Dim::Fixed(0);
    if let Some(at) = (first..first + spatial).find(zero) {
        return Err(empty(g, "grid_sample", at, input.shape[at]));
    }
    let (name, help) = ("grid_sample", "a grid for each image");
    let batch = agree(g, name, "the batch", input.shape[0], grid.shape[0], help)?;
    let (expected, found) = (Dim::Fixed(spatial as i64), grid.shape[spatial + 1]);
    let help = "a coordinate for each spatial dimension";
    agree(
        g,
        name,
        "the last dimension of `grid`",
        expected,
        found,
        help,
    )?;
    let mut shape: Shape = grid.shape[..=spatial].iter().copied().collect();
    shape[0] = batch;
    shape.insert(channels, input.shape[channels]);
    Ok(input.with_shape(shape).into())
}

fn eval_grid_sample(
    op: GridSample,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let g = cx.graph;
    op.sampling(g)
        .sample(cx, op.layout(g), operands[0], operands[1])
}

impl GridSample {
    /// How the grid samples.
    pub fn sampling(self, g: &Graph) -> GridSampling {
        GridSampling {
            mode: self.mode(g),
            coordinates: self.coordinates(g),
            padding: self.padding(g),
            fill: self.fill(g),
        }
    }
}
