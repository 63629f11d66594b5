//! Window reductions.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::cumulative::{Accumulation, Cumulative};
use mind_core::ops::window::ReduceWindow;
use mind_ir::ValueId;
use mind_ir::scalar::Reduction;
use mind_ir::types::{DType, Dim};

use super::Row;
use super::body::{Combiner, unknown_region};
use crate::import::emit::{Emit, One};
use crate::import::node::Node;

pub(super) const ROWS: &[Row] = &[Row::one("stablehlo.reduce_window", reduce_window)];

impl Combiner {
    fn reduction(self) -> Reduction {
        match self {
            Combiner::Sum => Reduction::Sum,
            Combiner::Prod => Reduction::Prod,
            Combiner::Max => Reduction::Max,
            Combiner::Min => Reduction::Min,
        }
    }

    fn accumulation(self) -> Accumulation {
        match self {
            Combiner::Sum => Accumulation::Sum,
            Combiner::Prod => Accumulation::Prod,
            Combiner::Max => Accumulation::Max,
            Combiner::Min => Accumulation::Min,
        }
    }
}

/// Returns a list with one entry for each dimension, all `default` if it is missing.
pub(super) fn entries(
    n: &Node<'_, '_, '_>,
    name: &'static str,
    count: usize,
    default: i64,
) -> Result<Vec<i64>, Refusal> {
    let list = n.optional_ints(&[name])?;
    let list = list.unwrap_or_else(|| vec![default; count]);
    match list.len() {
        found if found == count => Ok(list),
        found => Err(Refusal::length(
            name,
            found,
            count,
            "as the rank of the operand says",
        )),
    }
}

fn reduce_window(n: &mut Node<'_, '_, '_>) -> One {
    if n.inputs.len() != 2 {
        return Err(Refusal::operands(
            n.inputs.len(),
            "2 (a tensor and a start)",
        ));
    }
    let x = n.input(0)?;
    let (rank, of) = (n.e.rank(x), n.e.dtype(x));
    let window = entries(n, "window_dimensions", rank, 1)?;
    let strides = entries(n, "window_strides", rank, 1)?;
    let base = entries(n, "base_dilations", rank, 1)?;
    let dilations = entries(n, "window_dilations", rank, 1)?;
    let padding = entries(n, "padding", 2 * rank, 0)?;
    if base.iter().any(|own| *own != 1) {
        let found = format!("{base:?}");
        return Err(
            Refusal::value("base_dilations", found, "1 for each dimension")
                .help("`stablehlo.pad` with `interior` puts elements between those of a tensor"),
        );
    }
    let Some(combiner) = Combiner::of(n, n.region(0)?, of) else {
        return Err(unknown_region(n, "a sum, product, maximum or minimum"));
    };
    let low: Vec<i64> = padding.iter().copied().step_by(2).collect();
    let high: Vec<i64> = padding.iter().copied().skip(1).step_by(2).collect();
    let plain = |list: &[i64]| list.iter().all(|own| *own == 1);
    let axis = match plain(&strides) && plain(&dilations) && of != DType::Bool {
        true => prefixes(&n.e, x, [&window, &low, &high]),
        false => None,
    };
    let own = match axis {
        Some((axis, is_reverse)) => Cumulative::with(axis as i64)
            .kind(combiner.accumulation())
            .reverse(is_reverse)
            .build(&mut n.e, x)?,
        None => windows(n, x, combiner, [&window, &strides, &dilations, &low, &high])?,
    };
    if combiner.is_identity(n.given(1)?) {
        return Ok(own);
    }
    let start = n.input(1)?;
    n.e.apply(combiner.function(of), &[start, own])
}

/// Reduces windows; booleans are reduced as bytes.
fn windows(
    n: &mut Node<'_, '_, '_>,
    x: ValueId,
    combiner: Combiner,
    [window, strides, dilations, low, high]: [&[i64]; 5],
) -> One {
    let of = n.e.dtype(x);
    let plain = match of {
        DType::Bool => n.e.convert(x, DType::U8)?,
        _ => x,
    };
    let op = ReduceWindow::with(window, combiner.reduction())
        .strides(strides)
        .dilations(dilations)
        .low(low)
        .high(high);
    let own = op.build(&mut n.e, plain)?;
    n.e.convert(own, of)
}

/// Returns the axis of a cumulative reduction, in which each window has all elements up to its position, or from its
/// position on if the flag is true.
fn prefixes(e: &Emit<'_>, x: ValueId, [window, low, high]: [&[i64]; 3]) -> Option<(usize, bool)> {
    let mut long = (0..window.len()).filter(|&axis| window[axis] != 1);
    let (axis, None) = (long.next()?, long.next()) else {
        return None;
    };
    let is_alone = |at: usize| at == axis || (low[at], high[at]) == (0, 0);
    let extent = e.dims(x)[axis];
    if extent != Dim::Fixed(window[axis]) || !(0..window.len()).all(is_alone) {
        return None;
    }
    let all = window[axis] - 1;
    match (low[axis], high[axis]) {
        (before, 0) if before == all => Some((axis, false)),
        (0, after) if after == all => Some((axis, true)),
        (_, _) => None,
    }
}
