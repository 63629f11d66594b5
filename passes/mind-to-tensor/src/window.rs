//! Lowers window reductions of tensors with known extents.

use mind_core::eval::sliding::SlideAxis;
use mind_core::ops::window::ReduceWindow;
use mind_core::slide::{LARGEST, Slide as Windows, SlideKind, divisor_dtype};
use mind_ir::builder::Builder;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::scalar::Reduction;
use mind_ir::tensor::{Num, Tensor, advance};
use mind_ir::types::{DType, Dim};
use mind_ir::with_num;
use mind_ir::{OpId, ValueId};
use mind_tensor::ops::slide::Slide;

use crate::emit::{LowerKnown, Lowered, shape};
use crate::known::{Known, LONGEST};

pub(crate) const ROWS: &[(&OpDef, LowerKnown)] = &[(ReduceWindow::DEF, lower_reduce_window)];

/// Emits sliding windows over the first of `inputs`.
pub(crate) fn slide(b: &mut Builder<'_>, windows: &Windows, inputs: &[ValueId]) -> Lowered {
    let lists = windows.lists();
    let [positions, window, strides, dilations, low, base] = lists.each_ref().map(Vec::as_slice);
    Slide::with(
        windows.kind,
        positions,
        window,
        strides,
        dilations,
        low,
        base,
    )
    .build(b, inputs)
}

/// Returns the extents of `shape`; `None` if one is not known or exceeds the limit of sliding windows.
pub(crate) fn extents(shape: &[Dim]) -> Option<Vec<usize>> {
    let known = |dim: &Dim| dim.fixed().filter(|extent| (0..=LARGEST).contains(extent));
    shape
        .iter()
        .map(|dim| known(dim).map(|extent| extent as usize))
        .collect()
}

/// Returns whether all attributes of `axes` are in the range of sliding windows.
pub(crate) fn is_small(axes: &[SlideAxis]) -> bool {
    let small = |number: i64| (-LARGEST..=LARGEST).contains(&number);
    axes.iter().all(|axis| {
        let counts = [axis.extent, axis.positions, axis.window];
        let numbers = [axis.stride, axis.dilation, axis.low, axis.base];
        counts.into_iter().all(|count| small(count as i64)) && numbers.into_iter().all(small)
    })
}

fn lower_reduce_window(op: OpId, b: &mut Builder<'_>) -> Known {
    let view = ReduceWindow::from_id(op);
    let (g, input) = (&*b.graph, view.input(b.graph));
    let (kind, counts_padding) = (view.kind(g), view.count_padding(g));
    let Some(extents) = extents(&shape(b, input)) else {
        return Ok(None);
    };
    let axes = view.slides(b.graph, &extents).ok();
    let Some(axes) = axes.filter(|axes| is_small(axes)) else {
        return Ok(None);
    };
    if matches!(kind, Reduction::Max | Reduction::Min)
        && let Some(stages) = one_dimension_at_a_time(&axes)
    {
        let mut value = input;
        for axes in stages {
            let kind = SlideKind::of(kind);
            value = slide(b, &Windows { kind, axes }, &[value])?;
        }
        return Ok(Some(value));
    }
    let mut inputs = vec![input];
    if kind == Reduction::Mean {
        let dtype = divisor_dtype(b.graph.ty(input).dtype);
        let Some(divisors) = divisors(dtype, &axes, counts_padding) else {
            return Ok(None);
        };
        inputs.push(mind_core::constant(b, &divisors));
    }
    let kind = SlideKind::of(kind);
    slide(b, &Windows { kind, axes }, &inputs).map(Some)
}

/// Splits windows with many taps to windows along one dimension each, the last one first. This is valid for maxima and
/// minima, because their order has no effect. Returns `None` if it does not pay.
fn one_dimension_at_a_time(axes: &[SlideAxis]) -> Option<Vec<Vec<SlideAxis>>> {
    const MANY: usize = 16;
    let taps = axes.iter().map(|axis| axis.window);
    let taps = taps.fold(1, usize::saturating_mul);
    let order: Vec<usize> = (0..axes.len()).rev().collect();
    let (wide, others): (Vec<usize>, Vec<usize>) =
        order.into_iter().partition(|&at| axes[at].window > 1);
    if wide.len() < 2 || taps < MANY {
        return None;
    }
    let extents = axes.iter().map(|axis| SlideAxis::fixed(axis.extent));
    let mut left: Vec<SlideAxis> = extents.collect();
    // Dimensions with a window of 1 may skip elements. The first stage does so, so that later stages read fewer.
    others.iter().for_each(|&at| left[at] = axes[at]);
    let mut stages = Vec::with_capacity(wide.len());
    for at in wide {
        left[at] = axes[at];
        stages.push(left.clone());
        let done = left.iter().map(|axis| SlideAxis::fixed(axis.positions));
        left = done.collect();
    }
    Some(stages)
}

/// Returns the divisors of a mean; `None` if they are too many, or not exact nonzero numbers of `dtype`.
fn divisors(dtype: DType, axes: &[SlideAxis], counts_padding: bool) -> Option<Tensor> {
    let along = |axis: &SlideAxis| -> Option<Vec<usize>> {
        if counts_padding || axis.positions == 0 {
            return Some(vec![axis.window]);
        }
        if axis.positions as i64 > LONGEST {
            return None;
        }
        let mut counts: Vec<usize> = (0..axis.positions).map(|at| axis.inside(at)).collect();
        if counts.iter().all(|&count| count == counts[0]) {
            counts.truncate(1);
        }
        Some(counts)
    };
    let along: Vec<Vec<usize>> = axes.iter().map(along).collect::<Option<_>>()?;
    let shape: Vec<usize> = along.iter().map(Vec::len).collect();
    let total = shape
        .iter()
        .try_fold(1usize, |total, &own| total.checked_mul(own))?;
    if total as i64 > LONGEST {
        return None;
    }
    let mut counts = Vec::with_capacity(total);
    let mut index = vec![0; shape.len()];
    loop {
        let own = index.iter().zip(&along).map(|(&at, counts)| counts[at]);
        counts.push(own.fold(1, usize::saturating_mul));
        if !advance(&mut index, &shape) {
            break;
        }
    }
    with_num!(dtype, T => {
        let divisors: Vec<T> = counts.iter().map(|&count| T::from_count(count)).collect();
        let is_exact = |(&count, divisor): (&usize, &T)| {
            divisor.to_i128().is_none_or(|own| count > 0 && own == count as i128)
        };
        let all = counts.iter().zip(&divisors).all(is_exact);
        all.then(|| Tensor::of(shape, divisors))
    }, else { None })
}
