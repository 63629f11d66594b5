//! Exports data movement.

use mind_convert::Refusal;
use mind_core::ops::broadcast::BroadcastTo;
use mind_core::ops::extents::{ExtentOf, Iota};
use mind_core::ops::index::{Index, Slice};
use mind_core::ops::join::{Concat, Split};
use mind_core::ops::pad::{PadMode, PadOp};
use mind_core::ops::shape::{
    ExpandDims, Reshape, Reverse, Squeeze, Transpose, effective_permutation,
};
use mind_ir::ValueId;
use mind_ir::opdef::Op;
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim};

use super::super::draft::{AttrDraft, Val};
use super::super::emit::{Attrs, Emit, One};
use super::super::operator as op;
use super::{Form, Row};

pub(super) const ROWS: &[Row] = &[
    (
        Reshape::DEF,
        Form::One(|op, e| {
            let input = Reshape::from_id(op).input(e.g);
            let own = e.value(input);
            e.reshape(own, e.dims(input), e.dims(e.g.result(op)))
        }),
    ),
    (
        Transpose::DEF,
        Form::One(|op, e| {
            let own = Transpose::from_id(op);
            let input = own.input(e.g);
            let permutation = effective_permutation(own.permutation(e.g), e.rank(input));
            let own = e.value(input);
            e.transpose(own, &permutation)
        }),
    ),
    (
        ExpandDims::DEF,
        Form::One(|op, e| {
            let own = ExpandDims::from_id(op);
            let input = e.value(own.input(e.g));
            e.unsqueeze(input, own.axes(e.g))
        }),
    ),
    (
        Squeeze::DEF,
        Form::One(|op, e| {
            let own = Squeeze::from_id(op);
            let input = e.value(own.input(e.g));
            if own.axes(e.g).is_empty() {
                // An empty list would squeeze all dimensions of extent 1.
                return Ok(input);
            }
            let axes = e.ints(own.axes(e.g));
            e.node(op::SQUEEZE, &[input, axes], Vec::new())
        }),
    ),
    (
        Reverse::DEF,
        Form::One(|op, e| {
            let own = Reverse::from_id(op);
            let (input, axes) = (e.value(own.input(e.g)), own.axes(e.g));
            if axes.is_empty() {
                return Ok(input);
            }
            let all = |number| vec![number; axes.len()];
            e.slice(input, &all(-1), &all(i64::MIN), axes, &all(-1))
        }),
    ),
    (PadOp::DEF, Form::One(|op, e| pad(PadOp::from_id(op), e))),
    (
        BroadcastTo::DEF,
        Form::One(|op, e| {
            let input = BroadcastTo::from_id(op).input(e.g);
            let own = e.value(input);
            let to = stretched(e.dims(input), e.dims(e.g.result(op)));
            e.expand(e.dtype(input), own, &to)
        }),
    ),
    (Iota::DEF, Form::One(|op, e| iota(Iota::from_id(op), e))),
    (
        ExtentOf::DEF,
        Form::One(|op, e| {
            let own = ExtentOf::from_id(op);
            let (input, axis) = (own.input(e.g), own.axis(e.g));
            let axis = e.axis(axis, input);
            e.extent(input, axis)
        }),
    ),
    (
        Index::DEF,
        Form::One(|op, e| {
            let own = Index::from_id(op);
            let input = e.value(own.input(e.g));
            if own.indices(e.g).is_empty() {
                return Ok(input);
            }
            let places = e.ints(own.indices(e.g));
            e.node(op::GATHER_ND, &[input, places], Vec::new())
        }),
    ),
    (Slice::DEF, Form::One(|op, e| slice(Slice::from_id(op), e))),
    (
        Concat::DEF,
        Form::One(|op, e| {
            let axis = Concat::from_id(op).axis(e.g);
            let inputs = e.operands(op);
            e.concat(&inputs, axis)
        }),
    ),
    (Split::DEF, Form::One(|op, e| split(Split::from_id(op), e))),
];

/// Returns the shape operand of a broadcast to `to`, with 1 for dimensions that keep their extent.
fn stretched(from: &[Dim], to: &[Dim]) -> Vec<Dim> {
    let ahead = to.len() - from.len();
    let kept = |at: usize| at >= ahead && from[at - ahead] != Dim::Fixed(1);
    let dims = to.iter().enumerate();
    dims.map(|(at, &dim)| match dim {
        Dim::Symbol(_) | Dim::Dynamic if kept(at) => Dim::Fixed(1),
        dim => dim,
    })
    .collect()
}

fn slice(op: Slice, e: &mut Emit<'_>) -> One {
    let (starts, ends, steps) = (op.starts(e.g), op.ends(e.g), op.steps(e.g));
    let input = op.input(e.g);
    let own = e.value(input);
    let dims = e.dims(input);
    let is_cut = |at: &usize| {
        let is_open = ends[*at] == i64::MAX || dims[*at] == Dim::Fixed(ends[*at]);
        !(starts[*at] == 0 && steps[*at] == 1 && is_open)
    };
    let cut: Vec<usize> = (0..dims.len()).filter(is_cut).collect();
    if cut.is_empty() {
        return Ok(own);
    }
    let list = |list: &[i64]| -> Vec<i64> { cut.iter().map(|&at| list[at]).collect() };
    let axes: Vec<i64> = cut.iter().map(|&at| at as i64).collect();
    e.slice(own, &list(starts), &list(ends), &axes, &list(steps))
}

/// Maximum number of outputs of a `Split`.
const PART_LIMIT: i64 = 1 << 12;

/// Returns a part of a split. One `Split` node is shared by all its parts.
fn split(op: Split, e: &mut Emit<'_>) -> One {
    let (input, axis, count) = (op.input(e.g), op.axis(e.g), op.count(e.g));
    let axis = e.axis(axis, input);
    let part = op.part(e.g) as usize;
    let key = (input, axis, count);
    if let Some(parts) = e.splits.get(&key) {
        return Ok(parts[part]);
    }
    let own = e.value(input);
    if count == 1 {
        return Ok(own);
    }
    if count > PART_LIMIT {
        return Err(Refusal::form(
            "the number of its parts",
            count,
            format_args!("at most {PART_LIMIT}"),
        ));
    }
    let attrs: Attrs = vec![("axis", (axis as i64).into())];
    let parts = match e.dims(input)[axis] {
        Dim::Fixed(extent) => {
            let sizes = e.ints(&vec![extent / count; count as usize]);
            e.nodes(op::SPLIT, &[Some(own), Some(sizes)], attrs, count as usize)?
        }
        Dim::Symbol(_) | Dim::Dynamic => {
            let attrs = attrs.into_iter().chain([("num_outputs", count.into())]);
            e.nodes(
                op::COUNTED_SPLIT,
                &[Some(own)],
                attrs.collect(),
                count as usize,
            )?
        }
    };
    let own = parts[part];
    e.splits.insert(key, parts);
    Ok(own)
}

fn pad(op: PadOp, e: &mut Emit<'_>) -> One {
    let input = op.input(e.g);
    let (low, mut high) = (op.low(e.g).to_vec(), op.high(e.g).to_vec());
    let mode = op.mode(e.g);
    let value = op.value(e.g).map(|value| e.value(value));
    let mut own = e.value(input);
    let dims = e.dims(input);
    for (axis, &between) in op.interior(e.g).iter().enumerate() {
        if between == 0 || dims[axis] == Dim::Fixed(0) {
            continue;
        }
        // Interior padding follows each element, so the padding after the last one is sliced off.
        own = spread(e, own, value, (input, axis), between)?;
        high[axis] -= between;
    }
    let (word, operator) = match mode {
        PadMode::Constant => ("constant", op::PAD),
        PadMode::Edge => ("edge", op::PAD),
        PadMode::Reflect => ("reflect", op::PAD),
        PadMode::Wrap => ("wrap", op::WRAP_PAD),
    };
    padded(
        e,
        operator,
        e.dtype(input),
        (own, value),
        [&low, &high],
        word,
    )
}

/// Pads `x` of `dtype` at both ends of each dimension, with `value` if the mode is `constant`.
pub(super) fn padded(
    e: &mut Emit<'_>,
    operator: &'static op::Operator,
    dtype: DType,
    (x, value): (Val, Option<Val>),
    [low, high]: [&[i64]; 2],
    mode: &str,
) -> One {
    let carrier = e.carrier(operator, dtype)?;
    let x = e.cast(x, dtype, carrier)?;
    let mut inputs = vec![x, e.ints(&[low, high].concat())];
    if let Some(value) = value {
        inputs.push(e.cast(value, dtype, carrier)?);
    }
    let own = e.node(operator, &inputs, vec![("mode", mode.into())])?;
    e.cast(own, carrier, dtype)
}

/// Inserts `between` padding elements after each element of `x` along an axis.
fn spread(
    e: &mut Emit<'_>,
    x: Val,
    value: Option<Val>,
    (input, axis): (ValueId, usize),
    between: i64,
) -> One {
    let dims = e.dims(input);
    let Some(extent) = dims[axis].fixed() else {
        let what = format!(
            "dimension {axis} of {}, along which it pads between elements,",
            e.g.type_text(input)
        );
        return Err(Refusal::form(
            what,
            "unknown",
            "a number; `--dim NAME=EXTENT` gives it",
        ));
    };
    let apart = e.unsqueeze(x, &[axis as i64 + 1])?;
    let (low, mut high) = (vec![0; dims.len() + 1], vec![0; dims.len() + 1]);
    high[axis + 1] = between;
    let dtype = e.dtype(input);
    let wide = padded(e, op::PAD, dtype, (apart, value), [&low, &high], "constant")?;
    // 0 copies the extent of each dimension before the axis.
    let mut shape = vec![0; axis];
    let wide_extent = between
        .checked_add(1)
        .and_then(|own| own.checked_mul(extent));
    shape.push(wide_extent.ok_or_else(|| {
        let found = format!("{extent} times {between} + 1");
        Refusal::form("an extent of its result", found, "at most 2^63 - 1")
    })?);
    if axis + 1 == dims.len() {
        let shape = e.ints(&shape);
        return e.node(op::RESHAPE, &[wide, shape], Vec::new());
    }
    let behind = dims[axis + 1..].iter().map(|dim| dim.fixed());
    let behind: Option<Vec<i64>> = behind.collect();
    let behind = behind.filter(|own| !own.contains(&0) && extent != 0);
    let behind = behind.ok_or_else(|| {
        let what = format!(
            "an extent of {} after dimension {axis}, along which it pads between elements,",
            e.g.type_text(input)
        );
        Refusal::form(
            what,
            "0 or unknown",
            "a positive number; `--dim NAME=EXTENT` gives it",
        )
    })?;
    shape.extend(behind);
    let shape = e.ints(&shape);
    e.node(op::RESHAPE, &[wide, shape], Vec::new())
}

/// Maximum number of indices in a constant.
pub(super) const WRITTEN_INDICES: i64 = 1 << 20;

/// Returns the integers from 0 to before `count` as a list.
pub(super) fn indices(e: &mut Emit<'_>, count: i64) -> One {
    if count > WRITTEN_INDICES {
        let extents = e.ints(&[count]);
        return counted(e, extents, 0, DType::I64);
    }
    Ok(e.ints(&(0..count).collect::<Vec<i64>>()))
}

/// Exports `iota` in its dtype.
fn iota(op: Iota, e: &mut Emit<'_>) -> One {
    let (result, dtype) = (op.result(e.g), op.dtype(e.g));
    let dims = e.dims(result);
    let axis = e.axis(op.axis(e.g), result);
    let extent = match dims[axis] {
        Dim::Fixed(extent) if extent <= WRITTEN_INDICES => extent,
        Dim::Fixed(_) | Dim::Symbol(_) | Dim::Dynamic => {
            let extents = e.extents(dims)?;
            return counted(e, extents, axis, dtype);
        }
    };
    let mut shape = vec![1; dims.len()];
    shape[axis] = extent as usize;
    let places = Tensor::of(shape.clone(), (0..extent).collect::<Vec<i64>>());
    let places = mind_convert::converted(&places, dtype);
    let own = e.tensor(&places);
    let same = dims.iter().enumerate();
    if same
        .clone()
        .all(|(at, &dim)| at == axis || dim == Dim::Fixed(1))
    {
        return Ok(own);
    }
    e.expand(dtype, own, dims)
}

/// Returns the indices along an axis of a tensor with these extents, as the exclusive cumulative sum of ones.
pub(super) fn counted(e: &mut Emit<'_>, extents: Val, axis: usize, dtype: DType) -> One {
    let one = e.int(1);
    let ones = e.expand_as(DType::I64, one, extents)?;
    let axis = e.int(axis as i64);
    let attrs = vec![("exclusive", AttrDraft::Int(1))];
    let places = e.node(op::CUM_SUM, &[ones, axis], attrs)?;
    e.cast(places, DType::I64, dtype)
}
