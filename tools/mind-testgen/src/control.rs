//! Random control flow, possibly nested, with data-dependent shapes.

use mind_core::ops::compare::{Compare, Direction};
use mind_core::ops::control::{If, Scan, While};
use mind_core::ops::data::NonZero;
use mind_core::ops::elementwise::Add;
use mind_core::ops::extents::ExtentOf;
use mind_core::ops::index::Gather;
use mind_core::ops::join::Concat;
use mind_core::ops::logic::And;
use mind_core::ops::shape::Reshape;
use mind_ir::ValueId;
use mind_ir::opdef::{Op, OperandClass};
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim, TensorType, TypeView};

use crate::generator::{Generator, Regions};
use crate::recipe;
use crate::shape::MAX_ELEMENTS;

/// Number of ops drawn per region.
const INNER_OPS: usize = 3;

/// The maximal number of elements of a carried value that iterations double, up to four times.
const MOST_GROWN: i64 = 64;

/// Returns whether the known extents of a value are small enough for other ops. Values with symbols are not used,
/// because a region cannot create a value with the same symbol.
fn is_small(ty: TypeView<'_>) -> bool {
    let mut known = ty.shape.iter().map(|dim| match dim {
        Dim::Fixed(extent) => Some(*extent),
        Dim::Dynamic => Some(1),
        Dim::Symbol(_) => None,
    });
    let count = known.try_fold(1i64, |count, extent| Some(count.saturating_mul(extent?)));
    count.is_some_and(|count| count <= MAX_ELEMENTS)
}

/// Draws a value for a region.
fn given(draw: &mut Generator<'_>) -> Option<ValueId> {
    let value = draw.value(OperandClass::Any);
    is_small(draw.graph.ty(value)).then_some(value)
}

/// Draws several values for a region.
fn some(draw: &mut Generator<'_>) -> Option<Vec<ValueId>> {
    let count = 1 + draw.rng.below(2);
    (0..count).map(|_| given(draw)).collect()
}

fn types(draw: &Generator<'_>, values: &[ValueId]) -> Vec<TensorType> {
    let types = values.iter().map(|&value| draw.graph.ty(value).to_owned());
    types.collect()
}

/// Draws some ops, and sometimes nested control flow.
fn ops(draw: &mut Generator<'_>) {
    for _ in 0..INNER_OPS {
        recipe::draw(draw);
    }
    if draw.takes_regions() && draw.rng.once_in(4) {
        let inner = draw.rng.pick(&[branch, repeat, scan]);
        inner(draw);
    }
}

/// Draws some ops, then a value of each type.
fn compute(draw: &mut Generator<'_>, types: &[TensorType]) -> Vec<ValueId> {
    ops(draw);
    types.iter().map(|ty| draw.value_of(ty)).collect()
}

/// Sometimes changes an extent of the type to another one, known or not.
fn varied(draw: &mut Generator<'_>, ty: &TensorType) -> TensorType {
    let mut ty = ty.clone();
    if !ty.shape.is_empty() && draw.decides_extents() && draw.rng.once_in(3) {
        let axis = draw.rng.below(ty.shape.len());
        ty.shape[axis] = draw
            .rng
            .pick(&[Dim::Fixed(0), Dim::Fixed(2), Dim::Dynamic, Dim::Dynamic]);
    }
    ty
}

pub(crate) fn branch(draw: &mut Generator<'_>) -> Option<ValueId> {
    draw.takes_regions().then_some(())?;
    let inputs = some(draw)?;
    let results = types(draw, &inputs);
    let mut operands = vec![draw.value_of(&TensorType::fixed(DType::Bool, &[]))];
    operands.extend(inputs);
    let attrs = If::attrs();
    let regions = Regions {
        def: If::DEF,
        operands: &operands,
        attrs: &attrs,
        results: results.len(),
        carried: &[],
    };
    draw.with_regions(regions, |_, draw| {
        let results: Vec<TensorType> = results.iter().map(|ty| varied(draw, ty)).collect();
        compute(draw, &results)
    })
}

/// The change of a carried value in an iteration.
#[derive(Clone, Copy)]
enum Change {
    /// Another value of its type.
    Keeps,
    /// Concatenation with itself along an axis.
    Grows(usize),
    /// Its elements along the first axis at the nonzero positions of a list, possibly none.
    Shrinks,
}

/// Draws the change of each carried value, and updates their types.
fn changes(draw: &mut Generator<'_>, carried: &mut [TensorType]) -> Vec<Change> {
    let mut change = |ty: &mut TensorType| {
        if ty.shape.is_empty() || !draw.decides_extents() || !draw.rng.once_in(3) {
            return Change::Keeps;
        }
        let axis = draw.rng.below(ty.shape.len());
        let fits = ty.view().count().is_none_or(|count| count <= MOST_GROWN);
        let change = match draw.rng.below(3) {
            0 if fits => Change::Grows(axis),
            1 => Change::Shrinks,
            _ => Change::Keeps,
        };
        let axis = if let Change::Shrinks = change {
            0
        } else {
            axis
        };
        ty.shape[axis] = Dim::Dynamic;
        change
    };
    carried.iter_mut().map(&mut change).collect()
}

/// Returns the carried value of the next iteration.
fn next(draw: &mut Generator<'_>, change: Change, value: ValueId, ty: &TensorType) -> ValueId {
    let made = match change {
        Change::Keeps => None,
        Change::Grows(axis) => {
            let attrs = Concat::attrs(axis as i64);
            draw.op(Concat::DEF, &[value, value], &attrs)
        }
        Change::Shrinks => shrunk(draw, value),
    };
    made.unwrap_or_else(|| draw.value_of(ty))
}

/// Returns the elements along the first axis at the nonzero positions of a list.
fn shrunk(draw: &mut Generator<'_>, value: ValueId) -> Option<ValueId> {
    let list = match draw.graph.ty(value).rank() {
        1 => value,
        _ => {
            let ones = [0, 1, 1, 0].map(i64::from);
            let length = draw.rng.below(ones.len());
            draw.tensor(&Tensor::of(vec![length], ones[..length].to_vec()))
        }
    };
    let places = draw.op(NonZero::DEF, &[list], &NonZero::attrs())?;
    let flat = Reshape::attrs(&[Dim::Fixed(-1)]);
    let places = draw.op(Reshape::DEF, &[places], &flat)?;
    let first = Gather::attrs(0, mind_core::eval::bounds::Bounds::Clamp);
    draw.op(Gather::DEF, &[value, places], &first)
}

/// Draws a counting loop, which may end early depending on an extent.
pub(crate) fn repeat(draw: &mut Generator<'_>) -> Option<ValueId> {
    draw.takes_regions().then_some(())?;
    let mut operands = vec![draw.tensor(&Tensor::scalar(0i64))];
    operands.extend(some(draw)?);
    let mut carried = types(draw, &operands);
    let attrs = While::attrs(operands.len() as i64);
    if draw.rng.once_in(2) {
        operands.push(given(draw)?);
    }
    let changes = changes(draw, &mut carried[1..]);
    let steps = draw.rng.below(4) as i64;
    let regions = Regions {
        def: While::DEF,
        operands: &operands,
        attrs: &attrs,
        results: carried.len(),
        carried: &carried,
    };
    draw.with_regions(regions, |region, draw| {
        let counter = draw.argument(0);
        if region == 0 {
            return goes_on(draw, counter, steps, &carried)
                .into_iter()
                .collect();
        }
        let one = draw.tensor(&Tensor::scalar(1i64));
        let after = draw.op(Add::DEF, &[counter, one], &Add::attrs());
        ops(draw);
        let others = changes.iter().zip(&carried[1..]).enumerate();
        let others = others.map(|(at, (&change, ty))| {
            let value = draw.argument(1 + at);
            next(draw, change, value, ty)
        });
        let others: Vec<ValueId> = others.collect();
        after.into_iter().chain(others).collect()
    })
}

/// Returns the loop condition: the counter is below `steps` and, sometimes, an extent of a carried value is below a
/// limit.
fn goes_on(
    draw: &mut Generator<'_>,
    counter: ValueId,
    steps: i64,
    carried: &[TensorType],
) -> Option<ValueId> {
    let less = Compare::attrs(Direction::Lt);
    let end = draw.tensor(&Tensor::scalar(steps));
    let counts = draw.op(Compare::DEF, &[counter, end], &less)?;
    let open = carried
        .iter()
        .position(|ty| ty.shape.contains(&Dim::Dynamic));
    let Some(at) = open.filter(|_| draw.rng.once_in(2)) else {
        return Some(counts);
    };
    let axis = carried[at]
        .shape
        .iter()
        .position(|dim| *dim == Dim::Dynamic)?;
    let value = draw.argument(at);
    let extent = draw.op(ExtentOf::DEF, &[value], &ExtentOf::attrs(axis as i64))?;
    let limit = draw.tensor(&Tensor::scalar(6i64));
    let is_short = draw.op(Compare::DEF, &[extent, limit], &less)?;
    draw.op(And::DEF, &[counts, is_short], &And::attrs())
}

pub(crate) fn scan(draw: &mut Generator<'_>) -> Option<ValueId> {
    draw.takes_regions().then_some(())?;
    let scanned = given(draw)?;
    let ty = draw.graph.ty(scanned).to_owned();
    let axis = draw.rng.below(ty.shape.len().max(1));
    if ty.shape.is_empty() {
        return None;
    }
    let mut slice = ty.clone();
    slice.shape.remove(axis);
    let initial = some(draw)?;
    let mut carried = types(draw, &initial);
    // Long scans would exhaust the memory.
    let is_short = matches!(ty.shape[axis], Dim::Fixed(..=4));
    let changes = match is_short {
        true => changes(draw, &mut carried),
        false => vec![Change::Keeps; carried.len()],
    };
    let mut operands = initial;
    operands.push(scanned);
    if draw.rng.once_in(2) {
        operands.push(given(draw)?);
    }
    let axes = [axis as i64, draw.rng.below(slice.shape.len() + 1) as i64];
    let mut directions = || [i64::from(draw.rng.once_in(3))];
    let (read, written) = (directions(), directions());
    let (count, [first, second]) = (carried.len() as i64, &axes.map(|axis| [axis]));
    let attrs = Scan::attrs(count, 1, first, second, &read, &written);
    let regions = Regions {
        def: Scan::DEF,
        operands: &operands,
        attrs: &attrs,
        results: carried.len() + 1,
        carried: &carried,
    };
    draw.with_regions(regions, |_, draw| {
        ops(draw);
        let others = changes.iter().zip(&carried).enumerate();
        let others = others.map(|(at, (&change, ty))| {
            let value = draw.argument(at);
            next(draw, change, value, ty)
        });
        let mut yielded: Vec<ValueId> = others.collect();
        yielded.push(draw.value_of(&slice));
        yielded
    })
}
