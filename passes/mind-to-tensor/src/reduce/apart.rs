//! Reductions of few non-contiguous elements, for example 2 by 2 pooling by a mean: a map with an operand for each
//! element.

use mind_core::ops::elementwise::{Add, Div, Maximum, Minimum, Mul};
use mind_ir::attr::OPEN_END;
use mind_ir::builder::Builder;
use mind_ir::opdef::Op;
use mind_ir::tensor::{FloatNum, Tensor};
use mind_ir::types::DType;
use mind_ir::{ValueId, with_float};
use mind_tensor::ops::index::Slice;
use mind_tensor::ops::reduce::Reduction;

use crate::emit::{Lowered, map, shape};

/// The largest number of elements of a result that become operands of one map.
const FEW: i64 = 16;

/// Returns the reduced extents, with 1 for each kept axis, if a map is faster. It is if there are kept axes between the
/// reduced ones, because a loop would first have to copy the elements to contiguous memory, and if there are few
/// elements. `None` otherwise, and for reductions that are not computed in the dtype of the elements, for example sums
/// of f16.
pub(super) fn extents(
    b: &Builder<'_>,
    kind: Reduction,
    input: ValueId,
    axes: &[i64],
) -> Option<Vec<i64>> {
    let ty = b.graph.ty(input);
    let is_exact = match kind {
        Reduction::Max | Reduction::Min => true,
        Reduction::Sum | Reduction::Prod => ty.dtype.narrow_float().is_none(),
        Reduction::Mean => ty.dtype.is_float() && ty.dtype.narrow_float().is_none(),
    };
    if ty.dtype == DType::Bool || !is_exact {
        return None;
    }
    let all: Option<Vec<i64>> = ty.shape.iter().map(|dim| dim.fixed()).collect();
    let all = all?;
    let is_reduced = |axis: usize| axes.contains(&(axis as i64));
    let extents = all.iter().enumerate();
    let extents: Vec<i64> = extents
        .map(|(axis, &extent)| if is_reduced(axis) { extent } else { 1 })
        .collect();
    let count = extents
        .iter()
        .try_fold(1i64, |count, &extent| count.checked_mul(extent));
    // For each run of adjacent axes with more than one element, whether they are reduced.
    let mut runs: Vec<bool> = (0..all.len())
        .filter(|&axis| all[axis] > 1)
        .map(is_reduced)
        .collect();
    runs.dedup();
    let are_apart = runs.iter().filter(|&&is_reduced| is_reduced).count() > 1;
    let are_few = count.is_some_and(|count| (2..=FEW).contains(&count));
    (are_few && are_apart && !all.contains(&0)).then_some(extents)
}

/// Emits a reduction with an operand for each position of `extents`. The order is that of docs/numerics.md for few
/// elements, which halves the partial results. Axes are kept.
pub(super) fn lower(
    b: &mut Builder<'_>,
    kind: Reduction,
    input: ValueId,
    extents: &[i64],
) -> Lowered {
    let (all, dtype) = (shape(b, input), b.graph.ty(input).dtype);
    let steps = vec![1; extents.len()];
    let mut starts = vec![0; extents.len()];
    let mut parts = Vec::new();
    loop {
        let ends = starts.iter().zip(extents).zip(&all);
        let ends: Vec<i64> = ends
            .map(|((&start, &extent), dim)| match extent {
                1 => dim.fixed().unwrap_or(OPEN_END),
                _ => start + 1,
            })
            .collect();
        parts.push(Slice::with(&starts, &ends, &steps).build(b, input)?);
        // Advances to the next position in row-major order.
        let Some(axis) = (0..extents.len())
            .rev()
            .find(|&axis| starts[axis] + 1 < extents[axis])
        else {
            break;
        };
        starts[axis] += 1;
        starts[axis + 1..].fill(0);
    }
    map(b, &parts, |b, scalars| {
        let def = match kind {
            Reduction::Sum | Reduction::Mean => Add::DEF,
            Reduction::Prod => Mul::DEF,
            Reduction::Max => Maximum::DEF,
            Reduction::Min => Minimum::DEF,
        };
        let mut partials = scalars.to_vec();
        if matches!(kind, Reduction::Sum | Reduction::Mean) && dtype.is_float() {
            // The partial sums of docs/numerics.md start from +0, which turns a sum of only -0 into +0. Adding it once
            // has the same effect.
            let zero = number(b, dtype, 0.0);
            partials[0] = b.one(def, &[zero, partials[0]], &[])?;
        }
        let mut half = partials.len().next_power_of_two() / 2;
        while half > 0 {
            for place in half..partials.len() {
                let pair = [partials[place - half], partials[place]];
                partials[place - half] = b.one(def, &pair, &[])?;
            }
            partials.truncate(half);
            half /= 2;
        }
        match kind {
            Reduction::Mean => {
                let count = number(b, dtype, scalars.len() as f64);
                Div::build(b, partials[0], count)
            }
            _ => Ok(partials[0]),
        }
    })
}

/// Emits a constant of the float `dtype`.
///
/// # Panics
///
/// If `dtype` is not a float.
fn number(b: &mut Builder<'_>, dtype: DType, value: f64) -> ValueId {
    let number = with_float!(dtype, T => Tensor::scalar(T::from_f64(value)), else {
        panic!("{dtype} has no zero or count of floats")
    });
    mind_core::constant(b, &number)
}
