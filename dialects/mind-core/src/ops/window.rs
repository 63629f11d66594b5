//! Window reductions (pooling).

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::scalar::Reduction;
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim, Shape, TensorType};
use mind_ir::verify::{InferResult, VerifyError};

use crate::eval::sliding::{Divisor, SlideAxis, Sliding, argmax_windows, reduce_windows};
use crate::extent::check_extents;
use crate::windows::{WindowAxis, per_dimension};

ops! {
    /// Reduces the elements under a sliding window to their maximum, minimum, sum, product or mean at every position.
    ///
    /// The lists have an entry for each dimension. An empty list means 1 for `strides` and `dilations`, and 0 for `low`
    /// and `high`, the padding before and after. Taps outside of the input are skipped. `mean` divides by the number of
    /// taps inside, or by that of all taps with `count_padding`. Without a tap inside, `max` is -inf or the smallest
    /// integer, `min` +inf or the largest, `sum` 0, `prod` 1 and the mean of floats NaN; the mean of integers is an
    /// error.
    ///
    /// Shapes: `floor((n + low + high - ((window - 1) * dilation + 1)) / stride) + 1` for each extent `n`. A symbol
    /// keeps its name if the extent does not change, else it gives `?`.
    /// Order: one chain over the taps inside, row-major, from the identity, see docs/numerics.md.
    /// Errors: E2005 `bool`, E3006 a negative or too large number of positions, E4006 lists of another length, E4010 an
    /// entry too small, or too many taps.
    /// Source: this compiler; ONNX `MaxPool` and `AveragePool`, MIL `max_pool` and `avg_pool`, StableHLO
    /// `reduce_window`.
    ReduceWindow = "core.reduce_window" {
        operands: (input: Num),
        attrs: {
            window "w": Ints, strides "s": Ints = &[], dilations "d": Ints = &[], low "lo": Ints = &[],
            high "hi": Ints = &[], kind "k": Reduction, count_padding "cp": Bool = false,
        },
        traits: [Pure, Extended],
        names: { core: "ReduceWindow", mic1: "reduce_window" },
        infer: infer_reduce_window,
        eval: eval_reduce_window,
    }

    /// The row-major index in `input` of the largest element under a sliding window, at every position.
    ///
    /// The lists are as those of `ReduceWindow`. The first of equal elements is chosen; -0 equals +0, and NaN is larger
    /// than every number. Without a tap inside the result is -1.
    ///
    /// Shapes: as `ReduceWindow`; the result is `i64`.
    /// Errors: E2005 `bool`, E3006 a negative or too large number of positions, E4006 lists of another length, E4010 an
    /// entry too small, or too many taps.
    /// Source: this compiler; ONNX `MaxPool`, its second result.
    ArgMaxWindow = "core.argmax_window" {
        operands: (input: Num),
        attrs: {
            window "w": Ints, strides "s": Ints = &[], dilations "d": Ints = &[], low "lo": Ints = &[],
            high "hi": Ints = &[],
        },
        traits: [Pure, Extended],
        names: { core: "ArgMaxWindow", mic1: "argmax_window" },
        infer: infer_argmax_window,
        eval: eval_argmax_window,
    }
}

/// The list attributes of an op with a window along every dimension.
struct Windows<'g> {
    op: &'static str,
    window: &'g [i64],
    strides: &'g [i64],
    dilations: &'g [i64],
    low: &'g [i64],
    high: &'g [i64],
}

impl Windows<'_> {
    /// Returns the validated window along each of `rank` dimensions.
    ///
    /// # Errors
    ///
    /// E4006 lists of another length, E4010 an entry too small, or too many taps.
    fn axes(&self, rank: usize) -> Result<Vec<WindowAxis>, VerifyError> {
        let list =
            |what, written, fill, least| per_dimension(self.op, rank, what, written, fill, least);
        if self.window.len() != rank {
            let (op, found) = (self.op, self.window.len());
            return Err(VerifyError::IndexCount { op, rank, found });
        }
        let windows = list("extents", self.window, 1, 1)?;
        let strides = list("strides", self.strides, 1, 1)?;
        let dilations = list("dilations", self.dilations, 1, 1)?;
        let low = list("low", self.low, 0, 0)?;
        let high = list("high", self.high, 0, 0)?;
        let taps = windows
            .iter()
            .try_fold(1i64, |taps, &own| taps.checked_mul(own));
        if taps.is_none() {
            return Err(VerifyError::Window {
                what: "taps",
                expected: "fewer than 2^63",
                found: format!("{windows:?}"),
            });
        }
        let axes = (0..rank).map(|at| WindowAxis {
            stride: strides[at],
            dilation: dilations[at],
            low: low[at],
            high: high[at],
        });
        Ok(axes.collect())
    }

    /// Returns the number of positions along each dimension of an input of this shape.
    ///
    /// # Errors
    ///
    /// Those of [`axes`](Windows::axes), E3006 a negative or too large number of positions.
    fn positions(&self, g: &Graph, input: &[Dim]) -> Result<Shape, VerifyError> {
        let axes = self.axes(input.len())?.into_iter().zip(self.window);
        let positions = axes.zip(input).enumerate();
        let positions = positions.map(|(dimension, ((axis, &window), &extent))| {
            let positions = axis.positions(extent, Dim::Fixed(window));
            let op = self.op;
            positions.ok_or(VerifyError::ExtentOverflow { op, dimension })
        });
        let shape = positions.collect::<Result<Shape, VerifyError>>()?;
        check_extents(g, &shape)?;
        Ok(shape)
    }

    /// Returns the sliding window along each dimension of an input with these extents.
    ///
    /// # Errors
    ///
    /// A negative or too large number of positions.
    ///
    /// # Panics
    ///
    /// If the lists are not verified.
    fn slides(&self, extents: &[usize]) -> Result<Vec<SlideAxis>, EvalError> {
        let axes = self.axes(extents.len()).expect("verified lists");
        let axes = axes.iter().zip(extents).zip(self.window);
        let slides = axes.map(|((axis, &extent), &window)| axis.slide(extent, window as usize));
        slides.collect()
    }
}

impl ReduceWindow {
    fn windows(self, g: &Graph) -> Windows<'_> {
        Windows {
            op: "reduce_window",
            window: self.window(g),
            strides: self.strides(g),
            dilations: self.dilations(g),
            low: self.low(g),
            high: self.high(g),
        }
    }

    /// Returns the window along each dimension.
    ///
    /// # Errors
    ///
    /// E4006 lists of another length, E4010 an entry too small, or too many taps.
    pub fn axes(self, g: &Graph) -> Result<Vec<WindowAxis>, VerifyError> {
        self.windows(g).axes(g.ty(self.input(g)).rank())
    }

    /// Returns the sliding window along each dimension of an input with these extents.
    ///
    /// # Errors
    ///
    /// A negative or too large number of positions.
    ///
    /// # Panics
    ///
    /// If the op is not verified.
    pub fn slides(self, g: &Graph, extents: &[usize]) -> Result<Vec<SlideAxis>, EvalError> {
        self.windows(g).slides(extents)
    }
}

impl ArgMaxWindow {
    fn windows(self, g: &Graph) -> Windows<'_> {
        Windows {
            op: "argmax_window",
            window: self.window(g),
            strides: self.strides(g),
            dilations: self.dilations(g),
            low: self.low(g),
            high: self.high(g),
        }
    }

    /// Returns the sliding window along each dimension of an input with these extents.
    ///
    /// # Errors
    ///
    /// A negative or too large number of positions.
    ///
    /// # Panics
    ///
    /// If the op is not verified.
    pub fn slides(self, g: &Graph, extents: &[usize]) -> Result<Vec<SlideAxis>, EvalError> {
        self.windows(g).slides(extents)
    }
}

fn infer_reduce_window(op: ReduceWindow, g: &Graph) -> InferResult {
    let input = g.ty(op.input(g));
    let shape = op.windows(g).positions(g, input.shape)?;
    Ok(input.with_shape(shape).into())
}

fn infer_argmax_window(op: ArgMaxWindow, g: &Graph) -> InferResult {
    let shape = op.windows(g).positions(g, g.ty(op.input(g)).shape)?;
    Ok(TensorType::new(DType::I64, shape).into())
}

fn eval_reduce_window(
    op: ReduceWindow,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let (g, input) = (cx.graph, operands[0]);
    let axes = op.slides(g, input.shape())?;
    let divisor = if op.count_padding(g) {
        Divisor::Window
    } else {
        Divisor::Inside
    };
    let windows = Sliding::dense(&axes, None);
    reduce_windows(cx, op.kind(g), &windows, divisor, input)
}

fn eval_argmax_window(
    op: ArgMaxWindow,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let input = operands[0];
    let axes = op.windows(cx.graph).slides(input.shape())?;
    argmax_windows(cx, &Sliding::dense(&axes, None), input)
}
