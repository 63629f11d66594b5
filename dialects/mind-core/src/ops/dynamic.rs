//! Slices with data-dependent starts.

use mind_diag::Code;
use mind_ir::ValueId;
use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::ops;
use mind_ir::tensor::Tensor;
use mind_ir::types::Dim;
use mind_ir::verify::{InferResult, VerifyError};

use crate::eval::bounds::{Bounds, indices};
use crate::eval::indexed;
use crate::eval::strided::{self, strides_of};

ops! {
    /// The slice of `input` with extents `sizes` that begins at `starts`, one index for each axis.
    ///
    /// `bounds` selects which starts are valid: `clamp`, any, and the slice is moved inside; `strict`, those with the
    /// slice inside; `from_end`, also negative starts down to minus the extent, which count from the end. An empty
    /// slice may start anywhere.
    ///
    /// Shapes: `sizes`.
    /// Errors: E2005 `starts` not i32 or i64, E3002 `starts` not of rank 0, E3003 size negative or above the extent,
    /// E4006 not one start and size per axis, E4022 `bounds` is `skip`; E6001 when run, start out of bounds.
    /// Source: this compiler; MIL `slice_by_size`, StableHLO `dynamic_slice`.
    DynamicSlice = "core.dynamic_slice" {
        operands: (input: Any),
        variadic: (starts: Index),
        attrs: { sizes "n": Ints, bounds "bd": Bounds = Bounds::Clamp },
        traits: [Pure, Extended],
        names: { core: "DynamicSlice", mic1: "dynamic_slice" },
        infer: infer_dynamic_slice,
        eval: eval_dynamic_slice,
    }

    /// `input`, with the slice that begins at `starts` replaced by `update`; there is one index for each axis.
    ///
    /// `bounds` is as for `DynamicSlice`.
    ///
    /// Shapes: as `input`; `update` has its rank and no larger extents.
    /// Errors: E2004 `update` of another dtype, E2005 `starts` not i32 or i64, E3002 `starts` not of rank 0, or
    /// `update` of another rank, E3003 an extent of `update` too large, E4006 not one start per axis, E4022 `bounds` is
    /// `skip`; E6001 when run, start out of bounds.
    /// Source: this compiler; MIL `slice_update`, StableHLO `dynamic_update_slice`.
    DynamicUpdateSlice = "core.dynamic_update_slice" {
        operands: (input: Any, update: Any),
        variadic: (starts: Index),
        attrs: { bounds "bd": Bounds = Bounds::Clamp },
        traits: [Pure, Extended],
        names: { core: "DynamicUpdateSlice", mic1: "dynamic_update_slice" },
        infer: infer_dynamic_update_slice,
        eval: eval_dynamic_update_slice,
    }
}

/// Checks that there is a scalar for each axis of `input`, and that `bounds` is not `skip`.
fn check_starts(
    g: &Graph,
    op: &'static str,
    input: ValueId,
    starts: &[ValueId],
    bounds: Bounds,
) -> Result<(), VerifyError> {
    let rank = g.ty(input).rank();
    let mut ranks = starts.iter().map(|&start| g.ty(start).rank());
    if let Some(found) = ranks.find(|&rank| rank != 0) {
        let (operand, expected) = ("starts", "0".to_owned());
        return Err(VerifyError::Rank {
            op,
            operand,
            expected,
            found,
        });
    }
    if starts.len() != rank {
        let found = starts.len();
        return Err(VerifyError::IndexCount { op, rank, found });
    }
    if bounds == Bounds::Skip {
        return Err(VerifyError::Word {
            op,
            attr: "bounds",
            found: bounds.name().to_owned(),
            words: "clamp, strict, from_end".to_owned(),
        });
    }
    Ok(())
}

/// Checks that a slice of extent `size` fits `extent`, unless one of them is data-dependent.
fn check_size(
    g: &Graph,
    op: &'static str,
    axis: usize,
    size: Dim,
    extent: Dim,
) -> Result<(), VerifyError> {
    let fits = match (size, extent) {
        (Dim::Fixed(size), Dim::Fixed(extent)) => (0..=extent).contains(&size),
        (Dim::Fixed(size), Dim::Symbol(_) | Dim::Dynamic) => size >= 0,
        (Dim::Symbol(_) | Dim::Dynamic, _) => true,
    };
    if fits {
        return Ok(());
    }
    let extent = extent.display(g.symbols()).to_string();
    Err(VerifyError::Extent {
        op,
        dimension: format!("the window and dimension {axis}"),
        expected: format!("0 to {extent}"),
        found: size.display(g.symbols()).to_string(),
        help: "the window must fit into the tensor",
    })
}

fn infer_dynamic_slice(op: DynamicSlice, g: &Graph) -> InferResult {
    let (input, sizes) = (g.ty(op.input(g)), op.sizes(g));
    check_starts(g, "dynamic_slice", op.input(g), op.starts(g), op.bounds(g))?;
    if sizes.len() != input.rank() {
        let (rank, found) = (input.rank(), sizes.len());
        return Err(Box::new(VerifyError::Dialect {
            code: Code(4006),
            problem: format!("`dynamic_slice` needs one size per axis: rank {rank}, found {found}"),
            help: Some("write one size for each axis".to_owned()),
        }));
    }
    for (axis, (&size, &extent)) in sizes.iter().zip(input.shape).enumerate() {
        check_size(g, "dynamic_slice", axis, Dim::Fixed(size), extent)?;
    }
    Ok(input
        .with_shape(sizes.iter().map(|&size| Dim::Fixed(size)))
        .into())
}

fn infer_dynamic_update_slice(op: DynamicUpdateSlice, g: &Graph) -> InferResult {
    let (input, update) = (g.ty(op.input(g)), g.ty(op.update(g)));
    let name = "dynamic_update_slice";
    if input.dtype != update.dtype {
        return Err(Box::new(VerifyError::DTypeClash {
            op: name,
            lhs: input.dtype,
            rhs: update.dtype,
        }));
    }
    check_starts(g, name, op.input(g), op.starts(g), op.bounds(g))?;
    if update.rank() != input.rank() {
        return Err(Box::new(VerifyError::Rank {
            op: name,
            operand: "update",
            expected: input.rank().to_string(),
            found: update.rank(),
        }));
    }
    for (axis, (&size, &extent)) in update.shape.iter().zip(input.shape).enumerate() {
        check_size(g, name, axis, size, extent)?;
    }
    Ok(input.to_owned().into())
}

/// Returns the start of a slice of extents `sizes`; an empty slice may start anywhere.
///
/// # Errors
///
/// A slice larger than the tensor, E6001 a start out of bounds.
fn slice_starts(
    input: &Tensor,
    sizes: &[usize],
    starts: &[&Tensor],
    bounds: Bounds,
) -> Result<Vec<usize>, EvalError> {
    let is_empty = sizes.contains(&0);
    let axes = input.shape().iter().zip(sizes).zip(starts).enumerate();
    let start = |(axis, ((&extent, &size), start)): (usize, ((&usize, &usize), &&Tensor))| {
        let Some(last) = extent.checked_sub(size) else {
            let text = format!("a window of {size} is larger than dimension {axis} of {extent}");
            return Err(EvalError::Shape(text));
        };
        if is_empty {
            return Ok(0);
        }
        let start = indices(start)[0];
        let (start, bounds) = match bounds {
            Bounds::FromEnd if start < 0 => (start + extent as i64, Bounds::Strict),
            Bounds::FromEnd => (start, Bounds::Strict),
            Bounds::Strict | Bounds::Clamp | Bounds::Skip => (start, bounds),
        };
        Ok(bounds.position(start, axis, last + 1)?.unwrap_or(0))
    };
    axes.map(start).collect()
}

/// Evaluates a dynamic slice.
fn eval_dynamic_slice(
    op: DynamicSlice,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let input = operands[0];
    let sizes: Vec<usize> = op.sizes(cx.graph).iter().map(|&n| n as usize).collect();
    let starts = slice_starts(input, &sizes, &operands[1..], op.bounds(cx.graph))?;
    let strides = strides_of(input);
    let base = starts
        .iter()
        .zip(&strides)
        .map(|(at, stride)| at * stride)
        .sum();
    let axes: Vec<strided::Axis> = sizes.into_iter().zip(strides).collect();
    strided::copy(cx, input, base, &axes)
}

/// Evaluates an update of a dynamic slice.
fn eval_dynamic_update_slice(
    op: DynamicUpdateSlice,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let (input, update) = (operands[0], operands[1]);
    let sizes = update.shape();
    let starts = slice_starts(input, sizes, &operands[2..], op.bounds(cx.graph))?;
    let strides = strides_of(update);
    indexed::merged(cx, input, update, |index| {
        let mut offset = 0;
        for (axis, &start) in starts.iter().enumerate() {
            let at = index[axis].checked_sub(start)?;
            if at >= sizes[axis] {
                return None;
            }
            offset += at * strides[axis];
        }
        Some(offset)
    })
}
