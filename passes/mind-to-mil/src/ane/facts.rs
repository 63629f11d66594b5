//! Checks ops against limits.

use mind_ir::builtin::Yield;
use mind_ir::graph::Graph;
use mind_ir::types::Dim;
use mind_ir::{OpId, ValueId};
use mind_mil::MilOp;
use mind_mil::call::{Call, element_of, floats, is_constant};
use mind_mil::primer;
use mind_mil::structure::{Input, constant_of};

use super::rows::{Limit, is_reported};

/// Returns the property of the op that violates the limit; `None` if it satisfies it.
pub(super) fn broken(
    limit: Limit,
    g: &Graph,
    op: OpId,
    row: &MilOp,
    call: &Call<'_>,
) -> Option<String> {
    match limit {
        Limit::NotOneOf(ops) => ops.contains(&row.name).then(|| format!("`{}`", row.name)),
        Limit::Reported => (!is_reported(row.name)).then(|| format!("`{}`", row.name)),
        Limit::Written { op: own, arg } => (row.name == own && call.value(arg).is_none())
            .then(|| format!("`{arg}` of `{own}` is left out")),
        Limit::Annotated => primer::bare(g, op).map(|results| format!("`{results}` has no `name`")),
        Limit::NoElement(element) => {
            let value = converted(g, op, row)
                .into_iter()
                .find(|&value| element_of(g, value).name() == element)?;
            Some(format!(
                "{} is {element}",
                mind_mil::check::name_of(g, value)
            ))
        }
        Limit::Rank(most) => {
            let rank = tensors(g, op)
                .into_iter()
                .map(|value| g.ty(value).rank())
                .max()?;
            (rank > most).then(|| format!("rank is {rank}, limit is {most}"))
        }
        Limit::Extent(most) => {
            let extents = tensors(g, op)
                .into_iter()
                .flat_map(|value| g.ty(value).shape);
            let most_found = extents.filter_map(|dim| dim.fixed()).max()?;
            (most_found > most).then(|| format!("an extent is {most_found}, limit is {most}"))
        }
        Limit::Static => {
            let value = tensors(g, op).into_iter().find(|&value| {
                g.ty(value)
                    .shape
                    .iter()
                    .any(|dim| !matches!(dim, Dim::Fixed(_)))
            })?;
            Some(format!(
                "{} is {}",
                mind_mil::check::name_of(g, value),
                g.type_text(value)
            ))
        }
        Limit::Kernel { width, column } => {
            let weight = call
                .value("weight")
                .filter(|_| row.name.starts_with("conv"))?;
            let kernel: Vec<i64> = g.ty(weight).static_shape()?.split_off(2);
            let most = if kernel.last() == Some(&1) {
                column
            } else {
                width
            };
            let widest = kernel.into_iter().max()?;
            (widest > most).then(|| format!("kernel is {widest}, limit is {most}"))
        }
        Limit::Pointwise => {
            let name = match row.name {
                "linear" => "weight",
                "matmul" => "y",
                _ => return None,
            };
            let weight = call.value(name)?;
            let plain = g.ty(weight).rank() == 2 && is_constant(g, weight);
            plain.then(|| format!("`{name}` is a constant matrix"))
        }
        Limit::Pool(most) => {
            let sizes = call
                .ints("kernel_sizes")
                .known()
                .filter(|_| row.name == "max_pool")?;
            let widest = sizes.into_iter().max()?;
            (widest > most).then(|| format!("window is {widest}, limit is {most}"))
        }
        Limit::Contracted(most) => contracted(most, g, row, call),
        Limit::FixedIndices => {
            let indices = call.value("indices").filter(|_| row.name == "gather")?;
            (!is_constant(g, indices)).then(|| "the indices come at run time".to_owned())
        }
        Limit::FixedWeight => {
            let (x, weight) = (
                call.value("x")?,
                call.value("weight")
                    .filter(|_| row.name.starts_with("conv"))?,
            );
            let batch = g.ty(x).shape.first()?.fixed()?;
            (!is_constant(g, weight) && batch != 1)
                .then(|| format!("the weight comes at run time, batch is {batch}"))
        }
        Limit::NoReductionTimesZero => reduction_times_zero(g, row, call),
        Limit::LastAxis => {
            let value = tensors(g, op).into_iter().find(|&value| {
                let ty = g.ty(value);
                ty.shape.last() == Some(&Dim::Fixed(1)) && ty.count().is_some_and(|count| count > 1)
            })?;
            Some(format!(
                "{} is {}",
                mind_mil::check::name_of(g, value),
                g.type_text(value)
            ))
        }
        Limit::Epsilon(least) => {
            call.args.iter().find(|arg| arg.name == "epsilon")?;
            let epsilon = call.float("epsilon")?;
            (epsilon > 0.0 && epsilon < least).then(|| format!("epsilon is {epsilon:e}"))
        }
        Limit::PartialSum(most) => super::range::partial_sum(most, g, row, call),
        Limit::Finite => finite(g, op),
        Limit::Island(_) => None,
    }
}

/// Returns the operands and results of an op, except constant operands.
fn tensors(g: &Graph, op: OpId) -> Vec<ValueId> {
    let read = g
        .operands(op)
        .iter()
        .copied()
        .filter(|&value| constant_of(g, value).is_none());
    read.chain(g.results(op)).collect()
}

/// Returns the tensors whose element types count. A cast at the edge of the program has none, because it need not run
/// on the engine; indices that `topk` returns are left out.
fn converted(g: &Graph, op: OpId, row: &MilOp) -> Vec<ValueId> {
    let mut all = tensors(g, op);
    match row.name {
        "topk" => {
            all.retain(|&value| g.defining_op(value) != Some(op) || g.results(op).get(0) == value)
        }
        "cast" if at_edge(g, op) => all.clear(),
        _ => {}
    }
    all
}

/// Returns whether an op reads only inputs of the program, or its results are only outputs of the program.
fn at_edge(g: &Graph, op: OpId) -> bool {
    let is_input = |value: ValueId| g.defining_op(value).is_none_or(|own| g.is::<Input>(own));
    let mut read = tensors(g, op)
        .into_iter()
        .filter(|&value| g.defining_op(value) != Some(op));
    let leaves = |value: ValueId| g.uses(value).all(|(user, _)| g.is::<Yield>(user));
    read.all(is_input) || g.results(op).into_iter().all(leaves)
}

fn reduction_times_zero(g: &Graph, row: &MilOp, call: &Call<'_>) -> Option<String> {
    if row.name != "mul" {
        return None;
    }
    let (x, y) = (call.value("x")?, call.value("y")?);
    [(x, y), (y, x)].into_iter().find_map(|(value, zero)| {
        let reduction = g.def(g.defining_op(value)?).short_name();
        let tensor = constant_of(g, zero)?.tensor(g)?;
        let zeros = floats(&tensor).into_iter().all(|element| element == 0.0);
        (reduction.starts_with("reduce_") && zeros).then(|| format!("`{reduction}` times 0"))
    })
}

fn contracted(most: i64, g: &Graph, row: &MilOp, call: &Call<'_>) -> Option<String> {
    let x = call
        .value("x")
        .filter(|_| matches!(row.name, "matmul" | "linear"))?;
    let shape = g.ty(x).shape;
    let at = if call.flag("transpose_x") {
        shape.len().checked_sub(2)?
    } else {
        shape.len().checked_sub(1)?
    };
    let inner = shape.get(at)?.fixed()?;
    (inner > most).then(|| format!("contracted extent is {inner}, limit is {most}"))
}

fn finite(g: &Graph, op: OpId) -> Option<String> {
    let mut constants = g
        .operands(op)
        .iter()
        .filter_map(|&value| constant_of(g, value)?.tensor(g));
    let bad = constants
        .find_map(|tensor| floats(&tensor).into_iter().find(|value| !value.is_finite()))?;
    Some(format!("a constant holds {bad}"))
}
