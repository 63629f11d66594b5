//! Reductions of windows.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::scalar::Reduction;
use mind_ir::tensor::Tensor;
use mind_ir::types::{Dim, Shape};
use mind_ir::verify::{InferResult, VerifyError};

use crate::eval::sliding::{Divisor, SlideAxis, Sliding, reduce_windows};
use crate::extent::check_extents;
use crate::windows::{WindowAxis, per_dimension};

ops! {
    /// The largest, smallest, sum, product or mean of the elements under a window at every position.
    ///
    /// The lists have an entry for each dimension; `[]` stands for 1 in `strides` and `dilations` and for 0 in `low` and
    /// `high`, the elements that are missing before and after. Taps that lie outside of the input are left out.
    /// `mean` divides by the number of taps inside, or by that of all taps with `count_padding`. Over no tap, `max` is
    /// -inf or the smallest integer, `min` +inf or the largest, `sum` 0, `prod` 1 and the mean of floats NaN; that of
    /// integers has no result.
    ///
    /// Shapes: `floor((n + low + high - ((window - 1) * dilation + 1)) / stride) + 1` for each extent `n`. A symbol keeps
    /// its name where nothing changes, else it gives `?`.
    /// Order: one chain over the taps inside, row-major, from the identity, see docs/numerics.md.
    /// Errors: E2005 `bool`, E3006 fewer than 0 positions, or too many, E4006 lists of another length, E4010 an entry
    /// too small, or too many taps.
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
}

impl ReduceWindow {
    /// How the window slides along each dimension.
    ///
    /// # Errors
    ///
    /// E4006 lists of another length, E4010 an entry too small, or too many taps.
    pub fn axes(self, g: &Graph) -> Result<Vec<WindowAxis>, VerifyError> {
        let rank = g.ty(self.input(g)).rank();
        let list = |what, written, fill, least| {
            per_dimension("reduce_window", rank, what, written, fill, least)
        };
        if self.window(g).len() != rank {
            let (op, found) = ("reduce_window", self.window(g).len());
            return Err(VerifyError::IndexCount { op, rank, found });
        }
        let windows = list("extents", self.window(g), 1, 1)?;
        let strides = list("strides", self.strides(g), 1, 1)?;
        let dilations = list("dilations", self.dilations(g), 1, 1)?;
        let low = list("low", self.low(g), 0, 0)?;
        let high = list("high", self.high(g), 0, 0)?;
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

    /// How the windows slide over an input with these extents.
    ///
    /// # Errors
    ///
    /// Fewer than 0 positions, or more than an extent may be.
    ///
    /// # Panics
    ///
    /// If the op is not verified.
    pub fn slides(self, g: &Graph, extents: &[usize]) -> Result<Vec<SlideAxis>, EvalError> {
        let axes = self.axes(g).expect("verified lists");
        let axes = axes.iter().zip(extents).zip(self.window(g));
        let slides = axes.map(|((axis, &extent), &window)| axis.slide(extent, window as usize));
        slides.collect()
    }
}

fn infer_reduce_window(op: ReduceWindow, g: &Graph) -> InferResult {
    let input = g.ty(op.input(g));
    let axes = op.axes(g)?.into_iter().zip(op.window(g));
    let positions = axes.zip(input.shape).enumerate();
    let positions = positions.map(|(dimension, ((axis, &window), &extent))| {
        let op = "reduce_window";
        let positions = axis.positions(extent, Dim::Fixed(window));
        positions.ok_or(VerifyError::ExtentOverflow { op, dimension })
    });
    let shape = positions.collect::<Result<Shape, VerifyError>>()?;
    check_extents(g, &shape)?;
    Ok(input.with_shape(shape).into())
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
