//! Imports shape queries, reshapes and fills.

use std::rc::Rc;

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::broadcast::BroadcastTo;
use mind_core::ops::extents::ExtentOf;
use mind_core::ops::index::Slice;
use mind_core::ops::pad::{PadMode, PadOp};
use mind_core::ops::runtime_shape::{DynamicBroadcastTo, DynamicReshape};
use mind_core::ops::shape::{ExpandDims, Squeeze};
use mind_ir::ValueId;
use mind_ir::attr::OPEN_END;
use mind_ir::scalar::ScalarFn;
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim, MAX_RANK};

use super::Operator;
use super::normalize::training_step;
use super::runtime_shape::{Align, own_extents};
use crate::import::emit::{Emit, One};
use crate::import::node::{Node, integers};
use crate::import::value::{Extent, Extents, Value};
use crate::tensor::Constant;

pub(super) const ROWS: &[Operator] = &[
    Operator::values("Shape", &[1, 13, 15, 19, 21, 23, 24, 25], shape),
    Operator::values("Size", &[1, 13, 19, 21, 23, 24, 25], size),
    Operator::values("Identity", &[1, 13, 14, 16, 19, 21, 23, 24, 25], |n| {
        given(n).map(|own| vec![own])
    }),
    Operator::values(
        "Constant",
        &[1, 9, 11, 12, 13, 19, 21, 23, 24, 25],
        constant,
    ),
    Operator::values("Dropout", &[6, 7, 10, 12, 13, 22], dropout),
    Operator::one("Flatten", &[1, 9, 11, 13, 21, 23, 24, 25], flatten).moving(),
    Operator::one("Squeeze", &[1, 11, 13, 21, 23, 24, 25], squeeze).moving(),
    Operator::one("Unsqueeze", &[1, 11, 13, 21, 23, 24, 25], unsqueeze).moving(),
    Operator::one("Transpose", &[1, 13, 21, 23, 24, 25], transpose).moving(),
    Operator::one("Tile", &[6, 13], tile).moving(),
    Operator::values("Concat", &[4, 11, 13], concat).moving_all(),
    Operator::one("Pad", &[2, 11, 13, 18, 19, 21, 23, 24, 25], pad),
];

/// Returns the first input unchanged.
fn given(n: &Node<'_, '_, '_>) -> Result<Value, Refusal> {
    let value = n.given(0).cloned();
    value.ok_or_else(|| Refusal::missing(n.operand(0)))
}

fn known(tensor: &Tensor) -> Value {
    Value::Known(Rc::new(Constant::of(tensor)))
}

fn shape(n: &mut Node<'_, '_, '_>) -> Result<Vec<Value>, Refusal> {
    let (start, end) = (n.int("start")?.unwrap_or(0), n.int("end")?);
    let elements: Vec<Extent> = match given(n)? {
        Value::Known(constant) => {
            let shape = constant.shape.iter();
            shape.map(|&extent| Extent::Known(extent as i64)).collect()
        }
        value => {
            let value = n.e.value(&value)?;
            let dims = n.e.dims(value).into_iter().enumerate();
            dims.map(|(axis, dim)| match dim {
                Dim::Fixed(extent) => Extent::Known(extent),
                dim => Extent::Of(value, axis, dim),
            })
            .collect()
        }
    };
    let rank = elements.len() as i64;
    let place = |at: i64| if at < 0 { at + rank } else { at }.clamp(0, rank) as usize;
    let (start, end) = (place(start), place(end.unwrap_or(rank)));
    let elements = elements.get(start..end).unwrap_or_default().to_vec();
    let numbers: Option<Vec<i64>> = elements.iter().map(|own| own.dim().fixed()).collect();
    let shape = vec![elements.len()];
    Ok(vec![match numbers {
        Some(numbers) => known(&Tensor::of(shape, numbers)),
        None => Value::Extents(Rc::new(Extents {
            dtype: DType::I64,
            shape,
            elements,
        })),
    }])
}

fn size(n: &mut Node<'_, '_, '_>) -> Result<Vec<Value>, Refusal> {
    let fixed: Option<i64> = match given(n)? {
        Value::Known(constant) => Some(constant.count() as i64),
        Value::Extents(extents) => Some(extents.elements.len() as i64),
        Value::Op(x) => {
            let dims = n.e.dims(x).into_iter();
            dims.map(Dim::fixed)
                .try_fold(1i64, |count, extent| count.checked_mul(extent?))
        }
    };
    if let Some(count) = fixed {
        return Ok(vec![known(&Tensor::scalar(count))]);
    }
    let x = n.input(0)?;
    Ok(vec![Value::Op(element_count(&mut n.e, x)?)])
}

/// Returns the number of elements of a value.
pub(super) fn element_count(e: &mut Emit<'_>, x: ValueId) -> One {
    let mut count = e.tensor(&Tensor::scalar(1i64));
    for (axis, dim) in e.dims(x).into_iter().enumerate() {
        let extent = match dim {
            Dim::Fixed(extent) => e.tensor(&Tensor::scalar(extent)),
            Dim::Symbol(_) | Dim::Dynamic => ExtentOf::with(axis as i64).build(e, x)?,
        };
        count = e.apply(ScalarFn::Mul, &[count, extent])?;
    }
    Ok(count)
}

fn constant(n: &mut Node<'_, '_, '_>) -> Result<Vec<Value>, Refusal> {
    let list = |len: usize| vec![len];
    let tensor = if let Some(constant) = n.tensor("value")? {
        return Ok(vec![Value::Known(Rc::new(constant))]);
    } else if let Some(own) = n.float("value_float")? {
        Tensor::scalar(own as f32)
    } else if let Some(own) = n.floats("value_floats")? {
        Tensor::of(list(own.len()), own.to_vec())
    } else if let Some(own) = n.int("value_int")? {
        Tensor::scalar(own)
    } else if let Some(own) = n.ints("value_ints")? {
        Tensor::of(list(own.len()), own.to_vec())
    } else {
        return Err(Refusal::missing("value")
            .help("dense tensors of numbers are supported; sparse tensors and strings are not"));
    };
    Ok(vec![known(&tensor)])
}

/// Imports dropout for inference: the input unchanged, and a mask of ones.
fn dropout(n: &mut Node<'_, '_, '_>) -> Result<Vec<Value>, Refusal> {
    n.ignore("seed");
    n.ignore("ratio");
    if n.opset < 7 && n.int("is_test")? != Some(1) {
        return Err(training_step());
    }
    let is_training = match n.opset {
        ..12 => false,
        _ => n.ints_in(2)?.is_some_and(|own| own != [0]),
    };
    let keeps_all = n.floats_in(1)?.is_some_and(|own| own == [0.0]);
    if is_training && !keeps_all {
        return Err(Refusal::value("training_mode", "true", "false")
            .help("which elements are dropped is random: export the model for inference"));
    }
    let value = given(n)?;
    if n.proto.output.len() < 2 {
        return Ok(vec![value]);
    }
    let x = n.e.value(&value)?;
    let extents = n.e.extents_of(x);
    // Before opset 10, masks had the dtype of the input.
    let of = match n.opset {
        ..10 => n.e.dtype(x),
        _ => DType::Bool,
    };
    let keep = n.e.number(of, 1.0);
    let mask = n.e.broadcast_extents(keep, &extents)?;
    Ok(vec![value, Value::Op(mask)])
}

fn flatten(n: &mut Node<'_, '_, '_>) -> One {
    let x = n.input(0)?;
    let dims = n.e.dims(x);
    let axis = n.int("axis")?.unwrap_or(1);
    let axis = match axis {
        axis if axis == dims.len() as i64 => dims.len(),
        axis => n.e.axis(axis, dims.len())?,
    };
    let product = |dims: &[Dim]| match dims {
        [] => Some(Dim::Fixed(1)),
        [one] => Some(*one),
        many => {
            let known = many.iter().map(|dim| dim.fixed());
            known.product::<Option<i64>>().map(Dim::Fixed)
        }
    };
    let shape = match (product(&dims[..axis]), product(&dims[axis..])) {
        (Some(rows), Some(columns)) => [rows, columns],
        (Some(rows), None) => [rows, Dim::Fixed(-1)],
        (None, Some(columns)) => [Dim::Fixed(-1), columns],
        (None, None) => {
            let refusal = Refusal::not_constant(n.operand(0), "has two extents that are not known");
            return Err(refusal.help("`--dim NAME=EXTENT` gives an extent"));
        }
    };
    n.e.reshape(x, &shape)
}

fn concat(n: &mut Node<'_, '_, '_>) -> Result<Vec<Value>, Refusal> {
    let axis = n.int("axis")?.ok_or_else(|| Refusal::missing("axis"))?;
    if let Some(list) = joined(n, axis)? {
        return Ok(vec![Value::Extents(Rc::new(list))]);
    }
    let all = n.all()?;
    let axis = n.e.axis(axis, n.e.rank(all[0]))?;
    Ok(vec![Value::Op(n.e.concat(&all, axis)?)])
}

/// Maximum length of a partially known list.
const MOST_JOINED: usize = MAX_RANK;

/// Returns the concatenation of short `i64` lists with some known elements, so that these stay known; `None` for other
/// inputs.
fn joined(n: &mut Node<'_, '_, '_>, axis: i64) -> Result<Option<Extents>, Refusal> {
    let mut elements = Vec::new();
    let mut is_some_known = false;
    for value in n.inputs {
        match value {
            Some(Value::Known(list)) if list.dtype == DType::I64 && list.shape.len() == 1 => {
                is_some_known |= list.count() > 0;
                elements.extend(integers(list).into_iter().map(Extent::Known));
            }
            Some(Value::Extents(list)) if list.dtype == DType::I64 && list.shape.len() == 1 => {
                is_some_known = true;
                elements.extend(&list.elements);
            }
            Some(Value::Op(value))
                if n.e.dtype(*value) == DType::I64 && n.e.dims(*value) == [Dim::Fixed(1)] =>
            {
                elements.push(Extent::Given(*value));
            }
            Some(Value::Known(_) | Value::Extents(_) | Value::Op(_)) | None => return Ok(None),
        }
        if elements.len() > MOST_JOINED {
            return Ok(None);
        }
    }
    let is_given = elements.iter().any(|own| matches!(own, Extent::Given(_)));
    if !is_some_known || !is_given {
        return Ok(None);
    }
    n.e.axis(axis, 1)?;
    Ok(Some(Extents {
        dtype: DType::I64,
        shape: vec![elements.len()],
        elements,
    }))
}

/// Returns the axes of an operator, counted from the front. They were an attribute before opset 13.
fn axes(n: &Node<'_, '_, '_>, rank: usize) -> Result<Option<Vec<i64>>, Refusal> {
    let Some(axes) = n.ints_since(13, "axes", 1)? else {
        return Ok(None);
    };
    let axes = axes.iter().map(|&axis| Ok(n.e.axis(axis, rank)? as i64));
    axes.collect::<Result<_, _>>().map(Some)
}

fn squeeze(n: &mut Node<'_, '_, '_>) -> One {
    let x = n.input(0)?;
    let dims = n.e.dims(x);
    let Some(axes) = axes(n, dims.len())? else {
        return squeeze_ones(n, x);
    };
    if axes.is_empty() {
        return Ok(x);
    }
    let is_open = |axis: &i64| dims[*axis as usize].fixed().is_none();
    let x = match axes.iter().any(is_open) {
        true => ones_at_run_time(&mut n.e, x, &axes)?,
        false => x,
    };
    Ok(Squeeze::with(&axes).build(&mut n.e, x)?)
}

/// Squeezes all dimensions of extent 1. Whether dimensions of unknown extent are kept or dropped follows from the
/// declared rank of the result, and their extents are checked at run time. Without a declaration they are kept.
///
/// # Errors
///
/// If the declared rank drops only some of them, because it does not determine which.
fn squeeze_ones(n: &mut Node<'_, '_, '_>, x: ValueId) -> One {
    let rest = match &axes_where(&n.e.dims(x), |dim| dim == Dim::Fixed(1))[..] {
        [] => x,
        ones => Squeeze::with(ones).build(&mut n.e, x)?,
    };
    let left = n.e.dims(rest);
    let open = axes_where(&left, |dim| dim.fixed().is_none());
    if open.is_empty() {
        return Ok(rest);
    }
    let ty = n.e.g().type_text(x);
    let declared = n.proto.output.first().and_then(|own| n.scope.rank(own));
    match declared {
        Some(rank) if rank == left.len() => {}
        Some(rank) if rank + open.len() == left.len() => {
            let ones = ones_at_run_time(&mut n.e, rest, &open)?;
            return Ok(Squeeze::with(&open).build(&mut n.e, ones)?);
        }
        Some(rank) if rank < left.len() && rank + open.len() > left.len() => {
            let expected = format!(
                "the dimensions of {ty} that are dropped, because its result is declared with rank {rank}, which leaves \
                 open which of the {} dimensions of unknown extent these are",
                open.len()
            );
            return Err(Refusal::value("axes", "left out", expected)
                .help("give the node its `axes`, or dimensions of inputs their extents: `--dim NAME=EXTENT`"));
        }
        Some(_) | None => n.warn(format!(
            "without `axes` it drops each dimension of extent 1, and some extents of {ty} are not known here: these \
             dimensions are kept, and a run in which one of them is 1 fails; `axes`, a declared shape of the result, or \
             `--dim` for dimensions of inputs, says which are dropped"
        )),
    }
    let extents = own_extents(&mut n.e, rest, left.len(), Align::First)?;
    let kept = DynamicReshape::with(&left).refuse_ones(true);
    Ok(kept.build(&mut n.e, rest, extents)?)
}

/// Returns the axes of the dimensions for which `is_wanted` is true.
fn axes_where(dims: &[Dim], is_wanted: impl Fn(Dim) -> bool) -> Vec<i64> {
    let axes = dims.iter().enumerate();
    let axes = axes.filter(|(_, dim)| is_wanted(**dim));
    axes.map(|(axis, _)| axis as i64).collect()
}

/// Returns `x` with extent 1 at `axes`, which is checked at run time for unknown extents.
fn ones_at_run_time(e: &mut Emit<'_>, x: ValueId, axes: &[i64]) -> One {
    let mut dims = e.dims(x);
    for &axis in axes {
        let dim = &mut dims[axis as usize];
        if dim.fixed().is_none() {
            *dim = Dim::Fixed(1);
        }
    }
    let extents = own_extents(e, x, dims.len(), Align::First)?;
    Ok(DynamicReshape::with(&dims).build(e, x, extents)?)
}

fn unsqueeze(n: &mut Node<'_, '_, '_>) -> One {
    let x = n.input(0)?;
    let given = n.ints_since(13, "axes", 1)?;
    let given = given.ok_or_else(|| Refusal::missing("axes"))?;
    let rank = n.e.rank(x) + given.len();
    let axes = given.iter().map(|&axis| Ok(n.e.axis(axis, rank)? as i64));
    let mut axes: Vec<i64> = axes.collect::<Result<_, Refusal>>()?;
    axes.sort_unstable();
    Ok(ExpandDims::with(&axes).build(&mut n.e, x)?)
}

fn transpose(n: &mut Node<'_, '_, '_>) -> One {
    let x = n.input(0)?;
    let reversed: Vec<i64> = (0..n.e.rank(x) as i64).rev().collect();
    let permutation = n.ints("perm")?.unwrap_or(&reversed);
    n.e.transpose(x, permutation)
}

/// Imports `Tile`: `[a, b]` is broadcast from `[1, a, 1, b]` to `[r, a, s, b]` and then merged.
fn tile(n: &mut Node<'_, '_, '_>) -> One {
    let x = n.input(0)?;
    if n.given(1).is_none() {
        return Err(Refusal::missing(n.operand(1)));
    }
    let own = n.e.dims(x);
    let repeats = match n.dims_in(1) {
        Ok(repeats) => repeats,
        Err(_) => vec![Dim::Dynamic; n.input(1).and_then(|list| n.e.extent(list, 0))? as usize],
    };
    if repeats.len() != own.len() {
        let reason = "1 for each dimension of the input";
        return Err(Refusal::length(
            n.operand(1),
            repeats.len(),
            own.len(),
            reason,
        ));
    }
    if let Some(Dim::Fixed(less)) = repeats.iter().find(|dim| matches!(dim, Dim::Fixed(..0))) {
        return Err(Refusal::value(n.operand(1), less, "repeats of 0 or more"));
    }
    let pairs = || repeats.iter().copied().zip(own.iter().copied());
    let wide: Vec<Dim> = pairs().flat_map(|(n, own)| [n, own]).collect();
    let whole: Option<Vec<Dim>> = pairs().map(|(n, own)| product(n, own)).collect();
    let whole = whole.ok_or_else(|| {
        Refusal::too_large("an extent of the result", "their product", "2^63 - 1")
    })?;
    let between: Vec<i64> = (0..own.len() as i64).map(|axis| 2 * axis).collect();
    let apart = ExpandDims::with(&between).build(&mut n.e, x)?;
    if wide.iter().all(|dim| dim.fixed().is_some()) {
        let wide = BroadcastTo::with(&wide).build(&mut n.e, apart)?;
        return n.e.reshape(wide, &whole);
    }
    let times = n.input(1)?;
    let e = &mut n.e;
    let times = e.convert(times, DType::I64)?;
    let extents = own_extents(e, x, own.len(), Align::First)?;
    let count = own.len() as i64;
    let [first, second] = [times, extents].map(|list| e.reshape_to(list, &[count, 1]));
    let pairs = e.concat(&[first?, second?], 1)?;
    let pairs = e.reshape_to(pairs, &[2 * count])?;
    let wide = DynamicBroadcastTo::with(&wide).build(e, apart, pairs)?;
    let products = e.apply(ScalarFn::Mul, &[times, extents])?;
    Ok(DynamicReshape::with(&whole).build(e, wide, products)?)
}

/// Returns a repeated extent; `None` on overflow.
fn product(repeats: Dim, own: Dim) -> Option<Dim> {
    Some(match (repeats, own) {
        (Dim::Fixed(repeats), Dim::Fixed(own)) => Dim::Fixed(repeats.checked_mul(own)?),
        (Dim::Fixed(1), other) | (other, Dim::Fixed(1)) => other,
        (Dim::Fixed(0), _) | (_, Dim::Fixed(0)) => Dim::Fixed(0),
        _ => Dim::Dynamic,
    })
}

/// Crops `x` by negative padding.
fn cropped(e: &mut Emit<'_>, x: ValueId, low: &[i64], high: &[i64]) -> One {
    let starts: Vec<i64> = low.iter().map(|low| low.min(&0).saturating_neg()).collect();
    let mut ends = vec![OPEN_END; high.len()];
    for (axis, &high) in high.iter().enumerate().filter(|(_, high)| **high < 0) {
        ends[axis] = e.extent(x, axis)?.saturating_add(high);
    }
    Ok(Slice::with(&starts, &ends, &vec![1; low.len()]).build(e, x)?)
}

fn pad(n: &mut Node<'_, '_, '_>) -> One {
    let mut x = n.input(0)?;
    let rank = n.e.rank(x);
    let pads = n.ints_since(11, "pads", 1)?;
    let pads = pads.ok_or_else(|| Refusal::missing("pads"))?;
    let axes = match n.opset {
        ..18 => None,
        _ => n.ints_in(3)?,
    };
    let axes = axes.unwrap_or_else(|| (0..rank as i64).collect());
    if pads.len() != 2 * axes.len() {
        let reason = format!("begin and end for each of {} axes", axes.len());
        return Err(Refusal::length("pads", pads.len(), 2 * axes.len(), reason));
    }
    let (mut low, mut high) = (vec![0; rank], vec![0; rank]);
    for (at, &axis) in axes.iter().enumerate() {
        let axis = n.e.axis(axis, rank)?;
        (low[axis], high[axis]) = (pads[at], pads[at + axes.len()]);
    }
    let mode = match n.word("mode")?.unwrap_or("constant") {
        "constant" => PadMode::Constant,
        "edge" => PadMode::Edge,
        "reflect" => PadMode::Reflect,
        "wrap" => PadMode::Wrap,
        other => {
            let words = ["constant", "edge", "reflect", "wrap"];
            return Err(Refusal::word("mode", other, &words));
        }
    };
    let value = if n.opset < 11 {
        let of = n.e.dtype(x);
        n.float("value")?.map(|value| n.e.number(of, value))
    } else {
        let value = n.optional(2)?;
        value.map(|value| n.e.reshape_to(value, &[])).transpose()?
    };
    let value = value.filter(|_| mode == PadMode::Constant);
    if mode != PadMode::Constant && low.iter().chain(&high).any(|&amount| amount < 0) {
        x = cropped(&mut n.e, x, &low, &high)?;
        for amount in low.iter_mut().chain(&mut high) {
            *amount = (*amount).max(0);
        }
    }
    Ok(PadOp::with(&low, &high)
        .mode(mode)
        .build(&mut n.e, x, value)?)
}
