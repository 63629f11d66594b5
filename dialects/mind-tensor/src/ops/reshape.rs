//! Reshapes.

use mind_core::axes::check_rank;
use mind_core::extent::{Count, agree, text};
use mind_core::ops::shape::renamed;
use mind_ir::eval::{EvalCx, EvalError};
use mind_ir::graph::Graph;
use mind_ir::opdef::Folded;
use mind_ir::ops;
use mind_ir::tensor::Tensor;
use mind_ir::types::{Dim, Shape};
use mind_ir::verify::{InferResult, VerifyError};

use crate::axes::mapped;

ops! {
    /// The same elements in the same order in another shape.
    ///
    /// Shapes: `shape`, where one extent may be `?`, which is inferred from the number of elements. With `carry`,
    /// result dimension `i` has the extent of input dimension `carry[i]`, unless that is -1. The inference then counts
    /// only the other dimensions, and any number of carried ones may be `?`.
    /// Errors: E3002 rank above 32, E3003 a carried extent differs, E3004 carried axis out of range, E3005 carried
    /// twice, E3006 extent negative or several to infer, E3007 element count changes, E4006 not one entry of `carry`
    /// per dimension.
    /// Source: mind-spec v1.0 ir.md, "Shape manipulation".
    Reshape = "tensor.reshape" {
        operands: (input: Any),
        attrs: { shape: Dims, carry: Ints = &[] },
        traits: [Pure, Extended],
        names: {},
        infer: infer_reshape,
        eval: eval_reshape,
        fold: fold_reshape,
    }
}

impl Reshape {
    /// Returns the input dimension that each result dimension carries.
    fn carried(self, g: &Graph, rank: usize) -> Result<Vec<Option<usize>>, VerifyError> {
        match self.carry(g) {
            [] => Ok(vec![None; self.shape(g).len()]),
            carry => mapped("reshape", carry, self.shape(g).len(), rank),
        }
    }
}

/// The help for a carried extent that differs.
const CARRIED: &str =
    "a carried dimension keeps its extent: write -1 in `carry`, or the same extent";

fn infer_reshape(op: Reshape, g: &Graph) -> InferResult {
    let (input, target) = (g.ty(op.input(g)), op.shape(g));
    check_rank("reshape", target.len())?;
    if let Some(dimension) = target.iter().position(|dim| matches!(dim, Dim::Fixed(..0))) {
        return Err(Box::new(VerifyError::NegativeExtent {
            shape: text(g, target),
            dimension,
            value: target[dimension].fixed().unwrap_or_default(),
        }));
    }
    let carried = op.carried(g, input.rank())?;
    let mut shape: Shape = target.iter().copied().collect();
    let mut open = None;
    for (at, &source) in carried.iter().enumerate() {
        if let Some(axis) = source {
            let name = format!("extents at dimensions {axis} and {at}");
            shape[at] = agree(g, "reshape", name, input.shape[axis], target[at], CARRIED)?;
        } else if target[at] == Dim::Dynamic && open.replace(at).is_some() {
            let shape = text(g, target);
            return Err(Box::new(VerifyError::SeveralOpen {
                shape,
                dimension: at,
            }));
        }
    }
    let left = input.shape.iter().enumerate();
    let left = left.filter(|(axis, _)| !carried.contains(&Some(*axis)));
    let whole = Count::of(left.map(|(_, &dim)| dim));
    let rest = (0..shape.len()).filter(|&at| carried[at].is_none() && Some(at) != open);
    let part = Count::of(rest.map(|at| shape[at]));
    let changed = || {
        Box::new(VerifyError::ElementCount {
            from: text(g, input.shape),
            to: text(g, target),
            from_count: count_text(g, input.shape),
            to_count: count_text(g, target),
        })
    };
    match open {
        Some(at) => shape[at] = whole.quotient(&part).ok_or_else(changed)?,
        None if whole.open || whole == part => {}
        None => return Err(changed()),
    }
    Ok(input.with_shape(shape).into())
}

/// Formats the number of elements of `shape`, or the shape itself if the number is not known.
fn count_text(g: &Graph, shape: &[Dim]) -> String {
    let count = Count::of(shape.iter().copied());
    match count.known {
        Some(known) if !count.open && count.symbols.is_empty() => known.to_string(),
        _ => text(g, shape),
    }
}

fn fold_reshape(op: Reshape, g: &Graph) -> Option<Folded> {
    let input = op.input(g);
    let open = g.ty(input).shape.contains(&Dim::Dynamic);
    (!open && g.type_id(input) == g.type_id(op.result(g))).then_some(Folded::Value(input))
}

fn eval_reshape(op: Reshape, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let (g, input) = (cx.graph, operands[0]);
    let carried = op.carried(g, input.rank());
    let carried = carried.expect("verified axes lie in the rank");
    let (mut shape, mut open) = (Vec::with_capacity(carried.len()), None);
    let mut given = Some(1usize);
    for (at, &dim) in op.shape(g).iter().enumerate() {
        let wanted = cx
            .extent(dim)?
            .and_then(|extent| usize::try_from(extent).ok());
        let extent = match (carried[at].map(|axis| input.shape()[axis]), wanted) {
            (Some(extent), Some(wanted)) if extent != wanted => return Err(changes(op, g, input)),
            (Some(extent), _) => extent,
            (None, Some(wanted)) => {
                given = given.and_then(|given| given.checked_mul(wanted));
                wanted
            }
            (None, None) => {
                open = Some(at);
                1
            }
        };
        shape.push(extent);
    }
    let left = input.shape().iter().enumerate();
    let mut left = left.filter(|(axis, _)| !carried.contains(&Some(*axis)));
    let left = left.try_fold(1usize, |product, (_, &extent)| product.checked_mul(extent));
    let fits = match (given, left, open) {
        (Some(given), Some(left), Some(at)) if given > 0 && left % given == 0 => {
            shape[at] = left / given;
            true
        }
        (_, _, Some(_)) => false,
        (given, left, None) => given.is_some() && given == left,
    };
    if fits {
        renamed(cx, input, shape)
    } else {
        Err(changes(op, g, input))
    }
}

fn changes(op: Reshape, g: &Graph, input: &Tensor) -> EvalError {
    let (from, count, to) = (input.shape(), input.count(), text(g, op.shape(g)));
    EvalError::Shape(format!(
        "reshape changes the element count: {from:?} has {count}, which {to} cannot hold"
    ))
}
