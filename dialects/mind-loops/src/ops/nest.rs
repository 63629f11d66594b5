//! Nests of loops.

use std::collections::HashSet;

use mind_core::eval::reduce as core_reduce;
pub use mind_core::eval::reduce::Reduction;
use mind_core::group::{self, check_scalars};
use mind_ir::eval::{EvalCx, EvalError, EvalManyResult};
use mind_ir::graph::Graph;
use mind_ir::opdef::{Inferred, Op};
use mind_ir::tensor::Tensor;
use mind_ir::verify::{InferManyResult, VerifyError};
use mind_ir::{BlockId, ValueId, ops};

use crate::extents::{dims, extents, filled, same_extents};
use crate::ops::view::View;

ops! {
    /// What the body computes from the elements at each position of a nest of loops.
    ///
    /// Shapes: the nest has the extents `dims`. An operand has these too, or those without the dimension
    /// `along`; a result likewise, when it does not vary along that. The body has one scalar argument per
    /// operand and yields one scalar per result; it holds constants, core's elementwise
    /// ops, and `loops.along`, which reduces over the dimension `along` and is the same all along it.
    /// Schedule: `vector` is the dimension that vectors lie along. A reduction has them along the reduced
    /// dimension, or along the last one if that follows; -1 means the last one where every operand has its
    /// elements side by side there or in one place, and the reduced one elsewhere. `parallel` is the dimension that
    /// threads share, `[]` if one thread runs the whole. It is the outermost loop, and the dimension of vectors only if
    /// no other dimension is left. `tile` has the extents of a task for each of `dims`: all of a dimension that is not
    /// parallel, and the least extent of the parallel one, where `[]` means 1. Cut into tiles, the dimension
    /// of vectors is one loop per tile; `[]` leaves it whole. `unroll` is the number of vectors in a round of each loop
    /// that reduces nothing, or of columns that are reduced together, 1 to 8; 0 means 4 (columns: 8) in short bodies and fewer
    /// in long ones. `at` has the byte of the workspace where each result begins, -1 for an output of the module.
    /// Order: as the ops of the body one after the other, each rounding where it stands.
    /// Errors: E3002, E3003 operands of another shape, E3004 axis out of range, E4006 not one entry per
    /// dimension, E4021 another op in the body, or a result that varies along a reduced dimension that is
    /// not the last, E4022 a schedule that the nest cannot have.
    /// Source: this compiler, after MLIR's `linalg.generic`.
    Nest = "loops.nest" {
        variadic: (inputs: Any),
        attrs: {
            dims: Ints, along: Int = -1, parallel: Ints = &[], tile: Ints = &[], vector: Int = -1,
            unroll: Int = 0, at: Ints = &[],
        },
        results: Many,
        regions: 1,
        traits: [Pure, Extended, BodyOverElements],
        names: {},
        infer_many: infer_nest,
        eval_many: eval_nest,
    }

    /// The sum, mean or maximum along the reduced dimension of the nest around.
    ///
    /// Shapes: as the operand.
    /// Order: 64 interleaved partial results, see docs/numerics.md, `Sum`, `Mean` and `Max`.
    /// Errors: E2005 `bool`; E6005 when run, on the mean of no integer.
    /// Source: this compiler.
    Along = "loops.along" {
        operands: (input: Num),
        attrs: { kind: Reduction },
        traits: [Pure, Extended],
        names: {},
        infer: |op, g| Ok(g.ty(op.input(g)).to_owned().into()),
        eval: eval_along,
    }
}

impl Nest {
    /// The block of the body.
    pub fn body(self, g: &Graph) -> BlockId {
        g.block(g.regions(self.0)[0])
    }

    /// The dimension that is reduced.
    pub fn reduced(self, g: &Graph) -> Option<usize> {
        usize::try_from(self.along(g)).ok()
    }

    /// Whether the operand at `index` lacks the reduced dimension.
    pub fn is_row(self, g: &Graph, index: usize) -> bool {
        g.ty(self.inputs(g)[index]).rank() < self.dims(g).len()
    }

    /// The dimension that vectors lie along: `vector`, or the one that -1 means. `None` if there are no dimensions.
    pub fn vector_axis(self, g: &Graph) -> Option<usize> {
        usize::try_from(self.vector(g))
            .ok()
            .or_else(|| vector_axis(g, self.inputs(g), self.dims(g).len(), self.reduced(g)))
    }

    /// The dimension that threads share.
    pub fn shared(self, g: &Graph) -> Option<usize> {
        self.parallel(g).first().map(|&axis| axis as usize)
    }

    /// The extents without the reduced dimension.
    fn kept(self, g: &Graph) -> Vec<i64> {
        let mut kept = self.dims(g).to_vec();
        if let Some(axis) = self.reduced(g) {
            kept.remove(axis);
        }
        kept
    }
}

/// The dimension that vectors lie along unless a nest over `inputs` says otherwise.
///
/// It is the last one, or `reduced`: the last one serves a reduction over the dimension before it if every
/// operand has the elements of a vector side by side or in one place.
pub fn vector_axis(
    g: &Graph,
    inputs: &[ValueId],
    rank: usize,
    reduced: Option<usize>,
) -> Option<usize> {
    let last = rank.checked_sub(1)?;
    let side_by_side = |&value: &ValueId| {
        let view = g
            .defining_op(value)
            .and_then(|op| g.view::<View>(op))
            .filter(|_| g.ty(value).count() != Some(0));
        view.is_none_or(|view| matches!(view.strides(g).last(), None | Some(0 | 1)))
    };
    match reduced {
        Some(axis) if axis + 1 == last && inputs.iter().all(side_by_side) => Some(last),
        Some(axis) => Some(axis),
        None => Some(last),
    }
}

fn infer_nest(op: Nest, g: &Graph) -> InferManyResult {
    let rank = op.dims(g).len();
    mind_core::axes::check_rank("nest", rank)?;
    for axis in [op.along(g), op.vector(g)]
        .into_iter()
        .filter(|&axis| axis != -1)
    {
        if !(0..rank as i64).contains(&axis) {
            return Err(VerifyError::AxisRange {
                op: "nest",
                axis,
                rank,
            }
            .into());
        }
    }
    check_schedule(
        "nest",
        g.results(op.0).len(),
        rank,
        op.parallel(g),
        op.tile(g),
        op.at(g),
    )?;
    check_vectors(op, g)?;
    let kept = op.kept(g);
    for &input in op.inputs(g) {
        let found = extents(g, "nest", input)?;
        let expected = match op.reduced(g) {
            Some(_) if found.len() < rank => &kept[..],
            _ => op.dims(g),
        };
        same_extents("nest", "inputs", expected, &found)?;
    }
    let body = op.body(g);
    let allowed = "constants, `loops.along` and elementwise ops";
    check_scalars(g, "nest", body, &[Along::DEF], allowed)?;
    let Some(end) = g.terminator(body) else {
        return Ok(Default::default());
    };
    let uniform = uniform(g, body, |index| op.is_row(g, index));
    let mut types: smallvec::SmallVec<[Inferred; 1]> = Default::default();
    for &value in g.operands(end) {
        let is_uniform = op.reduced(g).is_some() && uniform.contains(&value);
        if op.reduced(g).is_some_and(|axis| axis + 1 < rank) && !is_uniform {
            return Err(VerifyError::Body {
                op: "nest",
                found: "a result that varies along a reduced dimension",
                allowed: "reductions over a dimension that is not the last, and what follows from them",
            }
            .into());
        }
        let shape = if is_uniform { &kept[..] } else { op.dims(g) };
        types.push(match g.type_id(value) {
            Some(_) => g.ty(value).with_shape(dims(shape)).into(),
            None => Inferred::Declared,
        });
    }
    Ok(types)
}

/// Checks that vectors, threads and tasks can lie along the dimensions that the schedule names.
///
/// # Errors
///
/// E4022.
fn check_vectors(op: Nest, g: &Graph) -> Result<(), VerifyError> {
    let (dims, reduced) = (op.dims(g), op.reduced(g));
    let last = dims.len().wrapping_sub(1);
    let refuse = |attr: &'static str, found: String, expected: &str| {
        Err(VerifyError::Word {
            op: "nest",
            attr,
            found,
            words: expected.to_owned(),
        })
    };
    let vector = usize::try_from(op.vector(g)).ok();
    if let (Some(vector), Some(reduced)) = (vector, reduced)
        && vector != reduced
        && (vector != last || reduced + 1 != last)
    {
        let expected = "the reduced dimension, or the last one if that follows it";
        return refuse("vector", vector.to_string(), expected);
    }
    // Without a type an operand has no strides yet; then what `vector` means is not known either.
    let is_typed = op.inputs(g).iter().all(|&input| g.type_id(input).is_some());
    let vector = vector.or_else(|| op.vector_axis(g).filter(|_| is_typed));
    let parallel = format!("{:?}", op.parallel(g));
    match op.parallel(g) {
        [] => {}
        &[axis] if Some(axis as usize) == reduced => {
            return refuse("parallel", parallel, "a dimension that is not reduced");
        }
        &[axis] if Some(axis as usize) == vector => {
            let others = (0..dims.len()).filter(|&at| Some(at) != reduced).count();
            if others > 1 {
                let expected = "a dimension other than that of vectors";
                return refuse("parallel", parallel, expected);
            }
        }
        &[_] => {}
        _ => return refuse("parallel", parallel, "one dimension at most"),
    }
    let tile = op.tile(g);
    let cut = dims.iter().zip(tile).enumerate();
    for (axis, (&extent, &own)) in cut {
        let is_shared = op.shared(g) == Some(axis);
        if own < i64::from(is_shared) || (!is_shared && own != extent) {
            let expected =
                "all of a dimension that is not parallel, and 1 or more of the parallel one";
            return refuse("tile", format!("{tile:?}"), expected);
        }
        let is_columns = is_shared && reduced.is_some() && vector == Some(axis);
        if is_columns && own > 0 && extent % own != 0 {
            return refuse("tile", format!("{tile:?}"), "columns in tiles of one size");
        }
    }
    if !(0..=MAX_UNROLL).contains(&op.unroll(g)) {
        return refuse("unroll", op.unroll(g).to_string(), "0 to 8");
    }
    Ok(())
}

/// The most vectors in a round of a loop.
pub const MAX_UNROLL: i64 = 8;

/// The values of a body that do not vary along the reduced dimension, given whether its arguments do not.
fn uniform(g: &Graph, body: BlockId, is_uniform: impl Fn(usize) -> bool) -> HashSet<ValueId> {
    let arguments = g.arguments(body).into_iter().enumerate();
    let mut known: HashSet<ValueId> = arguments
        .filter(|&(index, _)| is_uniform(index))
        .map(|(_, value)| value)
        .collect();
    for op in g.ops(body) {
        let is_along = std::ptr::eq(g.def(op), Along::DEF);
        if is_along || g.operands(op).iter().all(|value| known.contains(value)) {
            known.extend(g.results(op));
        }
    }
    known
}

/// Checks the attributes that every kernel has.
///
/// # Errors
///
/// E3004 a parallel dimension out of range, E4006 a tile or a place too many or too few.
pub(crate) fn check_schedule(
    op: &'static str,
    results: usize,
    rank: usize,
    parallel: &[i64],
    tile: &[i64],
    at: &[i64],
) -> Result<(), VerifyError> {
    let outside = |axis: &&i64| !(0..rank as i64).contains(*axis);
    if let Some(&axis) = parallel.iter().find(outside) {
        return Err(VerifyError::AxisRange { op, axis, rank });
    }
    for (list, expected) in [(tile, rank), (at, results)] {
        if !list.is_empty() && list.len() != expected {
            let found = list.len();
            return Err(VerifyError::IndexCount {
                op,
                rank: expected,
                found,
            });
        }
    }
    Ok(())
}

/// Runs the body once on whole tensors, in which what is uniform has extent 1 along the reduced dimension.
fn eval_nest(op: Nest, cx: &EvalCx<'_>, operands: &[&Tensor]) -> EvalManyResult {
    let g = cx.graph;
    let shape: Vec<usize> = op.dims(g).iter().map(|&extent| extent as usize).collect();
    let stretched: Vec<Option<Tensor>> = (operands.iter().enumerate())
        .map(|(index, operand)| {
            let axis = op.reduced(g).filter(|_| op.is_row(g, index))?;
            let mut shape = operand.shape().to_vec();
            shape.insert(axis, 1);
            Some((*operand).clone().with_shape(shape))
        })
        .collect();
    let arguments: Vec<&Tensor> = (operands.iter().zip(&stretched))
        .map(|(operand, stretched)| stretched.as_ref().unwrap_or(operand))
        .collect();
    let yielded = group::run(op.0, cx, &arguments)?;
    let results = yielded.into_iter().zip(g.results(op.0));
    let results = results.map(|(tensor, result)| {
        if g.ty(result).rank() == shape.len() {
            return filled(cx, &tensor, &shape);
        }
        let mut kept = shape.clone();
        let axis = op
            .reduced(g)
            .expect("a uniform result lacks a reduced dimension");
        kept[axis] = 1;
        let tensor = filled(cx, &tensor, &kept)?;
        kept.remove(axis);
        Ok(tensor.with_shape(kept))
    });
    results.collect()
}

fn eval_along(op: Along, cx: &EvalCx<'_>, operands: &[&Tensor]) -> Result<Tensor, EvalError> {
    let g = cx.graph;
    let around = g.parent(op.id()).and_then(|block| g.block_owner(block));
    let nest = around.and_then(|owner| g.view::<Nest>(owner));
    let axis = nest.and_then(|nest| Some((nest, nest.reduced(g)?)));
    let Some((nest, axis)) = axis else {
        return Err(EvalError::NotEvaluable(Along::DEF.name));
    };
    let shape: Vec<usize> = nest.dims(g).iter().map(|&extent| extent as usize).collect();
    let whole = filled(cx, operands[0], &shape)?;
    let reduced = (0..shape.len()).map(|at| at == axis).collect();
    let along = core_reduce::Along::new(reduced, true);
    core_reduce::reduce(op.kind(g), cx, &whole, &along)
}
