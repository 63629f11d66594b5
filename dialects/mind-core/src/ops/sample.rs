//! Resampling of images: resizing, and sampling at the coordinates of a grid.

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
    /// `input` resized to extents `sizes` along `axes`, with interpolation by `mode`.
    ///
    /// `coordinates` maps element `o` of `m` to a coordinate along the `n` elements of `input`. The scale `s` is
    /// `m / n` or that in `scales`: `half_pixel` `(o + 1/2) / s - 1/2`; `pytorch_half_pixel` the same, but 0 if `m` is
    /// 1; `half_pixel_symmetric` centred in `s n` elements; `asymmetric` `o / s`; `align_corners`
    /// `o (n - 1) / (m - 1)`, but 0 if `m` is 1; `align_centre` the same, but `(n - 1) / 2` if `m` is 1; `offset`
    /// `(o + 1/2) max(n - 1, 1) / m`; `mil_default` `o (n - n / m) / max(m - 1, 1)`; `crop`, evenly from the start of a
    /// region to its end, in units where 1 is index `n - 1`: `scales` has the starts for all axes, then the ends, and
    /// elements at coordinates outside of the input are `fill`.
    ///
    /// Mode `nearest` rounds the coordinate by the attribute `nearest`. `linear` interpolates between the two elements
    /// around the coordinate, which is first clamped to the input. `cubic` has four taps with coefficient `cubic_a`;
    /// taps outside are the nearest elements, or with `exclude_outside` are dropped and the other weights divided by
    /// their sum. `antialias` stretches the filter by `max(1, 1 / s)` and divides its weights by their sum.
    ///
    /// Shapes: `sizes` along `axes`.
    /// Order: one axis after the other, the last first, in `f32`, or `f64` for `f64` and integers of 32 and more bits,
    /// rounded once at the end; integers round to nearest, ties to even, and saturate. Coordinates and weights are
    /// computed in `f64`, products first. `linear` is `fma(high, part, low * (1 - part))`, and `low` where `part` is 0;
    /// other filters are a chain of fused multiply-adds over the taps. `nearest` copies elements.
    /// Errors: E2005 `bool`, E3002 `scales` not of rank 1, E3003 no element to resize, or a wrong number of `scales`,
    /// E3004 axis out of range, E3005 duplicate axis, E4006 lists of different length, E4010 a negative size.
    /// Source: this compiler; ONNX `Resize` and `Upsample`, MIL `resize`, `resize_bilinear`, `upsample_bilinear` and
    /// others.
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

    /// `input` sampled at the coordinates in `grid`, with interpolation by `mode`.
    ///
    /// Images are `[N, s.., C]` in layout `nhwc` and `[N, C, s..]` in `nchw`. `grid` is `[N, o.., r]`: for each element
    /// of the result a coordinate for each of `r` spatial dimensions, that of the innermost first. Coordinates along an
    /// axis are from -1 to 1: with `half_pixel` from the outer edge of the first element to that of the last, with
    /// `align_corners` from the centre of the first to that of the last; with `pixel` they are indices. `nearest`
    /// rounds them, ties to even; `linear` has two taps along each dimension, and `cubic` four, with coefficient -0.75.
    /// Taps outside are `fill` with `constant`; `border` clamps each tap to the nearest element, and `reflect` reflects
    /// it, about the edges for `half_pixel` and otherwise about the centres of the first and the last element;
    /// `symmetric` reflects about the edges. `nearest` and `linear` clamp and reflect the coordinate in the same way
    /// before they take taps; `cubic` clamps and reflects only the taps. A coordinate that is NaN, or infinite and
    /// reflected, gives NaN.
    ///
    /// Shapes: `[N, o.., C]` or `[N, C, o..]`.
    /// Order: one chain of fused multiply-adds over the taps, row-major, in `f32` (`f64` for `f64`); the weights of a
    /// tap are multiplied in the order of the dimensions. Coordinates and weights are computed in `f64`.
    /// Errors: E2005 not a float, E3002 rank not 3 to 5, or different ranks, E3003 batches or coordinates that do not
    /// match, or no element to sample.
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
    /// Returns the attributes that all axes share.
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

    /// Returns the expected number of elements of `scales`.
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

    /// Returns the axes, in ascending order, of an input with these extents, resized by `scales`.
    ///
    /// # Errors
    ///
    /// `scales` has a wrong number of elements.
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
            let text = format!("wrong number of elements of `scales`: {}", numbers.len());
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
        help: "an empty axis cannot be resized or sampled",
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
    /// Returns the attributes of the sampling.
    pub fn sampling(self, g: &Graph) -> GridSampling {
        GridSampling {
            mode: self.mode(g),
            coordinates: self.coordinates(g),
            padding: self.padding(g),
            fill: self.fill(g),
        }
    }
}
