//! Concatenation and splitting.

use mind_ir::ValueId;
use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::tensor::{Element, Tensor};
use mind_ir::types::{Dim, Shape};
use mind_ir::verify::{InferResult, VerifyError};
use mind_ir::with_dtype;

use crate::axes;
use crate::eval::strided::{self, strides_of};
use crate::extent::agree;

ops! {
    /// The inputs, concatenated along `axis`.
    ///
    /// Shapes: as the inputs, their extents along `axis` added up.
    /// Errors: E2004 different dtypes, E3002 different ranks, E3003 other extents differ, E3004 axis out
    /// of range, E3006 extent too large.
    /// Source: mic@2 `cat`.
    Concat = "core.concat" {
        variadic: (inputs: Any),
        attrs: { axis "ax": Int },
        traits: [Pure, SameDType, Extended],
        names: { core: "Concat", mic1: "concat", mic2: "cat" },
        infer: infer_concat,
        eval: eval_concat,
        fold: |op, g| match *op.inputs(g) {
            [only] => Some(mind_ir::opdef::Folded::Value(only)),
            _ => None,
        },
    }

    /// The `part`-th of `count` equal parts along `axis`, counted from 0.
    ///
    /// Shapes: as the input, the extent along `axis` divided by `count`.
    /// Errors: E3003 extent not divisible, or no such part, E3004 axis out of range.
    /// Source: mic@2 `split`.
    Split = "core.split" {
        operands: (input: Any),
        attrs: { axis "ax": Int, count "n": Int, part "part": Int = 0 },
        traits: [Pure, Extended],
        names: { core: "Split", mic1: "split", mic2: "split" },
        infer: infer_split,
        eval: eval_split,
        fold: |op, g| (op.count(g) == 1).then(|| mind_ir::opdef::Folded::Value(op.input(g))),
    }
}

fn infer_concat(op: Concat, g: &Graph) -> InferResult {
    joined_type(g, op.inputs(g), op.axis(g))
}

/// Infers the type of `inputs`, at least one, concatenated along `axis`.
///
/// # Errors
///
/// E3002 different ranks, E3003 other extents differ, E3004 axis out of range, E3006 extent too
/// large.
pub fn joined_type(g: &Graph, inputs: &[ValueId], axis: i64) -> InferResult {
    let first = g.ty(inputs[0]);
    let mut ranks = inputs.iter().map(|&input| g.ty(input).rank());
    if let Some(found) = ranks.find(|&rank| rank != first.rank()) {
        let (op, operand, expected) = ("concat", "inputs", first.rank().to_string());
        return Err(Box::new(VerifyError::Rank {
            op,
            operand,
            expected,
            found,
        }));
    }
    let axis = axes::resolve("concat", axis, first.rank())?;
    let mut shape: Shape = first.shape.iter().copied().collect();
    for &input in &inputs[1..] {
        for (at, &dim) in g.ty(input).shape.iter().enumerate() {
            shape[at] = if at == axis {
                joined(shape[at], dim).ok_or(VerifyError::ExtentOverflow {
                    op: "concat",
                    dimension: at,
                })?
            } else {
                agree(
                    g,
                    "concat",
                    format!("extents at dimension {at}"),
                    shape[at],
                    dim,
                    "inputs may differ in their extents along `axis` alone",
                )?
            };
        }
    }
    Ok(first.with_shape(shape).into())
}

/// Returns the sum of two extents; `None` if it overflows.
fn joined(a: Dim, b: Dim) -> Option<Dim> {
    match (a, b) {
        (Dim::Fixed(a), Dim::Fixed(b)) => a.checked_add(b).map(Dim::Fixed),
        _ => Some(Dim::Dynamic),
    }
}

fn infer_split(op: Split, g: &Graph) -> InferResult {
    let input = g.ty(op.input(g));
    let axis = axes::resolve("split", op.axis(g), input.rank())?;
    let (count, part) = (op.count(g), op.part(g));
    if count < 1 || !(0..count).contains(&part) {
        return Err(Box::new(VerifyError::Extent {
            op: "split",
            dimension: "part and count".to_owned(),
            expected: format!("a part from 0 to below {count}"),
            found: part.to_string(),
            help: "the count is 1 or more, and parts are numbered from 0",
        }));
    }
    let mut shape: Shape = input.shape.iter().copied().collect();
    shape[axis] = match shape[axis] {
        Dim::Fixed(extent) if extent % count == 0 => Dim::Fixed(extent / count),
        Dim::Fixed(extent) => {
            return Err(Box::new(VerifyError::Extent {
                op: "split",
                dimension: format!("the extent at dimension {axis} and the count"),
                expected: format!("a multiple of {count}"),
                found: extent.to_string(),
                help: "pieces are of one size: choose a count that divides the extent",
            }));
        }
        symbol if count == 1 => symbol,
        Dim::Symbol(_) | Dim::Dynamic => Dim::Dynamic,
    };
    Ok(input.with_shape(shape).into())
}

/// Evaluates a concatenation.
fn eval_concat(op: Concat, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let axis = axes::resolve("concat", op.axis(cx.graph), operands[0].rank());
    let axis = axis.expect("a verified axis lies in the rank");
    concatenated(cx, operands, axis)
}

/// Concatenates tensors of equal dtypes and ranks along `axis`; there is at least one.
///
/// # Errors
///
/// Other extents that differ, E6004 too large.
pub fn concatenated(
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
    axis: usize,
) -> Result<Tensor, EvalError> {
    let mut shape = operands[0].shape().to_vec();
    for input in &operands[1..] {
        for (at, &extent) in input.shape().iter().enumerate() {
            if at == axis {
                let sum = shape[at]
                    .checked_add(extent)
                    .filter(|&sum| i64::try_from(sum).is_ok());
                shape[at] = sum.ok_or_else(|| {
                    let (first, found) = (operands[0].shape(), input.shape());
                    let text =
                        format!("`concat` of {first:?} and {found:?} has too large an extent");
                    EvalError::Shape(text)
                })?;
            } else if shape[at] != extent {
                let (first, found) = (operands[0].shape(), input.shape());
                let text = format!(
                    "extents of `concat` at dimension {at} must agree: {first:?} and {found:?}"
                );
                return Err(EvalError::Shape(text));
            }
        }
    }
    let count = cx.count(operands[0].dtype(), &shape)?;
    with_dtype!(operands[0].dtype(), T => {
        let elements = match count {
            0 => Vec::new(),
            _ => strung::<T>(operands, axis, count),
        };
        Ok(Tensor::of(shape, elements))
    })
}

/// Concatenates the elements of `inputs` along `axis`.
fn strung<T: Element>(inputs: &[&Tensor], axis: usize, count: usize) -> Vec<T> {
    let stacks: usize = inputs[0].shape()[..axis].iter().product();
    let mut elements = Vec::with_capacity(count);
    for stack in 0..stacks {
        for input in inputs {
            let size = input.count() / stacks;
            elements.extend_from_slice(&input.elements::<T>()[stack * size..][..size]);
        }
    }
    elements
}

/// Evaluates a split.
fn eval_split(op: Split, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let (input, g) = (operands[0], cx.graph);
    let axis = axes::resolve("split", op.axis(g), input.rank());
    let axis = axis.expect("a verified axis lies in the rank");
    let (count, part) = (op.count(g) as usize, op.part(g) as usize);
    let extent = input.shape()[axis];
    if extent % count != 0 {
        let text = format!(
            "extent {extent} at dimension {axis} cannot be split into {count} equal pieces"
        );
        return Err(EvalError::Shape(text));
    }
    let size = extent / count;
    let strides = strides_of(input);
    let mut piece: Vec<strided::Axis> = input.shape().iter().copied().zip(strides).collect();
    let base = part * size * piece[axis].1;
    piece[axis].0 = size;
    strided::copy(cx, input, base, &piece)
}
