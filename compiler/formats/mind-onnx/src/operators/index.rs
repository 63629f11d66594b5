//! Imports gathers, scatters, sorts and searches.

use mind_convert::{EmitCore, Refusal};
use mind_core::eval::bounds::Bounds;
use mind_core::ops::compare::{Compare, Direction};
use mind_core::ops::data::{NonMaxSuppression, NonZero, Unique};
use mind_core::ops::extents::Iota;
use mind_core::ops::gather::{GatherElements, GatherNd};
use mind_core::ops::index::Gather;
use mind_core::ops::scatter::{ScatterElements, ScatterNd, Update};
use mind_core::ops::shape::ExpandDims;
use mind_core::ops::sort::TopK;
use mind_ir::opdef::Op;
use mind_ir::scalar::ScalarFn;
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim};

use super::{Many, Operator};
use crate::import::emit::One;
use crate::import::node::Node;
use crate::import::value::Extent;
use crate::tensor::dtype;

pub(super) const ROWS: &[Operator] = &[
    Operator::one("Gather", &[1, 11, 13], |n| {
        let axis = n.int("axis")?.unwrap_or(0);
        let (data, indices) = (n.input(0)?, n.input(1)?);
        let gather = Gather::with().axis(axis).bounds(Bounds::FromEnd);
        Ok(gather.build(&mut n.e, data, indices)?)
    })
    .moving(),
    Operator::one("GatherElements", &[11, 13], |n| {
        let axis = n.int("axis")?.unwrap_or(0);
        let (data, indices) = (n.input(0)?, n.input(1)?);
        let gather = GatherElements::with().axis(axis).bounds(Bounds::FromEnd);
        Ok(gather.build(&mut n.e, data, indices)?)
    })
    .moving(),
    Operator::one("GatherND", &[11, 12, 13], |n| {
        let batch = n.int("batch_dims")?.unwrap_or(0);
        let (data, indices) = (n.input(0)?, n.input(1)?);
        let gather = GatherNd::with().batch_dims(batch).bounds(Bounds::FromEnd);
        Ok(gather.build(&mut n.e, data, indices)?)
    })
    .moving(),
    Operator::one("Scatter", &[9, 11], scatter_elements),
    Operator::one("ScatterElements", &[11, 13, 16, 18], scatter_elements),
    Operator::one("ScatterND", &[11, 13, 16, 18], |n| {
        let kind = reduction(n)?;
        let (data, indices, updates) = (n.input(0)?, n.input(1)?, n.input(2)?);
        let scatter = ScatterNd::with().kind(kind).bounds(Bounds::FromEnd);
        Ok(scatter.build(&mut n.e, data, indices, updates)?)
    }),
    Operator::one("OneHot", &[9, 11], one_hot),
    Operator::one("Trilu", &[14], trilu),
    Operator::one("EyeLike", &[9, 22], eye_like),
    Operator::many("TopK", &[1, 10, 11, 24], top_k),
    Operator::one("NonZero", &[9, 13], |n| {
        let x = n.input(0)?;
        Ok(NonZero::build(&mut n.e, x)?)
    }),
    Operator::one("Compress", &[9, 11], compress),
    Operator::many("Unique", &[11], |n| {
        let axis = n.int("axis")?;
        let sorted = n.int("sorted")? != Some(0);
        let x = n.input(0)?;
        let rank = n.e.rank(x);
        let axis = axis.map(|axis| n.e.axis(axis, rank)).transpose()?;
        let attrs = Unique::attrs(axis.is_none(), axis.unwrap_or(0) as i64, sorted);
        let op = n.e.b.create(Unique::DEF, &[x], &attrs)?;
        Ok(n.e.g().results(op).into_iter().collect())
    }),
    Operator::one("NonMaxSuppression", &[10, 11], suppressed),
];

fn scatter_elements(n: &mut Node<'_, '_, '_>) -> One {
    let axis = n.int("axis")?.unwrap_or(0);
    let kind = reduction(n)?;
    let (data, indices, updates) = (n.input(0)?, n.input(1)?, n.input(2)?);
    let scatter = ScatterElements::with()
        .axis(axis)
        .kind(kind)
        .bounds(Bounds::FromEnd);
    Ok(scatter.build(&mut n.e, data, indices, updates)?)
}

fn reduction(n: &Node<'_, '_, '_>) -> Result<Update, Refusal> {
    Ok(match n.word("reduction")?.unwrap_or("none") {
        "none" => Update::Replace,
        "add" => Update::Add,
        "mul" => Update::Mul,
        "min" => Update::Min,
        "max" => Update::Max,
        other => {
            let words = ["none", "add", "mul", "min", "max"];
            return Err(Refusal::word("reduction", other, &words));
        }
    })
}

/// Imports `OneHot`. Indices from `-depth` to below `depth` give a row with a single `on`, others a row of `off`.
fn one_hot(n: &mut Node<'_, '_, '_>) -> One {
    let axis = n.int("axis")?.unwrap_or(-1);
    let depth = n
        .one_int(1)?
        .ok_or_else(|| Refusal::missing(n.operand(1)))?;
    let (indices, values) = (n.input(0)?, n.input(2)?);
    let indices = n.e.convert(indices, DType::I64)?;
    let rank = n.e.rank(indices) + 1;
    let axis = n.e.axis(axis, rank)?;
    let zero = n.e.number(DType::I64, 0.0);
    let below = Compare::with(Direction::Lt).build(&mut n.e, indices, zero)?;
    let behind = n.e.apply_number(ScalarFn::Add, indices, depth as f64)?;
    let places = n.e.apply(ScalarFn::Select, &[below, behind, indices])?;
    let places = ExpandDims::with(&[axis as i64]).build(&mut n.e, places)?;
    let mut shape = vec![Dim::Fixed(1); rank];
    shape[axis] = Dim::Fixed(depth);
    let all = Iota::with(DType::I64, &shape)
        .axis(axis as i64)
        .build(&mut n.e)?;
    let hot = Compare::with(Direction::Eq).build(&mut n.e, places, all)?;
    let off = n.e.part(values, 0, 0, 1)?;
    let on = n.e.part(values, 0, 1, 2)?;
    let (off, on) = (n.e.reshape_to(off, &[])?, n.e.reshape_to(on, &[])?);
    n.e.apply(ScalarFn::Select, &[hot, on, off])
}

/// Returns the comparison of `column - row` with `offset` for each position of a matrix.
fn diagonal(
    n: &mut Node<'_, '_, '_>,
    shape: [Extent; 2],
    direction: Direction,
    offset: i64,
) -> One {
    let [rows, columns] = shape;
    let one = Extent::Known(1);
    let row = n.e.iota(DType::I64, &[rows, one], 0)?;
    let column = n.e.iota(DType::I64, &[one, columns], 1)?;
    let bound = n.e.apply_number(ScalarFn::Add, row, offset as f64)?;
    Ok(Compare::with(direction).build(&mut n.e, column, bound)?)
}

fn trilu(n: &mut Node<'_, '_, '_>) -> One {
    let upper = n.int("upper")? != Some(0);
    let offset = n
        .ints_in(1)?
        .and_then(|own| own.first().copied())
        .unwrap_or(0);
    let x = n.input(0)?;
    let &[.., rows, columns] = &n.e.extents_of(x)[..] else {
        return Err(Refusal::rank(
            n.operand(0),
            n.e.g().type_text(x),
            "2 or more",
        ));
    };
    let direction = if upper { Direction::Ge } else { Direction::Le };
    let kept = diagonal(n, [rows, columns], direction, offset)?;
    let zero = n.e.number(n.e.dtype(x), 0.0);
    n.e.apply(ScalarFn::Select, &[kept, x, zero])
}

fn eye_like(n: &mut Node<'_, '_, '_>) -> One {
    let x = n.input(0)?;
    let of = n.int("dtype")?.map(dtype).transpose()?;
    let of = of.unwrap_or(n.e.dtype(x));
    let offset = n.int("k")?.unwrap_or(0);
    let &[rows, columns] = &n.e.extents_of(x)[..] else {
        return Err(Refusal::rank(n.operand(0), n.e.g().type_text(x), 2));
    };
    let ones = diagonal(n, [rows, columns], Direction::Eq, offset)?;
    n.e.convert(ones, of)
}

fn top_k(n: &mut Node<'_, '_, '_>) -> Many {
    let k = if n.opset < 10 {
        n.int("k")?
    } else {
        n.ints_in(1)?.and_then(|own| own.first().copied())
    };
    let k = k.ok_or_else(|| Refusal::missing("k"))?;
    // `sorted=0` permits any order, also the sorted one.
    n.ignore("sorted");
    let axis = n.int("axis")?.unwrap_or(-1);
    let largest = n.int("largest")? != Some(0);
    let x = n.input(0)?;
    let op =
        n.e.b
            .create(TopK::DEF, &[x], &TopK::attrs(k, axis, largest))?;
    Ok(n.e.g().results(op).into_iter().collect())
}

/// Returns the slices whose condition is true.
fn compress(n: &mut Node<'_, '_, '_>) -> One {
    let axis = n.int("axis")?;
    let (mut x, condition) = (n.input(0)?, n.input(1)?);
    let axis = match axis {
        Some(axis) => n.e.axis(axis, n.e.rank(x))?,
        None => {
            x = n.e.reshape_to(x, &[-1])?;
            0
        }
    };
    let found = NonZero::build(&mut n.e, condition)?;
    let places = n.e.reshape_to(found, &[-1])?;
    Ok(Gather::with()
        .axis(axis as i64)
        .build(&mut n.e, x, places)?)
}

fn suppressed(n: &mut Node<'_, '_, '_>) -> One {
    let centre = n.flag("center_point_box")?;
    let (boxes, scores) = (n.input(0)?, n.input(1)?);
    let scalar = |n: &mut Node<'_, '_, '_>, at: usize, default: Tensor| -> One {
        match n.optional(at)? {
            Some(own) => n.e.reshape_to(own, &[]),
            None => Ok(n.e.tensor(&default)),
        }
    };
    let max = scalar(n, 2, Tensor::scalar(0i64))?;
    let overlap = scalar(n, 3, Tensor::scalar(0.0f32))?;
    let least = scalar(n, 4, Tensor::scalar(f32::NEG_INFINITY))?;
    let op = NonMaxSuppression::with().centre(centre);
    Ok(op.build(&mut n.e, boxes, scores, max, overlap, least)?)
}
