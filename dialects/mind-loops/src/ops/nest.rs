//! Loop nests.

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
    /// The values that the body computes from the elements at each position of a loop nest.
    ///
    /// Shapes: the nest has the extents `dims`. An operand has the same extents, or lacks the dimension `along`; so
    /// does a result that does not vary along that dimension. The body has one scalar argument per operand and yields
    /// one scalar per result; it holds constants, core's elementwise ops, and `loops.along`, which reduces over the
    /// dimension `along` and is invariant along it.
    /// Schedule: `vector` is the vectorised dimension. For a reduction that is the reduced dimension, or the last one
    /// if that follows it; -1 selects the last one if every operand has stride 0 or 1 along it, and otherwise the
    /// reduced one. `parallel` is the dimension that threads share, `[]` if one thread runs the whole nest. It is the
    /// outermost loop, and may be the vectorised dimension only if it is the only one. `tile` has the extents of a task
    /// for each of `dims`: the full extent of a dimension that is not parallel, and the least extent of the parallel
    /// one, where `[]` means 1. If the vectorised dimension is split into tiles, it is one loop per tile; `[]` does not
    /// split it. `unroll` is the number of vectors in an iteration of each loop without a reduction, or of columns that
    /// are reduced together, 1 to 8; 0 means 4 (columns: 8) in short bodies and fewer in long ones. `at` has the byte
    /// offset of each result in the workspace, -1 for an output of the module.
    /// Order: that of the body's ops in sequence, each with its own rounding.
    /// Errors: E3002, E3003 operands of another shape, E3004 axis out of range, E4006 not one entry per dimension,
    /// E4021 another op in the body, or a result that varies along a reduced dimension that is not the last, E4022 a
    /// schedule that is not valid for the nest.
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

    /// The sum, mean or maximum along the reduced dimension of the enclosing nest.
    ///
    /// Shapes: as the operand.
    /// Order: 64 interleaved partial results, see docs/numerics.md, `Sum`, `Mean` and `Max`.
    /// Errors: E2005 `bool`; E6005 when run, on a mean of no elements for integers.
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
    /// Returns the block of the body.
    pub fn body(self, g: &Graph) -> BlockId {
        g.block(g.regions(self.0)[0])
    }

    /// Returns the reduced dimension.
    pub fn reduced(self, g: &Graph) -> Option<usize> {
        usize::try_from(self.along(g)).ok()
    }

    /// Returns whether the operand at `index` lacks the reduced dimension.
    pub fn is_row(self, g: &Graph, index: usize) -> bool {
        g.ty(self.inputs(g)[index]).rank() < self.dims(g).len()
    }

    /// Returns the vectorised dimension: `vector`, or the default for -1. `None` for a nest without dimensions.
    pub fn vector_axis(self, g: &Graph) -> Option<usize> {
        usize::try_from(self.vector(g))
            .ok()
            .or_else(|| vector_axis(g, self.inputs(g), self.dims(g).len(), self.reduced(g)))
    }

    /// Returns the dimension that threads share.
    pub fn shared(self, g: &Graph) -> Option<usize> {
        self.parallel(g).first().map(|&axis| axis as usize)
    }

    /// Returns the extents without the reduced dimension.
    fn kept_extents(self, g: &Graph) -> Vec<i64> {
        let mut kept = self.dims(g).to_vec();
        if let Some(axis) = self.reduced(g) {
            kept.remove(axis);
        }
        kept
    }
}

/// Returns the default vectorised dimension of a nest over `inputs`.
///
/// Without a reduction it is the last one. A reduction vectorises the reduced dimension, or the last one if that
/// follows the reduced one and every operand has stride 0 or 1 along it. For example a sum over the rows of a row-major
/// matrix vectorises the columns.
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
    let kept = op.kept_extents(g);
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
                allowed: "results that are invariant along a reduced dimension that is not the last",
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

/// Checks that the scheduled dimensions can be vectorised, shared and tiled.
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
    // The default of `vector` depends on strides, and an operand without a type has none yet.
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

/// The largest unroll factor of a loop, in vectors.
pub const MAX_UNROLL: i64 = 8;

/// Returns the values of a body that are invariant along the reduced dimension, given which arguments are.
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
/// E3004 a parallel dimension out of range, E4006 a wrong number of tiles or offsets.
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

/// Runs the body once on whole tensors, in which invariant values have extent 1 along the reduced dimension.
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
    let along = core_reduce::ReducedAxes::new(reduced, true);
    core_reduce::reduce(op.kind(g), cx, &whole, &along)
}
