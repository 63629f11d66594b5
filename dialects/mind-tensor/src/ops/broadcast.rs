//! Broadcasts.

use mind_core::axes::check_rank;
use mind_core::eval::strided::{self, strides_of};
use mind_core::extent::{check_extents, stretches, text};
use mind_core::ops::broadcast::mismatch;
use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::opdef::Folded;
use mind_ir::ops;
use mind_ir::tensor::Tensor;
use mind_ir::types::{Dim, TypeView};
use mind_ir::verify::{InferResult, VerifyError};

use crate::axes::{listed, mapped};

ops! {
    /// The first input, broadcast along new dimensions and along those where its extent is 1.
    ///
    /// Shapes: `shape`; input dimension `i` becomes result dimension `dims[i]`, where its extent is 1 or that of
    /// `shape`. An extent `?` of `shape` is found when run, from the dimension mapped there. An optional second input
    /// contributes only extents: its dimension `i` is broadcast with result dimension `like[i]`, unless that is -1.
    /// Errors: E2007 more than two inputs, E3001 an extent that does not broadcast, E3002 rank above 32, E3004 axis out
    /// of range, E3005 duplicate axis, E3006 extent negative, E3011 `?` without a source, E4006 not one entry per
    /// dimension.
    /// Source: this compiler, after StableHLO's `broadcast_in_dim`.
    Broadcast = "tensor.broadcast" {
        variadic: (inputs: Any),
        attrs: { dims: Ints, shape: Dims, like: Ints = &[] },
        traits: [Pure, Extended],
        names: {},
        infer: infer_broadcast,
        eval: eval_broadcast,
        fold: fold_broadcast,
    }
}

fn infer_broadcast(op: Broadcast, g: &Graph) -> InferResult {
    let (inputs, shape) = (op.inputs(g), op.shape(g));
    if inputs.len() > 2 {
        return Err(Box::new(VerifyError::Arity {
            op: "broadcast",
            expected: "1 or 2 operands (input, like)".to_owned(),
            found: inputs.len(),
        }));
    }
    check_rank("broadcast", shape.len())?;
    check_extents(g, shape)?;
    let input = g.ty(inputs[0]);
    if op.dims(g).len() != input.rank() {
        return Err(Box::new(VerifyError::IndexCount {
            op: "broadcast",
            rank: input.rank(),
            found: op.dims(g).len(),
        }));
    }
    let dims = listed("broadcast", op.dims(g), shape.len())?;
    let others = inputs.get(1).map_or(0, |&other| g.ty(other).rank());
    let like = mapped("broadcast", op.like(g), others, shape.len())?;
    check_input(g, input, shape, &dims)?;
    if let Some(&other) = inputs.get(1) {
        check_like(g, g.ty(other), shape, &like)?;
    }
    let sourced = |at: usize| dims.contains(&at) || like.contains(&Some(at));
    let open = (0..shape.len()).find(|&at| shape[at] == Dim::Dynamic && !sourced(at));
    if let Some(dimension) = open {
        let shape = text(g, shape);
        return Err(Box::new(VerifyError::NoSource { shape, dimension }));
    }
    let found = shape.iter().enumerate().map(|(at, &dim)| match dim {
        Dim::Dynamic => {
            let own = dims.iter().position(|&own| own == at);
            let own = own.map_or(Dim::Fixed(1), |axis| input.shape[axis]);
            let other = like.iter().position(|&own| own == Some(at));
            let other = other.map_or(Dim::Fixed(1), |axis| g.ty(inputs[1]).shape[axis]);
            joined(own, other)
        }
        dim => dim,
    });
    Ok(input.with_shape(found).into())
}

/// Returns the extent to which two extents broadcast; `?` if it is not known, for example for a symbol and a number.
fn joined(a: Dim, b: Dim) -> Dim {
    match (a, b) {
        (Dim::Fixed(1), other) | (other, Dim::Fixed(1)) => other,
        (a, b) if a.surely_equals(b) => a,
        _ => Dim::Dynamic,
    }
}

fn check_input(
    g: &Graph,
    input: TypeView<'_>,
    shape: &[Dim],
    dims: &[usize],
) -> Result<(), VerifyError> {
    let pairs = input.shape.iter().zip(dims);
    for (&dim, &at) in pairs {
        stretches(g, input.shape, shape, at, dim)?;
    }
    Ok(())
}

fn check_like(
    g: &Graph,
    other: TypeView<'_>,
    shape: &[Dim],
    like: &[Option<usize>],
) -> Result<(), VerifyError> {
    for (&dim, &at) in other.shape.iter().zip(like) {
        if let Some(at) = at {
            stretches(g, other.shape, shape, at, dim)?;
        }
    }
    Ok(())
}

fn fold_broadcast(op: Broadcast, g: &Graph) -> Option<Folded> {
    let &[input] = op.inputs(g) else { return None };
    let in_order = op.dims(g).iter().copied().eq(0..op.shape(g).len() as i64);
    let same = g.type_id(input) == g.type_id(op.result(g));
    (in_order && same).then_some(Folded::Value(input))
}

fn eval_broadcast(
    op: Broadcast,
    cx: &EvalCx<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, EvalError> {
    let (g, input) = (cx.graph, operands[0]);
    let strides = strides_of(input);
    let mut axes: Vec<strided::Axis> = Vec::with_capacity(op.shape(g).len());
    for (at, &dim) in op.shape(g).iter().enumerate() {
        let own = op.dims(g).iter().position(|&axis| axis == at as i64);
        let other = op.like(g).iter().position(|&axis| axis == at as i64);
        let extent = own.map_or(1, |axis| input.shape()[axis]);
        let joined = match other.map_or(1, |axis| operands[1].shape()[axis]) {
            1 => extent,
            other if extent == 1 || extent == other => other,
            other => return Err(mismatch(input, at, extent, other)),
        };
        let wanted = match cx.extent(dim)? {
            Some(wanted) => usize::try_from(wanted).unwrap_or(0),
            None => joined,
        };
        if joined != 1 && joined != wanted {
            return Err(mismatch(input, at, joined, wanted));
        }
        let stride = match own {
            Some(axis) if extent != 1 => strides[axis],
            _ => 0,
        };
        axes.push((wanted, stride));
    }
    strided::copy(cx, input, 0, &axes)
}
