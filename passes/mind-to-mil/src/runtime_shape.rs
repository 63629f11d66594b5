//! Lowers ops with data-dependent shapes.

use mind_convert::Refusal;
use mind_core::ops::compare::{Compare, Direction, Select};
use mind_core::ops::convert::Cast;
use mind_core::ops::elementwise::{Add, Div, Maximum, Mul, Neg, Sub};
use mind_core::ops::extents::{ExtentOf, Iota};
use mind_core::ops::index::{Gather, Index};
use mind_core::ops::join::Concat;
use mind_core::ops::reduce::Prod;
use mind_core::ops::runtime_shape::{DynamicBroadcastTo, DynamicIota, DynamicReshape};
use mind_core::ops::shape::{ExpandDims, Reshape};
use mind_ir::attr::OPEN_END;
use mind_ir::graph::Graph;
use mind_ir::opdef::{Op, OpDef, Trait};
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim, TensorType};
use mind_ir::{OpId, ValueId};
use mind_mil::call::integers;
use mind_mil::ops::binary::SELECT;
use mind_mil::ops::movement::{EXPAND_DIMS, RESHAPE, SLICE_BY_INDEX, SLICE_BY_SIZE};
use mind_mil::ops::tensor::{FILL, RANGE_1D, SHAPE, TILE};
use mind_mil::ops::unary::CAST;
use mind_mil::{Element, MilOp};

use crate::compose::{constant, number};
use crate::constant::narrowed;
use crate::emit::Argument::{self, Flags, Int, Ints, Value, Word};
use crate::emit::{Emit, Lower, Lowered};
use crate::found::{Found, Given, Recognizer};
use crate::shapes::made;

/// Core ops that take their extents as operands.
pub(crate) const ROWS: &[(&OpDef, Lower)] = &[
    (DynamicReshape::DEF, |op, e| {
        let view = DynamicReshape::from_id(op);
        if view.refuse_ones(e.g()) {
            return Err(Refusal::no_counterpart(
                "`refuse_ones` is true, expected false, because a program of MIL cannot fail where an extent is 1; \
                 give the squeeze its axes",
            ));
        }
        let args = [
            ("x", Value(view.input(e.g()))),
            ("shape", Value(view.extents(e.g()))),
        ];
        one(e, &RESHAPE, &args, op)
    }),
    (DynamicBroadcastTo::DEF, |op, e| {
        let view = DynamicBroadcastTo::from_id(op);
        let (x, extents) = (view.input(e.g()), view.extents(e.g()));
        let (own, rank) = (e.shape(x)?, e.g().ty(e.g().result(op)).rank());
        let new = rank - own.len();
        let x = thinned(e, x, &(0..new).collect::<Vec<_>>())?;
        let stretches = (0..rank).map(|at| at < new || own[at - new] == 1);
        let reps = chosen(e, extents, &stretches.collect::<Vec<_>>())?;
        one(e, &TILE, &[("x", Value(x)), ("reps", Value(reps))], op)
    }),
    (DynamicIota::DEF, |op, e| {
        let view = DynamicIota::from_id(op);
        let (extents, axis) = (view.extents(e.g()), view.axis(e.g()));
        let rank = e.g().ty(e.g().result(op)).rank();
        let axis = axis.rem_euclid(rank.max(1) as i64) as usize;
        let end = element(e, extents, axis)?;
        let mut args = vec![("end", Value(end)), ("start", Int(0)), ("step", Int(1))];
        let mut indices = open(e, &RANGE_1D, &args, DType::I32, 1)?;
        let dtype = narrowed(view.dtype(e.g()), e.float())?;
        if dtype != DType::I32 {
            let word = Element::of(dtype).name();
            args = vec![("x", Value(indices)), ("dtype", Word(word))];
            indices = e.op(&CAST, &args)?;
        }
        if rank == 1 {
            return Ok(indices);
        }
        let others: Vec<usize> = (0..rank).filter(|&at| at != axis).collect();
        let x = thinned(e, indices, &others)?;
        let spread: Vec<bool> = (0..rank).map(|at| at != axis).collect();
        let reps = chosen(e, extents, &spread)?;
        one(e, &TILE, &[("x", Value(x)), ("reps", Value(reps))], op)
    }),
];

/// Emits an op with the result type of `op`.
fn one(
    e: &mut Emit<'_, '_>,
    row: &'static MilOp,
    args: &[(&str, Argument<'_>)],
    op: OpId,
) -> Lowered {
    let mut results = e.several(row, args, op)?;
    results
        .pop()
        .ok_or_else(|| Refusal::no_counterpart("it has no result"))
}

/// Emits an op with a result of unknown extents.
fn open(
    e: &mut Emit<'_, '_>,
    row: &'static MilOp,
    args: &[(&str, Argument<'_>)],
    dtype: DType,
    rank: usize,
) -> Lowered {
    let ty = TensorType::new(dtype, vec![Dim::Dynamic; rank]);
    let ty = e.b.graph.intern_type(ty.view());
    let mut results = e.typed(row, args, &[ty])?;
    results
        .pop()
        .ok_or_else(|| Refusal::no_counterpart("it has no result"))
}

/// Inserts dimensions of extent 1 into `x`, at `axes` of the result.
fn thinned(e: &mut Emit<'_, '_>, x: ValueId, axes: &[usize]) -> Lowered {
    if axes.is_empty() {
        return Ok(x);
    }
    let axes: Vec<i64> = axes.iter().map(|&axis| axis as i64).collect();
    e.op(&EXPAND_DIMS, &[("x", Value(x)), ("axes", Ints(&axes))])
}

/// Returns `extents` with 1 in place of those that `of` does not select.
fn chosen(e: &mut Emit<'_, '_>, extents: ValueId, of: &[bool]) -> Lowered {
    if of.iter().all(|&own| own) {
        return Ok(extents);
    }
    let ones = e.constant(&Tensor::of(vec![of.len()], vec![1i32; of.len()]));
    let args = [
        ("cond", Flags(of)),
        ("a", Value(extents)),
        ("b", Value(ones)),
    ];
    e.op(&SELECT, &args)
}

/// Returns an element of a list.
fn element(e: &mut Emit<'_, '_>, list: ValueId, at: usize) -> Lowered {
    let at = at as i64;
    let args = [
        ("x", Value(list)),
        ("begin", Ints(&[at])),
        ("end", Ints(&[at + 1])),
        ("squeeze_mask", Flags(&[true])),
    ];
    e.op(&SLICE_BY_INDEX, &args)
}

/// Returns the extent of `x` along `axis` at run time.
pub(crate) fn extent(e: &mut Emit<'_, '_>, x: ValueId, axis: usize) -> Lowered {
    let extents = e.op(&SHAPE, &[("x", Value(x))])?;
    element(e, extents, axis)
}

/// Lowers to the slice `[starts, ends, steps]` of `x` with symbolic dimensions; the result type is that of `op`.
pub(crate) fn slice(
    e: &mut Emit<'_, '_>,
    x: ValueId,
    [starts, ends, steps]: &[Vec<i64>; 3],
    op: OpId,
) -> Lowered {
    let masks: Vec<bool> = ends.iter().map(|&end| end == OPEN_END).collect();
    let ends = ends
        .iter()
        .map(|&end| if end == OPEN_END { 0 } else { end });
    let ends: Vec<i64> = ends.collect();
    let args = [
        ("x", Value(x)),
        ("begin", Ints(starts)),
        ("end", Ints(&ends)),
        ("stride", Ints(steps)),
        ("end_mask", Flags(&masks)),
    ];
    one(e, &SLICE_BY_INDEX, &args, op)
}

pub(crate) const RECOGNIZERS: &[Recognizer] = &[
    |g, op, _| fill(g, op),
    |g, op, _| range(g, op),
    |g, op, _| reshape(g, op),
    |g, op, _| tile(g, op),
    |g, op, _| window(g, op),
    |g, op, _| shape(g, op),
];

/// Matches a fill with one number, in the shape given by an operand.
fn fill(g: &Graph, op: OpId) -> Option<Found> {
    let broadcast = g.view::<DynamicBroadcastTo>(op)?;
    let value = broadcast.input(g);
    let is_constant = g.def(g.defining_op(value)?).has(Trait::Constant);
    if !is_constant || g.ty(value).rank() > 0 {
        return None;
    }
    let mut found = Found::new(&FILL);
    found.operand("shape", broadcast.extents(g));
    found.operand("value", value);
    Some(found)
}

/// Matches a range whose length is a number.
fn range(g: &Graph, op: OpId) -> Option<Found> {
    let iota = g.view::<DynamicIota>(op)?;
    let end = scalar(g, iota.extents(g))?;
    if iota.dtype(g) != DType::I32 || g.ty(end).dtype != DType::I32 {
        return None;
    }
    let mut found = Found::new(&RANGE_1D);
    found.operand("end", end);
    found.give("start", Given::Int(0));
    found.give("step", Given::Int(1));
    Some(found)
}

/// Returns the scalar that was reshaped to a list of one element.
fn scalar(g: &Graph, list: ValueId) -> Option<ValueId> {
    let reshape = made::<Reshape>(g, list).map(|reshape| reshape.input(g));
    let number = reshape.or_else(|| Some(made::<ExpandDims>(g, list)?.input(g)))?;
    (g.ty(number).rank() == 0).then_some(number)
}

/// Matches `select(compare(own, 0), other, own)` with a comparison in `direction`, and returns `own` and `other`.
fn unless(g: &Graph, value: ValueId, direction: Direction) -> Option<(ValueId, ValueId)> {
    let select = made::<Select>(g, value)?;
    let is_other = made::<Compare>(g, select.pred(g))?;
    let own = select.on_false(g);
    let fits = is_other.direction(g) == direction
        && is_other.lhs(g) == own
        && number(g, is_other.rhs(g)) == Some(0.0);
    fits.then_some((own, select.on_true(g)))
}

/// Returns whether `list` holds the extents of `x`.
fn holds_extents(g: &Graph, list: ValueId, x: ValueId) -> bool {
    let dims = g.ty(x).shape;
    if let Some(list) = constant(g, list) {
        let known = integers(&list);
        return known.len() == dims.len()
            && dims
                .iter()
                .zip(known)
                .all(|(dim, own)| dim.fixed() == Some(own));
    }
    let Some(each) = made::<Concat>(g, list) else {
        return dims.len() == 1 && is_extent(g, list, x, 0);
    };
    let each = each.inputs(g);
    let mut all = each.iter().enumerate();
    each.len() == dims.len() && all.all(|(axis, &own)| is_extent(g, own, x, axis))
}

/// Returns whether a value of one element is the extent of `x` along `axis`.
fn is_extent(g: &Graph, value: ValueId, x: ValueId, axis: usize) -> bool {
    let value = made::<Reshape>(g, value).map_or(value, |own| own.input(g));
    let value = made::<Cast>(g, value).map_or(value, |own| own.input(g));
    made::<ExtentOf>(g, value).is_some_and(|own| own.input(g) == x && own.axis(g) == axis as i64)
}

/// Matches the shape of a tensor with a symbolic dimension.
fn shape(g: &Graph, op: OpId) -> Option<Found> {
    let list = g.view::<Concat>(op)?.result(g);
    let first = *g.view::<Concat>(op)?.inputs(g).first()?;
    let first = made::<Reshape>(g, first)?.input(g);
    let x = made::<ExtentOf>(g, made::<Cast>(g, first)?.input(g))?.input(g);
    (g.ty(list).dtype == DType::I32 && holds_extents(g, list, x)).then_some(())?;
    let mut found = Found::new(&SHAPE);
    found.operand("x", x);
    Some(found)
}

/// Matches a reshape in which 0 copies an extent and -1 is inferred.
fn reshape(g: &Graph, op: OpId) -> Option<Found> {
    let own = g
        .view::<DynamicReshape>(op)
        .filter(|own| !own.refuse_ones(g))?;
    let (asked, left) = unless(g, own.extents(g), Direction::Lt)?;
    let left = made::<Div>(g, left)?;
    let part = made::<Maximum>(g, left.rhs(g))?;
    let product = made::<Neg>(g, part.lhs(g))?;
    let product = made::<Prod>(g, product.input(g))?;
    let count = made::<Prod>(g, left.lhs(g))?;
    let x = own.input(g);
    let fits = product.input(g) == asked
        && number(g, part.rhs(g)) == Some(1.0)
        && holds_extents(g, count.input(g), x);
    fits.then_some(())?;
    let is_same_rank = g.ty(x).rank() == g.ty(own.result(g)).rank();
    let shape = match unless(g, asked, Direction::Eq) {
        Some((shape, copied)) if is_same_rank && holds_extents(g, copied, x) => shape,
        _ if is_same_rank => return None,
        _ => asked,
    };
    let mut found = Found::new(&RESHAPE);
    found.operand("x", x);
    found.operand("shape", shape);
    Some(found)
}

/// Matches a tile: a broadcast along a new dimension before each dimension, followed by a reshape that merges them.
fn tile(g: &Graph, op: OpId) -> Option<Found> {
    let joined = g
        .view::<DynamicReshape>(op)
        .filter(|own| !own.refuse_ones(g))?;
    let repeated = made::<DynamicBroadcastTo>(g, joined.input(g))?;
    let apart = made::<ExpandDims>(g, repeated.input(g))?;
    let (x, whole) = (apart.input(g), made::<Mul>(g, joined.extents(g))?);
    let reps = whole.lhs(g);
    let pairs = made::<Concat>(g, made::<Reshape>(g, repeated.extents(g))?.input(g))?;
    let &[times, each] = pairs.inputs(g) else {
        return None;
    };
    let axes = apart.axes(g).iter();
    let is_apart = axes
        .copied()
        .eq((0..g.ty(x).rank() as i64).map(|axis| 2 * axis));
    let is_column = |column: ValueId, list: ValueId| match constant(g, column) {
        Some(column) => constant(g, list).is_some_and(|list| integers(&list) == integers(&column)),
        None => made::<Reshape>(g, column).is_some_and(|own| own.input(g) == list),
    };
    let fits = is_apart
        && holds_extents(g, whole.rhs(g), x)
        && pairs.axis(g) == 1
        && is_column(times, reps)
        && is_column(each, whole.rhs(g));
    fits.then_some(())?;
    let mut found = Found::new(&TILE);
    found.operand("x", x);
    found.operand("reps", reps);
    Some(found)
}

/// Matches a contiguous slice along every axis; negative starts count from the end.
fn window(g: &Graph, op: OpId) -> Option<Found> {
    let rank = g.ty(g.result(op)).rank();
    let mut value = g.view::<Gather>(op)?.result(g);
    let mut gathers = Vec::with_capacity(rank);
    for axis in (0..rank).rev() {
        let own = made::<Gather>(g, value)?;
        (own.axis(g) == axis as i64).then_some(())?;
        gathers.push(made::<Add>(g, own.indices(g))?);
        value = own.data(g);
    }
    let x = value;
    let (mut begins, mut sizes, mut known) = (Vec::new(), Vec::new(), Vec::new());
    for (axis, positions) in gathers.into_iter().rev().enumerate() {
        let start = positions.rhs(g);
        let (first, from_end) = unless(g, start, Direction::Lt)?;
        let from_end = made::<Add>(g, from_end)?;
        let counts = from_end.lhs(g) == first && is_extent(g, from_end.rhs(g), x, axis);
        counts.then(|| begins.push(listed(g, first, axis)))?;
        let row = positions.lhs(g);
        if let Some(row) = made::<Iota>(g, row) {
            known.push(g.ty(row.result(g)).shape[0].fixed()?);
            continue;
        }
        let count = made::<Reshape>(g, made::<DynamicIota>(g, row)?.extents(g))?;
        let (count, rest) = unless(g, count.input(g), Direction::Lt)?;
        let rest = made::<Sub>(g, rest)?;
        let is_rest = is_extent(g, rest.lhs(g), x, axis) && rest.rhs(g) == start;
        is_rest.then(|| sizes.push(listed(g, count, axis)))?;
        known.push(-1);
    }
    let one = |all: &[Option<ValueId>]| {
        let first = (*all.first()?)?;
        all.iter().all(|own| *own == Some(first)).then_some(first)
    };
    let mut found = Found::new(&SLICE_BY_SIZE);
    found.operand("x", x);
    found.operand("begin", one(&begins)?);
    match sizes.is_empty() {
        true => found.give("size", Given::Ints(known)),
        false => {
            let size = one(&sizes)?;
            let holds = |own: &[i64]| {
                (0..rank).all(|axis| known[axis] < 0 || own.get(axis) == Some(&known[axis]))
            };
            let is_all = sizes.len() == rank;
            let fits = is_all || constant(g, size).is_some_and(|own| holds(&integers(&own)));
            fits.then(|| found.operand("size", size))?;
        }
    }
    Some(found)
}

/// Returns the list of which a value is the element at `axis`.
fn listed(g: &Graph, value: ValueId, axis: usize) -> Option<ValueId> {
    let own = made::<Index>(g, value)?;
    (own.indices(g) == [axis as i64]).then_some(own.input(g))
}
