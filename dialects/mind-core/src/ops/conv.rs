//! Two-dimensional convolution.

use mind_ir::attr::Padding;
use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::tensor::Tensor;
use mind_ir::types::{Dim, TypeView, shape_text};
use mind_ir::verify::{InferResult, VerifyError};

use crate::eval::contraction::evaluate;
use crate::eval::conv::{Axis, Convolution};

ops! {
    /// Two-dimensional convolution of NHWC `input` with HWCF `filter`.
    ///
    /// Shapes: `[N, H, W, C] [Kh, Kw, C, F] -> [N, Ho, Wo, F]`;
    /// `Ho = floor((H + top + bottom - Kh) / stride) + 1`. `Valid` does not pad; `Same` gives `Ho = ceil(H / stride)`,
    /// with an odd element of padding at the end; `Custom` lists the pads.
    /// Order: one chain of fused multiply-adds over (kh, kw, c), a padded tap adding a product with +0.
    /// Errors: E2004 different dtypes, E2005 `bool`, E3002 rank not 4, E3006 a negative or too large number of output
    /// positions, E4009 channels differ, E4010 strides or padding.
    /// Source: mind-spec v1.0 ir.md, "Linear and tensor algebra".
    Conv2d = "core.conv2d" {
        operands: (input: Num, filter: Num),
        attrs: { strides "s": Ints = &[1, 1], padding "p": Pad = Padding::Valid },
        traits: [Pure, SameDType],
        names: { core: "Conv2d", mic1: "conv2d" },
        infer: infer_conv2d,
        eval: eval_conv2d,
    }
}

fn infer_conv2d(op: Conv2d, g: &Graph) -> InferResult {
    let (input, filter) = (g.ty(op.input(g)), g.ty(op.filter(g)));
    convolved_type(g, "conv2d", input, filter, op.strides(g), op.padding(g))
}

/// Infers the type of a convolution, for the op named `name`.
///
/// # Errors
///
/// E3002 rank not 4, E3006 a negative or too large number of output positions, E4009 channels differ, E4010 strides or
/// padding.
pub fn convolved_type(
    g: &Graph,
    name: &'static str,
    input: TypeView<'_>,
    filter: TypeView<'_>,
    written: &[i64],
    padding: Padding<'_>,
) -> InferResult {
    for (operand, ty) in [("input", input), ("filter", filter)] {
        if ty.rank() != 4 {
            let (op, expected, found) = (name, "4".to_owned(), ty.rank());
            return Err(Box::new(VerifyError::Rank {
                op,
                operand,
                expected,
                found,
            }));
        }
    }
    if input.shape[3].meet(filter.shape[2]).is_none() {
        let text = |dim: Dim| dim.display(g.symbols()).to_string();
        let (input, filter) = (text(input.shape[3]), text(filter.shape[2]));
        return Err(Box::new(VerifyError::Channels { input, filter }));
    }
    let strides = strides(written)?;
    let pads = custom_pads(padding)?;
    let spatial = |axis: usize| {
        let positions = window_positions(
            input.shape[1 + axis],
            filter.shape[axis],
            strides[axis],
            pads.map(|p| p[axis]),
            padding,
        );
        positions.ok_or(VerifyError::ExtentOverflow {
            op: name,
            dimension: 1 + axis,
        })
    };
    let shape = [input.shape[0], spatial(0)?, spatial(1)?, filter.shape[3]];
    if let Some(dimension) = (1..3).find(|&at| matches!(shape[at], Dim::Fixed(..0))) {
        let value = shape[dimension].fixed().unwrap_or_default();
        let shape = shape_text(&shape, g.symbols());
        return Err(Box::new(VerifyError::NegativeExtent {
            shape,
            dimension,
            value,
        }));
    }
    Ok(input.with_shape(shape).into())
}

fn strides(strides: &[i64]) -> Result<[i64; 2], VerifyError> {
    match *strides {
        [h, w] if h > 0 && w > 0 => Ok([h, w]),
        _ => Err(VerifyError::Window {
            what: "strides",
            expected: "two positive integers",
            found: format!("{strides:?}"),
        }),
    }
}

/// Returns the (before, after) pads of both spatial axes, if they are explicit.
fn custom_pads(padding: Padding<'_>) -> Result<Option<[[i64; 2]; 2]>, VerifyError> {
    match padding {
        Padding::Valid | Padding::Same => Ok(None),
        Padding::Custom(&[top, bottom, left, right]) => match [top, bottom, left, right] {
            pads if pads.iter().any(|&pad| pad < 0) => Err(VerifyError::Window {
                what: "padding",
                expected: "two pairs of non-negative integers",
                found: format!("{pads:?}"),
            }),
            _ => Ok(Some([[top, bottom], [left, right]])),
        },
    }
}

/// Returns the number of window positions along one axis; not positive if the window does not fit.
fn window_positions(
    extent: Dim,
    window: Dim,
    stride: i64,
    pads: Option<[i64; 2]>,
    padding: Padding<'_>,
) -> Option<Dim> {
    let (Dim::Fixed(extent), Dim::Fixed(window)) = (extent, window) else {
        return Some(match (padding, extent) {
            (Padding::Same, symbol) if stride == 1 => symbol,
            _ => Dim::Dynamic,
        });
    };
    let [before, after] = pads.unwrap_or_default().map(i128::from);
    let (extent, window, stride) = (i128::from(extent), i128::from(window), i128::from(stride));
    let positions = match padding {
        Padding::Same => (extent + stride - 1).div_euclid(stride),
        Padding::Valid | Padding::Custom(_) => {
            (extent + before + after - window).div_euclid(stride) + 1
        }
    };
    i64::try_from(positions).ok().map(Dim::Fixed)
}

/// Evaluates a convolution.
fn eval_conv2d(op: Conv2d, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let (strides, padding) = (op.strides(cx.graph), op.padding(cx.graph));
    convolution(cx, operands[0], operands[1], strides, padding)
}

/// Evaluates the convolution of an NHWC image by an HWCF filter; `strides` are those of the rows and of the columns.
///
/// # Errors
///
/// Channels that differ, no output position, E6004 too large, E6005 integer overflow where `cx` rejects it.
pub fn convolution(
    cx: &EvalCx<'_>,
    input: &Tensor,
    filter: &Tensor,
    strides: &[i64],
    padding: Padding<'_>,
) -> Result<Tensor, EvalError> {
    let ([batch, height, width, channels], [kernel_height, kernel_width, taken, filters]) =
        (extents(input), extents(filter));
    if channels != taken {
        let text = format!("input has {channels} channels, filter has {taken}");
        return Err(EvalError::Shape(text));
    }
    let pads = |axis: usize| match padding {
        Padding::Valid => Some([0, 0]),
        Padding::Same => None,
        Padding::Custom(pads) => Some([pads[2 * axis], pads[2 * axis + 1]]),
    };
    let rows = Axis::new(height, kernel_height, strides[0], pads(0))?;
    let columns = Axis::new(width, kernel_width, strides[1], pads(1))?;
    let shape = [batch, rows.positions, columns.positions, filters];
    evaluate(
        cx,
        &Convolution {
            shape,
            rows,
            columns,
            channels,
        },
        input,
        filter,
    )
}

fn extents(tensor: &Tensor) -> [usize; 4] {
    tensor
        .shape()
        .try_into()
        .expect("verified operands have rank 4")
}
