//! Rules for the ops that one kernel can compute. Fusion uses them to group ops, and lowering to build a kernel from
//! each group.
//!
//! Ops have a common [`KernelForm`] if a single loop nest computes all of them, each element once. The form alone
//! decides; the kinds that groups are given are labels for readers.

use smallvec::SmallVec;

use crate::types::{DType, Dim};

/// The loop structure of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KernelForm {
    /// Scalar functions, applied one after the other at the positions of one shape.
    Elementwise,
    /// Elementwise ops and reductions over the same axes of one shape, computed row by row.
    Rows,
    /// One contraction with an epilogue of elementwise ops. A matrix product may read its operands through transposes.
    Contraction,
    /// A matrix product, row-wise ops over its last axis, a second product with these rows on its left side, and an
    /// epilogue of elementwise ops, computed in blocks of rows.
    Attention,
}

/// The classes of ops that forms distinguish.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StepKind {
    /// One scalar function at every position.
    Elementwise,
    /// Reduces elements along axes.
    Reduction,
    /// Reductions along axes and elementwise ops, with a result of the operand's shape, for example softmax.
    Normalisation,
    /// A matrix product, which contracts the last axis of the left side with the second to last axis of the right side.
    Product,
    /// Any other contraction, for example a convolution.
    Contraction,
    /// A reshape.
    View,
    /// A transpose.
    Permute,
    /// Any other op, which is a kernel of its own.
    Other,
}

/// An op of a kernel.
#[derive(Clone, Debug)]
pub struct Step<'s> {
    /// Its class.
    pub kind: StepKind,
    /// The size in bytes of the widest number that it computes with; see [`width`].
    pub width: usize,
    /// The axes of a reduction or normalisation, as a bit set.
    pub axes: u64,
    /// The shape of its result.
    pub result: &'s [Dim],
    /// Its reads, one per operand.
    pub reads: SmallVec<[Read<'s>; 2]>,
    /// Whether the result is used outside of the kernel.
    pub leaves: bool,
}

/// Returns the size in bytes of the widest number that an op on these dtypes computes with. Booleans are ignored,
/// because they are masks as wide as the values that they select.
///
/// Integers of 8 and 16 bits are converted to and from floats in `f32` lanes, and so is `i32` if all floats are `f32`.
/// Other conversions between integers and floats go through `f64`.
pub fn width(dtypes: impl IntoIterator<Item = DType> + Clone) -> usize {
    let numbers = || {
        dtypes
            .clone()
            .into_iter()
            .filter(|&dtype| dtype != DType::Bool)
    };
    let has_floats = numbers().any(DType::is_float);
    let mut wide = numbers().filter(|&dtype| dtype.is_int() && dtype.size() > 2);
    let only_f32 = || numbers().all(|dtype| dtype.is_int() || dtype == DType::F32);
    let through_f64 = has_floats && wide.any(|dtype| dtype != DType::I32 || !only_f32());
    let widest = numbers().map(|dtype| dtype.carrier().size()).max();
    if through_f64 {
        DType::F64.size()
    } else {
        widest.unwrap_or(1)
    }
}

/// A read of an op of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct Read<'s> {
    /// The source of the value.
    pub from: Source,
    /// Its shape, which the op may broadcast, aligned at the right.
    pub shape: &'s [Dim],
}

/// The source of a value that an op of a kernel reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// An operand of the kernel.
    Operand,
    /// A splat constant.
    Constant,
    /// The result of an earlier step.
    Step(usize),
}

impl Read<'_> {
    /// Returns the step that computes the value, if it is a step.
    pub fn step(&self) -> Option<usize> {
        match self.from {
            Source::Step(step) => Some(step),
            Source::Operand | Source::Constant => None,
        }
    }
}

impl Step<'_> {
    /// Returns the steps whose results it reads.
    fn inner(&self) -> impl Iterator<Item = usize> + '_ {
        self.reads.iter().filter_map(Read::step)
    }

    fn contracts(&self) -> bool {
        matches!(self.kind, StepKind::Product | StepKind::Contraction)
    }

    fn reduces(&self) -> bool {
        matches!(self.kind, StepKind::Reduction | StepKind::Normalisation)
    }
}

/// The reason why ops have no common form, for messages.
pub type Clash = &'static str;

/// A product and a reduction have no common form.
pub const PRODUCT_AND_ROWS: Clash = "a product and a reduction run at different positions";
/// Two products have no common form other than attention.
pub const TWO_PRODUCTS: Clash = "two products run at different positions";
/// The epilogue of a product runs in the vectors of the product, so it cannot compute with wider numbers.
pub const WIDER: Clash = "an op computes with wider numbers than the product";
/// Elementwise ops of different shapes have no common form.
pub const POSITIONS: Clash = "the ops run over different positions";

/// Returns the form of `steps`, which are in topological order.
///
/// # Errors
///
/// The reason why they have no common form.
pub fn form(steps: &[Step<'_>]) -> Result<KernelForm, Clash> {
    if steps.iter().any(|step| step.kind == StepKind::Other) {
        return Err("an op that copies or looks up runs by itself");
    }
    let contractions = (0..steps.len()).filter(|&at| steps[at].contracts());
    let contractions: SmallVec<[usize; 2]> = contractions.collect();
    if let Some(&first) = contractions.first() {
        let fits = steps.iter().all(|step| step.width <= steps[first].width);
        require(fits, WIDER)?;
    }
    match (contractions.as_slice(), steps.iter().any(Step::reduces)) {
        ([], false) => elementwise(steps).map(|()| KernelForm::Elementwise),
        ([], true) => rowwise(steps).map(|()| KernelForm::Rows),
        (&[product], false) => contraction(steps, product).map(|()| KernelForm::Contraction),
        ([_], true) => Err(PRODUCT_AND_ROWS),
        (&[first, second], true) => attention(steps, first, second).map(|()| KernelForm::Attention),
        _ => Err(TWO_PRODUCTS),
    }
}

fn require(holds: bool, otherwise: Clash) -> Result<(), Clash> {
    if holds { Ok(()) } else { Err(otherwise) }
}

fn elementwise(steps: &[Step<'_>]) -> Result<(), Clash> {
    let space = steps.first().map_or(&[][..], |step| step.result);
    let fits = |step: &Step<'_>| step.kind == StepKind::Elementwise && step.result == space;
    require(steps.iter().all(fits), POSITIONS)
}

/// Returns for each step whether it is, or depends on, a reduction.
fn reduced(steps: &[Step<'_>]) -> Vec<bool> {
    let mut reduced: Vec<bool> = Vec::with_capacity(steps.len());
    for step in steps {
        let before = step.inner().any(|read| reduced[read]);
        reduced.push(before || step.reduces());
    }
    reduced
}

const UNIT: Dim = Dim::Fixed(1);

/// The shapes of the values in a row-wise kernel.
struct RowShapes<'s> {
    space: &'s [Dim],
    axes: u64,
    /// The shape of a reduction's result with `keepdims`: the space with extent 1 along the axes.
    kept: SmallVec<[Dim; 6]>,
    /// The shape of a reduction's result without `keepdims`: the space without the axes.
    dropped: SmallVec<[Dim; 6]>,
}

impl<'s> RowShapes<'s> {
    fn of(space: &'s [Dim], axes: u64) -> RowShapes<'s> {
        let is_reduced = |at: usize| axes >> at & 1 == 1;
        let dims = || space.iter().copied().enumerate();
        RowShapes {
            space,
            axes,
            kept: dims()
                .map(|(at, dim)| if is_reduced(at) { UNIT } else { dim })
                .collect(),
            dropped: dims()
                .filter(|&(at, _)| !is_reduced(at))
                .map(|(_, dim)| dim)
                .collect(),
        }
    }

    /// Returns the shapes for the first reduction or normalisation of `steps`.
    fn first(steps: &[Step<'s>]) -> Option<RowShapes<'s>> {
        let step = steps.iter().find(|step| step.reduces())?;
        Some(RowShapes::of(step.reads.first()?.shape, step.axes))
    }

    /// Returns for each axis with an extent other than 1 whether it is reduced.
    fn wide(&self) -> impl Iterator<Item = bool> + '_ {
        let wide = (0..self.space.len()).filter(|&at| self.space[at] != UNIT);
        wide.map(|at| self.axes >> at & 1 == 1)
    }

    /// Whether the reduced axes are the last ones. Axes of extent 1 are ignored.
    fn is_trailing(&self) -> bool {
        self.wide()
            .skip_while(|reduced| !reduced)
            .all(|reduced| reduced)
    }

    /// Whether the reduced axes are adjacent, so that they can be merged into one. Axes of extent 1 are ignored.
    fn is_one_axis(&self) -> bool {
        let from_first = self.wide().skip_while(|reduced| !reduced);
        from_first
            .skip_while(|&reduced| reduced)
            .all(|reduced| !reduced)
    }

    /// Whether a value of `shape` has one element per row.
    fn per_row(&self, shape: &[Dim]) -> bool {
        shape == self.kept.as_slice() || shape == self.dropped.as_slice()
    }

    /// Whether an op with a result of shape `to` reads, at each position of a row, the element of `from` of the same
    /// row.
    fn aligned(&self, from: &[Dim], to: &[Dim]) -> bool {
        if to == self.dropped.as_slice() && to != self.kept.as_slice() {
            return from == to;
        }
        let Some(missing) = to.len().checked_sub(from.len()) else {
            return false;
        };
        let padded = || std::iter::repeat_n(UNIT, missing).chain(from.iter().copied());
        padded().eq(to.iter().copied()) || padded().eq(self.kept.iter().copied())
    }

    /// Returns whether a value of `shape` varies along any, and along all, of the reduced axes with an extent other
    /// than 1. If there are none, both are true.
    fn varies(&self, shape: &[Dim]) -> (bool, bool) {
        let missing = self.space.len().saturating_sub(shape.len());
        let reduced = (0..self.space.len()).filter(|&at| self.axes >> at & 1 == 1);
        let mut wide = reduced.filter(|&at| self.space[at] != UNIT).peekable();
        let own = |at: usize| at >= missing && shape[at - missing] != UNIT;
        let none = wide.peek().is_none();
        let (any, all) = wide.fold((false, true), |(any, all), at| {
            (any | own(at), all & own(at))
        });
        (any || none, all)
    }

    fn check(&self, step: &Step<'_>, steps: &[Step<'_>]) -> Result<(), Clash> {
        match step.kind {
            StepKind::Elementwise if step.result == self.space => {
                self.check_reads(step)?;
                let varies = |read: &Read<'_>| match read.from {
                    Source::Step(from) => steps[from].result == self.space,
                    Source::Operand => self.varies(read.shape).0,
                    Source::Constant => false,
                };
                let collapses = |read: &Read<'_>| {
                    let (any, all) = self.varies(read.shape);
                    read.from != Source::Operand || any == all
                };
                let is_row = self.per_row(self.space);
                require(
                    is_row || step.reads.iter().any(varies),
                    "a value per row is repeated",
                )?;
                require(
                    step.reads.iter().all(collapses),
                    "an operand varies along some reduced axes",
                )
            }
            StepKind::Elementwise => {
                require(self.per_row(step.result), "the ops run over different rows")?;
                self.check_reads(step)
            }
            StepKind::Reduction | StepKind::Normalisation => {
                let reads = step.reads.first().map(|read| read.shape);
                let same = reads == Some(self.space) && step.axes == self.axes;
                require(same, "the reductions run over different axes")
            }
            StepKind::View => {
                let reads = step.reads.first();
                let inner = reads.is_some_and(|read| {
                    read.step().is_some() && self.per_row(read.shape) && self.per_row(step.result)
                });
                require(inner, "a view of more than one element per row")
            }
            _ => Err(POSITIONS),
        }
    }

    fn check_reads(&self, step: &Step<'_>) -> Result<(), Clash> {
        let mut inner = step.reads.iter().filter(|read| read.step().is_some());
        let aligned = inner.all(|read| self.aligned(read.shape, step.result));
        require(aligned, "an op reads elements of other rows")
    }
}

const COLUMNS: Clash =
    "a reduction over axes that are not the last can only produce one value per column";

fn rowwise(steps: &[Step<'_>]) -> Result<(), Clash> {
    let rows = RowShapes::first(steps).ok_or("no reduction")?;
    require(rows.is_one_axis(), "the reduced axes are not adjacent")?;
    require(rows.is_trailing() || fits_columns(steps), COLUMNS)?;
    steps.iter().try_for_each(|step| rows.check(step, steps))
}

/// Whether the rows can be reduced together as columns, with the inner loop over rows. They cannot if a step is a
/// normalisation, a reduction depends on another, or a step of the full shape depends on a reduction or leaves the
/// kernel.
pub fn fits_columns(steps: &[Step<'_>]) -> bool {
    let Some(rows) = RowShapes::first(steps) else {
        return false;
    };
    let reduced = reduced(steps);
    steps.iter().all(|step| {
        let depends = step.inner().any(|read| reduced[read]);
        match step.kind {
            StepKind::Normalisation => false,
            StepKind::Reduction => !depends,
            _ => step.result != rows.space || !step.leaves && !depends,
        }
    })
}

/// Whether operand `index` of the contraction at `at` is not computed in the kernel, except by a transpose if it is a
/// product.
fn reads_outside(steps: &[Step<'_>], at: usize, index: usize) -> bool {
    let from = steps[at].reads.get(index).and_then(Read::step);
    let is_product = steps[at].kind == StepKind::Product;
    from.is_none_or(|from| is_product && steps[from].kind == StepKind::Permute)
}

/// Whether the transpose at `at` reads an operand of the kernel and is used only by products of the kernel.
fn transposes_operand(steps: &[Step<'_>], at: usize) -> bool {
    let mut readers = steps
        .iter()
        .filter(|step| step.inner().any(|read| read == at));
    let is_product = |step: &Step<'_>| step.kind == StepKind::Product;
    steps[at].inner().next().is_none() && !steps[at].leaves && readers.all(is_product)
}

const OPERAND: Clash = "a product reads an operand that it would compute again for every tile";
const TRANSPOSED: Clash = "a transpose that a product does not read";

fn contraction(steps: &[Step<'_>], product: usize) -> Result<(), Clash> {
    let operands = 0..steps[product].reads.len();
    let outside = operands
        .into_iter()
        .all(|index| reads_outside(steps, product, index));
    require(outside, OPERAND)?;
    for (at, step) in steps.iter().enumerate() {
        match step.kind {
            StepKind::Permute => require(transposes_operand(steps, at), TRANSPOSED)?,
            StepKind::Elementwise if step.result == steps[product].result => {}
            _ if at == product => {}
            _ => return Err("the ops run over other positions than the product"),
        }
    }
    Ok(())
}

fn attention(steps: &[Step<'_>], first: usize, second: usize) -> Result<(), Clash> {
    let is_product = |at: usize| {
        let rank = steps[at].result.len();
        let mut reads = steps[at].reads.iter();
        steps[at].kind == StepKind::Product
            && rank >= 2
            && reads.all(|read| read.shape.len() == rank)
    };
    require(
        is_product(first) && is_product(second),
        "the operands of the products differ in rank",
    )?;
    let outside = [(first, 0), (first, 1), (second, 1)];
    let outside = outside
        .into_iter()
        .all(|(at, index)| reads_outside(steps, at, index));
    require(outside, OPERAND)?;
    let (scores, space) = (steps[first].result, steps[second].result);
    let prefix = |shape: &[Dim]| shape.len() - 1;
    let same = scores.len() == space.len() && scores[..prefix(scores)] == space[..prefix(space)];
    require(same, "the products have different rows")?;
    require(
        scores.last() != Some(&Dim::Fixed(0)),
        "the rows have no elements",
    )?;
    let stages = attention_stages(steps, second);
    let rows = RowShapes::of(scores, 1 << prefix(scores));
    let reduced = reduced(steps);
    let left = steps[second].reads.first().and_then(Read::step);
    let normalised = left.is_some_and(|left| reduced[left] && steps[left].result == scores);
    require(
        normalised,
        "the second product does not read the rows of the first",
    )?;
    let mut score = None;
    for (at, step) in steps.iter().enumerate() {
        require(
            !step.leaves || stages[at] == AttentionStage::Epilogue,
            "the rows are read elsewhere",
        )?;
        let before = step.inner().all(|read| {
            (stages[read] == AttentionStage::Epilogue) == (stages[at] == AttentionStage::Epilogue)
        });
        match (step.kind, stages[at]) {
            (StepKind::Permute, _) => require(transposes_operand(steps, at), TRANSPOSED)?,
            (StepKind::Product, _) => {}
            (StepKind::Elementwise, AttentionStage::Epilogue) => {
                require(
                    before && step.result == space,
                    "an op reads elements of other rows",
                )?;
            }
            (StepKind::Elementwise, AttentionStage::Scores) => {
                require(
                    step.result == scores,
                    "the ops run over other positions than the product",
                )?;
            }
            (_, AttentionStage::Rows) => {
                rows.check(step, steps)?;
                let inner = step.reads.iter().all(|read| read.from != Source::Operand);
                require(inner, "the rows between two products read an operand")?;
                for read in step
                    .inner()
                    .filter(|&read| stages[read] != AttentionStage::Rows)
                {
                    let only = *score.get_or_insert(read) == read;
                    require(only, "the rows read several values per position")?;
                }
            }
            _ => return Err("the ops run over other positions than the second product"),
        }
    }
    let connected = score.is_some_and(|score| reaches(steps, first, score));
    require(connected, "two products without rows between them")
}

/// The stage of attention that a step belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AttentionStage {
    /// The first product and its elementwise ops.
    Scores,
    /// The row-wise ops between the products.
    Rows,
    /// The second product and its epilogue.
    Epilogue,
}

/// Returns the stage of each step of attention. `second` is the second product.
pub fn attention_stages(steps: &[Step<'_>], second: usize) -> Vec<AttentionStage> {
    let mut feeds = vec![false; steps.len()];
    feeds[second] = true;
    for at in (0..=second).rev() {
        if feeds[at] {
            steps[at].inner().for_each(|read| feeds[read] = true);
        }
    }
    let reduced = reduced(steps);
    let stage = |at: usize| match (at != second && feeds[at], reduced[at]) {
        (false, _) => AttentionStage::Epilogue,
        (true, true) => AttentionStage::Rows,
        (true, false) => AttentionStage::Scores,
    };
    (0..steps.len()).map(stage).collect()
}

/// Whether the step at `to` is, or depends on, the step at `from`.
fn reaches(steps: &[Step<'_>], from: usize, to: usize) -> bool {
    let mut reached = vec![false; steps.len()];
    for (at, step) in steps.iter().enumerate().take(to + 1) {
        reached[at] = at == from || step.inner().any(|read| reached[read]);
    }
    reached[to]
}
