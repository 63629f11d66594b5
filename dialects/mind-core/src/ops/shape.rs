//! Ops that only rearrange or rename dimensions.

use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::opdef::{Folded, Inferred};
use mind_ir::ops;
use mind_ir::tensor::Tensor;
use mind_ir::types::{Dim, Shape, TypeView};
use mind_ir::verify::{InferResult, VerifyError};

use crate::axes::{check_rank, named};
use crate::eval::indexed;
use crate::eval::strided::{self, strides_of};
use crate::extent::{Count, text};

ops! {
    /// The same elements in the same order in another shape.
    ///
    /// Shapes: `new_shape`; one extent may be -1, which is inferred from the number of elements.
    /// Errors: E3002 rank above 32, E3006 extent below -1 or several -1, E3007 element count changes, or -1 with
    /// another extent 0 and no declared type that gives it.
    /// Source: mind-spec v1.0 ir.md, "Shape manipulation".
    Reshape = "core.reshape" {
        operands: (input: Any),
        attrs: { new_shape: Dims },
        traits: [Pure],
        names: { core: "Reshape", mic1: "reshape", mic2: "rshp" },
        infer: infer_reshape,
        eval: eval_reshape,
        fold: |op, g| same_type(g, op.input(g), op.result(g)),
    }

    /// The dimensions in another order; an empty permutation reverses them.
    ///
    /// Shapes: `result[i] = input[permutation[i]]`.
    /// Errors: E3008 not a permutation of the axes.
    /// Source: mind-spec v1.0 ir.md, "Shape manipulation".
    Transpose = "core.transpose" {
        operands: (input: Any),
        attrs: { permutation: Ints = &[] },
        traits: [Pure],
        names: { core: "Transpose", mic1: "transpose", mic2: "t" },
        infer: infer_transpose,
        eval: eval_transpose,
        fold: fold_transpose,
    }

    /// New dimensions of extent 1, inserted axis by axis in ascending order.
    ///
    /// Shapes: 1 at each of `axes` of the result.
    /// Errors: E3002 rank above 32, E3004 axis out of range, E3005 duplicate axis.
    /// Source: mind-spec v1.0 ir.md, "Shape manipulation".
    ExpandDims = "core.expand_dims" {
        operands: (input: Any),
        attrs: { axes: Ints },
        traits: [Pure],
        names: { core: "ExpandDims", mic1: "expand" },
        infer: infer_expand_dims,
        eval: eval_expand_dims,
        fold: |op, g| same_type(g, op.input(g), op.result(g)),
    }

    /// Dimensions of extent 1 removed.
    ///
    /// Shapes: without `axes`.
    /// Errors: E3004 axis out of range, E3005 duplicate axis, E3009 extent not 1.
    /// Source: mind-spec v1.0 ir.md, "Shape manipulation".
    Squeeze = "core.squeeze" {
        operands: (input: Any),
        attrs: { axes: Ints },
        traits: [Pure],
        names: { core: "Squeeze", mic1: "squeeze" },
        infer: infer_squeeze,
        eval: eval_squeeze,
        fold: |op, g| same_type(g, op.input(g), op.result(g)),
    }

    /// The elements along each of `axes` in reverse order; an empty list changes nothing.
    ///
    /// Shapes: as the operand.
    /// Errors: E3004 axis out of range, E3005 duplicate axis.
    /// Source: this compiler; MIL and StableHLO `reverse`, ONNX `Slice` with negative steps.
    Reverse = "core.reverse" {
        operands: (input: Any),
        attrs: { axes: Ints },
        traits: [Pure, Extended],
        names: { core: "Reverse", mic1: "reverse" },
        infer: infer_reverse,
        eval: eval_reverse,
        fold: fold_reverse,
    }
}

/// Folds an order-preserving op to its operand if the shape is unchanged.
pub(crate) fn same_type(
    g: &Graph,
    input: mind_ir::ValueId,
    result: mind_ir::ValueId,
) -> Option<Folded> {
    let open = g.ty(input).shape.contains(&Dim::Dynamic);
    (!open && g.type_id(input) == g.type_id(result)).then_some(Folded::Value(input))
}

fn infer_reshape(op: Reshape, g: &Graph) -> InferResult {
    let (input, target) = (g.ty(op.input(g)), op.new_shape(g));
    check_rank("reshape", target.len())?;
    let mut open = None;
    for (dimension, dim) in target.iter().enumerate() {
        match *dim {
            Dim::Fixed(-1) | Dim::Dynamic => {
                if open.replace(dimension).is_some() {
                    let shape = text(g, target);
                    return Err(Box::new(VerifyError::SeveralOpen { shape, dimension }));
                }
            }
            Dim::Fixed(value @ ..0) => {
                let shape = text(g, target);
                return Err(Box::new(VerifyError::NegativeExtent {
                    shape,
                    dimension,
                    value,
                }));
            }
            Dim::Fixed(_) | Dim::Symbol(_) => {}
        }
    }
    let whole = Count::of(input.shape.iter().copied());
    let others = target
        .iter()
        .enumerate()
        .filter(|(at, _)| Some(*at) != open);
    let part = Count::of(others.map(|(_, &dim)| dim));
    let changed = || {
        let count = |shape: &[Dim]| match Count::of(shape.iter().copied()) {
            Count {
                known: Some(known),
                symbols,
                open: false,
            } if symbols.is_empty() => known.to_string(),
            _ => text(g, shape),
        };
        Box::new(VerifyError::ElementCount {
            from: text(g, input.shape),
            to: text(g, target),
            from_count: count(input.shape),
            to_count: count(target),
        })
    };
    let mut shape: Shape = target.iter().copied().collect();
    match open {
        Some(at) if part.known == Some(0) && whole.known == Some(0) => {
            shape[at] = declared_extent(op, g, at).ok_or_else(|| ambiguous(g, target))?;
        }
        Some(at) => shape[at] = whole.quotient(&part).ok_or_else(changed)?,
        None if whole.open || whole == part => {}
        None => return Err(changed()),
    }
    Ok(input.with_shape(shape).into())
}

/// Returns the extent that the declared type of a reshape has at a dimension, if it names one.
fn declared_extent(op: Reshape, g: &Graph, dimension: usize) -> Option<Dim> {
    let declared = g.types().get(g.declared(op.result(g))?);
    let dim = declared.shape.get(dimension).copied();
    dim.filter(|&dim| dim != Dim::Dynamic)
}

fn ambiguous(g: &Graph, target: &[Dim]) -> Box<VerifyError> {
    let target = text(g, target);
    Box::new(VerifyError::OpenExtent { shape: target })
}

/// Returns the permutation `written`, or the reversal for an empty one.
pub fn effective_permutation(written: &[i64], rank: usize) -> Vec<i64> {
    match written {
        [] => (0..rank as i64).rev().collect(),
        written => written.to_vec(),
    }
}

fn infer_transpose(op: Transpose, g: &Graph) -> InferResult {
    let input = g.ty(op.input(g));
    let permutation = effective_permutation(op.permutation(g), input.rank());
    permuted_type(input, &permutation)
}

/// Infers the type of `input` with permuted dimensions.
///
/// # Errors
///
/// E3008 not a permutation of the axes.
pub fn permuted_type(input: TypeView<'_>, permutation: &[i64]) -> InferResult {
    let rank = input.rank();
    let refuse = |violation: String| {
        let permutation = permutation.to_vec();
        Box::new(VerifyError::Permutation {
            permutation,
            rank,
            violation,
        })
    };
    if permutation.len() != rank {
        return Err(refuse(format!("it has {} entries", permutation.len())));
    }
    let mut seen = vec![false; rank];
    for &axis in permutation {
        let known = usize::try_from(axis).ok().filter(|&axis| axis < rank);
        let Some(index) = known else {
            return Err(refuse(format!("{axis} is out of range")));
        };
        if std::mem::replace(&mut seen[index], true) {
            return Err(refuse(format!("{axis} appears twice")));
        }
    }
    let shape = permutation.iter().map(|&axis| input.shape[axis as usize]);
    Ok(input.with_shape(shape).into())
}

fn fold_transpose(op: Transpose, g: &Graph) -> Option<Folded> {
    let input = op.input(g);
    let permutation = effective_permutation(op.permutation(g), g.ty(input).rank());
    let identity = permutation
        .iter()
        .enumerate()
        .all(|(at, &axis)| at as i64 == axis);
    identity.then_some(Folded::Value(input))
}

fn infer_expand_dims(op: ExpandDims, g: &Graph) -> InferResult {
    let (input, axes) = (g.ty(op.input(g)), op.axes(g));
    check_rank("expand_dims", input.rank() + axes.len())?;
    let mut sorted = axes.to_vec();
    sorted.sort_unstable();
    let mut shape: Shape = input.shape.iter().copied().collect();
    for &axis in &sorted {
        let rank = shape.len();
        let known = usize::try_from(axis).ok().filter(|&axis| axis <= rank);
        let Some(at) = known else {
            return Err(Box::new(VerifyError::AxisRange {
                op: "expand_dims",
                axis,
                rank: rank + 1,
            }));
        };
        shape.insert(at, Dim::Fixed(1));
    }
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        let (op, axes, axis) = ("expand_dims", axes.to_vec(), pair[0]);
        return Err(Box::new(VerifyError::AxisTwice { op, axes, axis }));
    }
    Ok(input.with_shape(shape).into())
}

fn infer_squeeze(op: Squeeze, g: &Graph) -> InferResult {
    let (input, axes) = (g.ty(op.input(g)), op.axes(g));
    let rank = input.rank();
    let mut removed = vec![false; rank];
    for &axis in axes {
        let known = usize::try_from(axis).ok().filter(|&axis| axis < rank);
        let Some(index) = known else {
            return Err(Box::new(VerifyError::AxisRange {
                op: "squeeze",
                axis,
                rank,
            }));
        };
        if std::mem::replace(&mut removed[index], true) {
            let axes = axes.to_vec();
            return Err(Box::new(VerifyError::AxisTwice {
                op: "squeeze",
                axes,
                axis,
            }));
        }
    }
    for &axis in axes {
        let extent = input.shape[axis as usize];
        if extent != Dim::Fixed(1) {
            let extent = extent.display(g.symbols()).to_string();
            let shape = text(g, input.shape);
            return Err(Box::new(VerifyError::Squeeze {
                axis,
                shape,
                extent,
            }));
        }
    }
    if axes.is_empty() {
        return Ok(Inferred::Known(
            g.type_id(op.input(g)).expect("operands have types"),
        ));
    }
    let kept = input
        .shape
        .iter()
        .zip(removed)
        .filter(|(_, removed)| !removed);
    Ok(input.with_shape(kept.map(|(&dim, _)| dim)).into())
}

/// Evaluates a reshape.
fn eval_reshape(op: Reshape, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let (input, target) = (operands[0], op.new_shape(cx.graph));
    let (mut shape, mut open) = (Vec::with_capacity(target.len()), None);
    // The verified type supplies open extents that the number of elements does not determine, because it is 0.
    let settled = cx.graph.ty(op.result(cx.graph)).shape;
    for (&dim, &settled) in target.iter().zip(settled) {
        let dim = match dim {
            Dim::Dynamic | Dim::Fixed(..0) => settled,
            Dim::Fixed(_) | Dim::Symbol(_) => dim,
        };
        let extent = cx
            .extent(dim)?
            .and_then(|extent| usize::try_from(extent).ok());
        if extent.is_none() {
            open = Some(shape.len());
        }
        shape.push(extent.unwrap_or(1));
    }
    let given = shape
        .iter()
        .try_fold(1usize, |product, &extent| product.checked_mul(extent));
    let fits = match (given, open) {
        (Some(given), Some(axis)) if given > 0 && input.count() % given == 0 => {
            shape[axis] = input.count() / given;
            true
        }
        (given, None) => given == Some(input.count()),
        _ => false,
    };
    if !fits {
        let (from, to) = (input.shape(), text(cx.graph, target));
        let bound = match open {
            None => format!(", which is {shape:?} in this run"),
            Some(_) => String::new(),
        };
        let count = input.count();
        let message = format!(
            "reshape changes the element count: {from:?} has {count}, which {to} cannot hold{bound}"
        );
        return Err(EvalError::Shape(message));
    }
    renamed(cx, input, shape)
}

/// Evaluates a transpose.
fn eval_transpose(
    op: Transpose,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let input = operands[0];
    let permutation = effective_permutation(op.permutation(cx.graph), input.rank());
    permuted(cx, input, &permutation)
}

/// Copies `input` with its dimensions in the order of a verified permutation.
///
/// # Errors
///
/// E6004 too large.
pub fn permuted(cx: &EvalCx<'_>, input: &Tensor, permutation: &[i64]) -> Result<Tensor, EvalError> {
    let (shape, strides) = (input.shape(), strides_of(input));
    let axes: Vec<strided::Axis> = permutation
        .iter()
        .map(|&axis| (shape[axis as usize], strides[axis as usize]))
        .collect();
    strided::copy(cx, input, 0, &axes)
}

/// Evaluates an insertion of dimensions.
fn eval_expand_dims(
    op: ExpandDims,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let (input, axes) = (operands[0], op.axes(cx.graph));
    let rank = input.rank() + axes.len();
    let mut kept = input.shape().iter();
    let extent = |axis: usize| {
        if axes.contains(&(axis as i64)) {
            1
        } else {
            *kept
                .next()
                .expect("verified axes leave a place for each dimension")
        }
    };
    let shape: Vec<usize> = (0..rank).map(extent).collect();
    renamed(cx, input, shape)
}

/// Evaluates a removal of dimensions.
fn eval_squeeze(op: Squeeze, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let (input, axes) = (operands[0], op.axes(cx.graph));
    let mut shape = Vec::with_capacity(input.rank());
    for (axis, &extent) in input.shape().iter().enumerate() {
        match axes.contains(&(axis as i64)) {
            false => shape.push(extent),
            true if extent == 1 => {}
            true => {
                let found = input.shape();
                let text = format!(
                    "axis {axis} of {found:?} cannot be squeezed: its extent is {extent}, not 1"
                );
                return Err(EvalError::Shape(text));
            }
        }
    }
    renamed(cx, input, shape)
}

/// Copies `input` to a shape with the same number of elements.
///
/// # Errors
///
/// E6004 too large.
pub fn renamed(cx: &EvalCx<'_>, input: &Tensor, shape: Vec<usize>) -> Result<Tensor, EvalError> {
    cx.count(input.dtype(), &shape)?;
    Ok(input.clone().with_shape(shape))
}

fn infer_reverse(op: Reverse, g: &Graph) -> InferResult {
    let input = g.ty(op.input(g));
    named("reverse", op.axes(g), input.rank())?;
    Ok(input.to_owned().into())
}

/// Evaluates a reversal along axes.
fn eval_reverse(op: Reverse, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let (input, shape) = (operands[0], operands[0].shape());
    let reversed = named("reverse", op.axes(cx.graph), shape.len()).expect("verified axes");
    let strides = strides_of(input);
    indexed::picked(cx, input, shape.to_vec(), |index| {
        let place = |axis: usize| match reversed[axis] {
            true => shape[axis] - 1 - index[axis],
            false => index[axis],
        };
        Ok(Some(
            (0..index.len())
                .map(|axis| place(axis) * strides[axis])
                .sum(),
        ))
    })
}

fn fold_reverse(op: Reverse, g: &Graph) -> Option<Folded> {
    op.axes(g).is_empty().then_some(Folded::Value(op.input(g)))
}
