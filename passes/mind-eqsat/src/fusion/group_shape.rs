//! What may run as one loop nest.
//!
//! A group is legal if its ops have one of the forms below, which a lowering to tiled loops runs
//! without computing anything twice. Kinds only label groups; forms decide.

use mind_ir::types::Dim;
use smallvec::SmallVec;

use crate::cost::{CostClass, Inner};

/// What a group runs as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum GroupShape {
    /// One scalar function after the other at the positions of one shape.
    Elementwise,
    /// Elementwise ops and reductions over the same axes of one shape: row after row, each in several
    /// passes.
    Rows,
    /// One contraction that may read through transposes, then elementwise ops at its positions.
    Contraction,
    /// A product, rows over its last axis, a product whose left side those are, then elementwise ops at
    /// its positions: by blocks of rows.
    Attention,
}

/// Why ops have no form together.
pub(crate) type Clash = &'static str;

/// An op of a group, as far as forms care.
#[derive(Clone, Debug)]
pub(crate) struct Step<'g> {
    pub(crate) class: CostClass,
    /// The axes that a reduction or normalisation runs over, a bit each.
    pub(crate) axes: u64,
    pub(crate) result: &'g [Dim],
    pub(crate) reads: SmallVec<[Read<'g>; 2]>,
}

/// What an op of a group reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read<'g> {
    /// The op of the group that defines it; `None` for an operand of the group.
    pub(crate) from: Option<usize>,
    pub(crate) shape: &'g [Dim],
}

pub(crate) const PRODUCT_AND_ROWS: Clash = "a product and a reduction run at different positions";
pub(crate) const TWO_PRODUCTS: Clash = "two products run at different positions";

/// The form of `steps`, each after those it reads.
///
/// # Errors
///
/// Why they have none.
pub(crate) fn group_shape(steps: &[Step<'_>]) -> Result<GroupShape, Clash> {
    let mut contractions: SmallVec<[usize; 2]> = SmallVec::new();
    let mut rows = false;
    for (at, step) in steps.iter().enumerate() {
        match step.class {
            CostClass::Contraction(_) => contractions.push(at),
            CostClass::Reduction | CostClass::Normalisation(_) => rows = true,
            CostClass::Elementwise | CostClass::View | CostClass::Permute => {}
            CostClass::Free | CostClass::Move | CostClass::Lookup => {
                return Err("an op that copies or looks up runs by itself");
            }
        }
    }
    match (contractions.as_slice(), rows) {
        ([], false) => elementwise(steps).map(|()| GroupShape::Elementwise),
        ([], true) => rowwise(steps).map(|()| GroupShape::Rows),
        (&[product], false) => contraction(steps, product).map(|()| GroupShape::Contraction),
        ([_], true) => Err(PRODUCT_AND_ROWS),
        (&[first, second], true) => attention(steps, first, second).map(|()| GroupShape::Attention),
        _ => Err(TWO_PRODUCTS),
    }
}

fn elementwise(steps: &[Step<'_>]) -> Result<(), Clash> {
    let space = steps.first().map_or(&[][..], |step| step.result);
    let fits = |step: &Step<'_>| step.class == CostClass::Elementwise && step.result == space;
    if steps.iter().all(fits) {
        Ok(())
    } else {
        Err("the ops run over different positions")
    }
}

/// The shapes of a group of rows.
struct Rows<'g> {
    space: &'g [Dim],
    axes: u64,
    /// The space with extent 1 along the axes.
    kept: SmallVec<[Dim; 6]>,
    /// The space without the axes.
    dropped: SmallVec<[Dim; 6]>,
}

impl<'g> Rows<'g> {
    fn of(space: &'g [Dim], axes: u64) -> Rows<'g> {
        let reduced = |at: usize| axes >> at & 1 == 1;
        let dims = || space.iter().copied().enumerate();
        Rows {
            space,
            axes,
            kept: dims()
                .map(|(at, dim)| if reduced(at) { Dim::Fixed(1) } else { dim })
                .collect(),
            dropped: dims()
                .filter(|&(at, _)| !reduced(at))
                .map(|(_, dim)| dim)
                .collect(),
        }
    }

    /// The shapes of the first reduction or normalisation of `steps`.
    fn first(steps: &[Step<'g>]) -> Option<Rows<'g>> {
        let runs = |step: &&Step<'g>| {
            matches!(
                step.class,
                CostClass::Reduction | CostClass::Normalisation(_)
            )
        };
        let step = steps.iter().find(runs)?;
        Some(Rows::of(step.reads.first()?.shape, step.axes))
    }

    /// Whether a value of `shape` holds one element per row.
    fn per_row(&self, shape: &[Dim]) -> bool {
        shape == self.kept.as_slice() || shape == self.dropped.as_slice()
    }

    /// Whether at each position of the row `to` reads the element of `from` that belongs to the row.
    fn aligned(&self, from: &[Dim], to: &[Dim]) -> bool {
        if to == self.dropped.as_slice() && to != self.kept.as_slice() {
            return from == to;
        }
        let Some(missing) = to.len().checked_sub(from.len()) else {
            return false;
        };
        let padded = || std::iter::repeat_n(Dim::Fixed(1), missing).chain(from.iter().copied());
        padded().eq(to.iter().copied()) || padded().eq(self.kept.iter().copied())
    }

    fn check(&self, step: &Step<'_>) -> Result<(), Clash> {
        match step.class {
            CostClass::Elementwise => {
                if step.result != self.space && !self.per_row(step.result) {
                    return Err("the ops run over different rows");
                }
                let inner = step.reads.iter().filter(|read| read.from.is_some());
                let mut inner = inner.map(|read| read.shape);
                if inner.all(|shape| self.aligned(shape, step.result)) {
                    Ok(())
                } else {
                    Err("an op reads what belongs to other rows")
                }
            }
            CostClass::Reduction | CostClass::Normalisation(_) => {
                let reads = step.reads.first().map(|read| read.shape);
                if reads == Some(self.space) && step.axes == self.axes {
                    Ok(())
                } else {
                    Err("the reductions run over different axes")
                }
            }
            CostClass::View => {
                let reads = step.reads.first();
                let inner = reads.is_some_and(|read| {
                    read.from.is_some() && self.per_row(read.shape) && self.per_row(step.result)
                });
                if inner {
                    Ok(())
                } else {
                    Err("a view of more than one element per row")
                }
            }
            _ => Err("the ops run over different positions"),
        }
    }
}

fn rowwise(steps: &[Step<'_>]) -> Result<(), Clash> {
    let rows = Rows::first(steps).ok_or("no reduction")?;
    steps.iter().try_for_each(|step| rows.check(step))
}

/// Whether operand `index` of the contraction at `at` comes from outside, through a transpose or not.
fn reads_outside(steps: &[Step<'_>], at: usize, index: usize) -> bool {
    let from = steps[at].reads.get(index).and_then(|read| read.from);
    from.is_none_or(|from| steps[from].class == CostClass::Permute)
}

/// Whether the transpose at `at` reads from outside and only contractions read it.
fn transposes_operand(steps: &[Step<'_>], at: usize) -> bool {
    let outside = steps[at].reads.iter().all(|read| read.from.is_none());
    let readers = steps
        .iter()
        .filter(|step| step.reads.iter().any(|read| read.from == Some(at)));
    let mut readers = readers.map(|step| step.class);
    outside && readers.all(|class| matches!(class, CostClass::Contraction(_)))
}

const OPERAND: Clash = "a product reads what it would have to compute anew for every tile";
const TRANSPOSED: Clash = "a transpose that a product does not read";

fn contraction(steps: &[Step<'_>], product: usize) -> Result<(), Clash> {
    let space = steps[product].result;
    if (0..steps[product].reads.len()).any(|index| !reads_outside(steps, product, index)) {
        return Err(OPERAND);
    }
    for (at, step) in steps.iter().enumerate() {
        match step.class {
            CostClass::Contraction(_) => {}
            CostClass::Permute if transposes_operand(steps, at) => {}
            CostClass::Permute => return Err(TRANSPOSED),
            CostClass::Elementwise if step.result == space => {}
            _ => return Err("the ops run over other positions than the product"),
        }
    }
    Ok(())
}

fn attention(steps: &[Step<'_>], first: usize, second: usize) -> Result<(), Clash> {
    let matrices = |at: usize| steps[at].class == CostClass::Contraction(Inner::LastOfLhs);
    if !matrices(first) || !matrices(second) {
        return Err("convolutions do not run by blocks of rows");
    }
    let outside = [(first, 0), (first, 1), (second, 1)];
    if outside
        .into_iter()
        .any(|(at, index)| !reads_outside(steps, at, index))
    {
        return Err(OPERAND);
    }
    let (scores, space) = (steps[first].result, steps[second].result);
    let prefix = |shape: &[Dim]| shape.len().saturating_sub(1);
    if scores.is_empty() || space.len() != scores.len() {
        return Err("the products have different rows");
    }
    if scores[..prefix(scores)] != space[..prefix(space)] {
        return Err("the products have different rows");
    }
    let rows = Rows::of(scores, 1 << (scores.len() - 1));
    let lhs = steps[second].reads.first();
    let lhs = lhs.and_then(|read| read.from.filter(|_| read.shape == scores));
    if lhs.is_none() {
        return Err("the second product does not read the rows of the first");
    }
    let mut behind = vec![false; steps.len()];
    for (at, step) in steps.iter().enumerate() {
        let reads_behind = step
            .reads
            .iter()
            .any(|read| read.from.is_some_and(|from| from == second || behind[from]));
        behind[at] = reads_behind || (step.result == space && step.result != scores);
        match step.class {
            CostClass::Contraction(_) => {}
            CostClass::Permute if transposes_operand(steps, at) => {}
            CostClass::Permute => return Err(TRANSPOSED),
            _ if !behind[at] => rows.check(step)?,
            CostClass::Elementwise if step.result == space => {
                let inner = step.reads.iter().filter(|read| read.from.is_some());
                let mut inner = inner.map(|read| read.shape);
                if !inner.all(|shape| shape == space || shape == rows.kept.as_slice()) {
                    return Err("an op reads what belongs to other rows");
                }
            }
            _ => return Err("the ops run over other positions than the second product"),
        }
    }
    let feeds =
        |class: CostClass| matches!(class, CostClass::Reduction | CostClass::Normalisation(_));
    let normalised = (0..steps.len()).any(|at| feeds(steps[at].class) && !behind[at]);
    if normalised && reaches(steps, first, second) {
        Ok(())
    } else {
        Err("two products without rows between them")
    }
}

/// Whether the step at `to` is computed from that at `from`.
fn reaches(steps: &[Step<'_>], from: usize, to: usize) -> bool {
    let mut reached = vec![false; steps.len()];
    for (at, step) in steps.iter().enumerate().take(to + 1) {
        let reads = step.reads.iter().filter_map(|read| read.from);
        reached[at] = at == from || reads.into_iter().any(|read| reached[read]);
    }
    reached[to]
}
