//! Lowers `argmax_window` to a chain of comparisons over the taps, at all positions at once.

use mind_core::eval::sliding::SlideAxis;
use mind_core::ops::compare::{Compare, Direction, Select};
use mind_core::ops::elementwise::Add;
use mind_core::ops::logic::{And, Or};
use mind_core::ops::pad::Margins;
use mind_core::ops::window::ArgMaxWindow;
use mind_ir::ValueId;
use mind_ir::builder::Builder;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::tensor::{Tensor, advance, row_major};
use mind_ir::types::Dim;
use mind_tensor::ops::broadcast::Broadcast;
use mind_tensor::ops::index::Slice;

use crate::emit::{LowerKnown, Lowered, map, shape};
use crate::gather::number;
use crate::known::LONGEST;
use crate::pad;
use crate::window::{extents, is_small};

pub(crate) const ROWS: &[(&OpDef, LowerKnown)] = &[(ArgMaxWindow::DEF, |op, b| {
    let view = ArgMaxWindow::from_id(op);
    let input = view.input(b.graph);
    let Some(extents) = extents(&shape(b, input)) else {
        return Ok(None);
    };
    let axes = view.slides(b.graph, &extents).ok();
    let Some(axes) = axes.filter(|axes| is_small(axes) && is_short(axes)) else {
        return Ok(None);
    };
    Windows { axes }.lower(b, input).map(Some)
})];

/// The largest number of taps that is unrolled.
const TAPS: usize = 64;

/// The largest padded input that may be several times the size of the input.
const PADDED: usize = 1 << 16;

/// Returns whether there are few taps, few enough positions for constants, and not much more padding than input.
fn is_short(axes: &[SlideAxis]) -> bool {
    let total = |counts: &mut dyn Iterator<Item = usize>| counts.fold(1, usize::saturating_mul);
    let taps = total(&mut axes.iter().map(|axis| axis.window));
    let own = total(&mut axes.iter().map(|axis| axis.extent));
    let padded = total(&mut axes.iter().map(|axis| {
        let Margins { low, high, .. } = margins(axis);
        axis.extent.saturating_add((low + high) as usize)
    }));
    let mut positions = axes.iter().map(|axis| axis.positions as i64);
    taps <= TAPS
        && padded <= own.saturating_mul(4).max(PADDED)
        && positions.all(|count| count <= LONGEST)
}

/// Returns the padding that windows read along a dimension.
fn margins(axis: &SlideAxis) -> Margins {
    let positions = (axis.positions.max(1) as i64 - 1).saturating_mul(axis.stride);
    let taps = (axis.window as i64 - 1).saturating_mul(axis.dilation);
    let end = positions.saturating_add(taps).saturating_add(1);
    Margins {
        low: axis.low,
        high: (end - axis.low - axis.extent as i64).max(0),
        interior: 0,
    }
}

/// Windows with few taps.
struct Windows {
    axes: Vec<SlideAxis>,
}

/// One tap of every window.
struct Tap {
    elements: ValueId,
    /// For each dimension along which the tap is outside at some position, a mask of the positions where it is inside.
    inside: Vec<ValueId>,
    /// The distance from the index of the first tap to that of this tap.
    ahead: i64,
}

impl Windows {
    fn lower(&self, b: &mut Builder<'_>, input: ValueId) -> Lowered {
        let window: Vec<usize> = self.axes.iter().map(|axis| axis.window).collect();
        let extents: Vec<usize> = self.axes.iter().map(|axis| axis.extent).collect();
        let strides = row_major(&extents);
        let padded = self.padded(b, input)?;
        let (mut taps, mut index) = (Vec::new(), vec![0; window.len()]);
        loop {
            taps.push(self.tap(b, padded, &index, &strides)?);
            if !advance(&mut index, &window) {
                break;
            }
        }
        let starts = self.starts(b, &strides)?;
        let mut operands = starts.clone();
        for tap in &taps {
            operands.push(tap.elements);
            operands.extend(&tap.inside);
        }
        map(b, &operands, |b, scalars| {
            let (starts, mut rest) = scalars.split_at(starts.len());
            let mut best: Option<(ValueId, ValueId)> = None;
            let mut start = number(b, 0);
            for &own in starts {
                start = Add::build(b, start, own)?;
            }
            for tap in &taps {
                let (own, after) = rest.split_at(1 + tap.inside.len());
                rest = after;
                let ahead = number(b, tap.ahead);
                let place = Add::build(b, start, ahead)?;
                best = Some(better(b, best, (own[0], place), &own[1..])?);
            }
            Ok(best.expect("a window has a tap").1)
        })
    }

    /// Emits the input, padded with zeros as far as windows read.
    fn padded(&self, b: &mut Builder<'_>, input: ValueId) -> Lowered {
        let margins: Vec<Margins> = self.axes.iter().map(margins).collect();
        let padded = pad::constant(b, input, None, &margins)?;
        Ok(padded.expect("the extents are known"))
    }

    /// Emits the elements under the tap at `index` of every window.
    fn tap(
        &self,
        b: &mut Builder<'_>,
        padded: ValueId,
        index: &[usize],
        strides: &[usize],
    ) -> Result<Tap, Box<mind_ir::verify::VerifyError>> {
        let axes = || self.axes.iter().zip(index);
        let starts: Vec<i64> = axes()
            .map(|(axis, &at)| at as i64 * axis.dilation)
            .collect();
        let ends = axes()
            .zip(&starts)
            .map(|((axis, _), start)| match axis.positions {
                0 => *start,
                positions => start + (positions as i64 - 1) * axis.stride + 1,
            });
        let ends: Vec<i64> = ends.collect();
        let steps: Vec<i64> = self.axes.iter().map(|axis| axis.stride).collect();
        let elements = Slice::with(&starts, &ends, &steps).build(b, padded)?;
        let mut inside = Vec::new();
        for (dimension, axis) in self.axes.iter().enumerate() {
            let element = |at: usize| at as i64 * axis.stride + starts[dimension] - axis.low;
            let own = (0..axis.positions).map(|at| (0..axis.extent as i64).contains(&element(at)));
            let own: Vec<bool> = own.collect();
            if own.contains(&false) {
                inside.push(self.row(b, dimension, &Tensor::of(vec![own.len()], own))?);
            }
        }
        let ahead = starts.iter().zip(strides);
        Ok(Tap {
            elements,
            inside,
            ahead: ahead.map(|(start, &stride)| start * stride as i64).sum(),
        })
    }

    /// Emits for each dimension its contribution to the index of the first tap; dimensions where it is always 0 are
    /// omitted.
    fn starts(
        &self,
        b: &mut Builder<'_>,
        strides: &[usize],
    ) -> Result<Vec<ValueId>, Box<mind_ir::verify::VerifyError>> {
        let mut starts = Vec::new();
        for (dimension, axis) in self.axes.iter().enumerate() {
            let start =
                |at: usize| (at as i64 * axis.stride - axis.low) * strides[dimension] as i64;
            let own: Vec<i64> = (0..axis.positions).map(start).collect();
            if own.iter().any(|&start| start != 0) {
                starts.push(self.row(b, dimension, &Tensor::of(vec![own.len()], own))?);
            }
        }
        Ok(starts)
    }

    /// Emits a constant that varies along one dimension of the result.
    fn row(&self, b: &mut Builder<'_>, dimension: usize, elements: &Tensor) -> Lowered {
        let shape: Vec<Dim> = self
            .axes
            .iter()
            .map(|axis| Dim::Fixed(axis.positions as i64))
            .collect();
        let row = mind_core::constant(b, elements);
        Broadcast::with(&[dimension as i64], &shape).build(b, &[row])
    }
}

/// Emits the better of the best tap so far and the next one, which is inside where all of `inside` are true. Returns
/// the element and the index, which is -1 before any tap inside.
fn better(
    b: &mut Builder<'_>,
    best: Option<(ValueId, ValueId)>,
    (element, place): (ValueId, ValueId),
    inside: &[ValueId],
) -> Result<(ValueId, ValueId), Box<mind_ir::verify::VerifyError>> {
    let mut counts = None;
    for &own in inside {
        counts = Some(match counts {
            Some(counts) => And::build(b, counts, own)?,
            None => own,
        });
    }
    let none = number(b, -1);
    let Some((own, at)) = best else {
        let at = match counts {
            Some(counts) => Select::build(b, counts, place, none)?,
            None => place,
        };
        return Ok((element, at));
    };
    let larger = Compare::with(Direction::Gt).build(b, element, own)?;
    let is_nan = Compare::with(Direction::Ne).build(b, element, element)?;
    let is_number = Compare::with(Direction::Eq).build(b, own, own)?;
    let is_first_nan = And::build(b, is_nan, is_number)?;
    let zero = number(b, 0);
    let is_first = Compare::with(Direction::Lt).build(b, at, zero)?;
    let above = Or::build(b, larger, is_first_nan)?;
    let mut takes = Or::build(b, above, is_first)?;
    if let Some(counts) = counts {
        takes = And::build(b, takes, counts)?;
    }
    let element = Select::build(b, takes, element, own)?;
    let place = Select::build(b, takes, place, at)?;
    Ok((element, place))
}
