//! Imports operators with shape inputs, which may be data-dependent.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::broadcast::BroadcastTo;
use mind_core::ops::compare::{Compare, Direction};
use mind_core::ops::extents::Iota;
use mind_core::ops::reduce::Prod;
use mind_core::ops::runtime_shape::{DynamicBroadcastTo, DynamicIota, DynamicReshape};
use mind_ir::ValueId;
use mind_ir::scalar::ScalarFn;
use mind_ir::tensor::Tensor;
use mind_ir::types::{DType, Dim};

use super::Operator;
use super::shape::element_count;
use crate::import::emit::{Emit, One};
use crate::import::node::Node;
use crate::import::value::{Extent, Extents, Value};
use crate::tensor::Constant;

pub(super) const ROWS: &[Operator] = &[
    Operator::one(
        "ConstantOfShape",
        &[9, 20, 21, 23, 24, 25],
        constant_of_shape,
    ),
    Operator::one("Reshape", &[5, 13, 14, 19, 21, 23, 24, 25], reshape).moving(),
    Operator::one("Expand", &[8, 13], expand).moving(),
    Operator::one("Range", &[11, 27], range),
];

fn constant_of_shape(n: &mut Node<'_, '_, '_>) -> One {
    let zero = || Constant::of(&Tensor::of(vec![1], vec![0.0f32]));
    let value = n.tensor("value")?.unwrap_or_else(zero);
    if value.count() != 1 {
        return Err(Refusal::value(
            "value",
            format_args!("a tensor of {} elements", value.count()),
            "1 element",
        ));
    }
    let value = Tensor::new(Vec::new(), value.tensor().buffer().clone());
    let value = n.e.tensor(&value);
    match n.dims_in(0).ok() {
        Some(dims) if !dims.contains(&Dim::Dynamic) => {
            Ok(BroadcastTo::with(&dims).build(&mut n.e, value)?)
        }
        dims => {
            let extents = n.input(0)?;
            let dims = match dims {
                Some(dims) => dims,
                None => open(&n.e, extents)?,
            };
            Ok(DynamicBroadcastTo::with(&dims).build(&mut n.e, value, extents)?)
        }
    }
}

/// Returns the extents in input `at`, if all are known or symbolic.
fn known_dims(n: &Node<'_, '_, '_>, at: usize) -> Option<Vec<Dim>> {
    let dims = n.dims_in(at).ok();
    dims.filter(|dims| !dims.contains(&Dim::Dynamic))
}

/// Returns as many unknown dimensions as a list of extents has entries.
fn open(e: &Emit<'_>, extents: ValueId) -> Result<Vec<Dim>, Refusal> {
    let rank = usize::try_from(e.extent(extents, 0)?).unwrap_or(0);
    if rank > mind_ir::types::MAX_RANK {
        return Err(Refusal::too_large(
            "the rank of the shape",
            rank,
            mind_ir::types::MAX_RANK,
        ));
    }
    Ok(vec![Dim::Dynamic; rank])
}

/// Broadcasts `x` to data-dependent extents.
fn broadcast(e: &mut Emit<'_>, x: ValueId, extents: ValueId) -> One {
    let open = open(e, extents)?;
    Ok(DynamicBroadcastTo::with(&open).build(e, x, extents)?)
}

/// Returns the extents of `x` as a list of `rank` numbers, padded with 0 at the end or with 1 at the front.
pub(super) fn own_extents(e: &mut Emit<'_>, x: ValueId, rank: usize, align: Align) -> One {
    let dims = e.dims(x);
    let own = dims.into_iter().enumerate().map(|(axis, dim)| match dim {
        Dim::Fixed(extent) => Extent::Known(extent),
        dim => Extent::Of(x, axis, dim),
    });
    let mut elements: Vec<Extent> = own.collect();
    match align {
        Align::First => elements.resize(rank, Extent::Known(0)),
        Align::Last => {
            let ones = rank.saturating_sub(elements.len());
            elements.splice(0..0, vec![Extent::Known(1); ones]);
        }
    }
    e.extents(&Extents {
        dtype: DType::I64,
        shape: vec![elements.len()],
        elements,
    })
}

/// The alignment of two shapes of different rank.
#[derive(Clone, Copy)]
pub(super) enum Align {
    First,
    Last,
}

/// Returns a list of extents with the entries `number` replaced by `instead`.
pub(super) fn replaced(e: &mut Emit<'_>, list: ValueId, number: f64, instead: ValueId) -> One {
    let number = e.number(e.dtype(list), number);
    let is_number = Compare::with(Direction::Eq).build(e, list, number)?;
    e.apply(ScalarFn::Select, &[is_number, instead, list])
}

fn reshape(n: &mut Node<'_, '_, '_>) -> One {
    let x = n.input(0)?;
    let keeps_zero = n.flag("allowzero")?;
    let Ok(wanted) = n.dims_in(1) else {
        let extents = n.input(1)?;
        let open = open(&n.e, extents)?;
        return reshape_at_run_time(&mut n.e, x, extents, &open, keeps_zero);
    };
    let own = n.e.dims(x);
    let dims = wanted.iter().enumerate().map(|(at, &dim)| match dim {
        Dim::Fixed(0) if !keeps_zero => own.get(at).copied().ok_or_else(|| {
            let expected = format!(
                "a number of 1 or more, because the input has rank {}",
                own.len()
            );
            Refusal::value(format!("dimension {at} of the shape"), 0, expected)
        }),
        dim => Ok(dim),
    });
    let mut dims: Vec<Dim> = dims.collect::<Result<_, _>>()?;
    if let Some(left) = left(n, x) {
        for dim in dims.iter_mut().filter(|dim| **dim == Dim::Fixed(-1)) {
            *dim = Dim::Fixed(left);
        }
    }
    let is_open = |dim: &&Dim| matches!(dim, Dim::Dynamic | Dim::Fixed(-1));
    if dims.iter().filter(is_open).count() > 1 || has_foreign(n, x) {
        let extents = n.input(1)?;
        for dim in dims.iter_mut().filter(|dim| **dim == Dim::Fixed(-1)) {
            *dim = Dim::Dynamic;
        }
        return reshape_at_run_time(&mut n.e, x, extents, &dims, keeps_zero);
    }
    n.e.reshape(x, &dims)
}

/// Returns whether the shape has a data-dependent number that is not an extent of `x`, so that the number of elements
/// must be checked at run time.
fn has_foreign(n: &Node<'_, '_, '_>, x: ValueId) -> bool {
    let Some(Value::Extents(list)) = n.given(1) else {
        return false;
    };
    let own = n.e.extents_of(x);
    let is_foreign = |extent: &Extent| extent.dim() == Dim::Dynamic && !own.contains(extent);
    list.elements.iter().any(is_foreign)
}

/// Returns the extent that -1 represents in a shape that contains all unknown extents of `x`.
fn left(n: &Node<'_, '_, '_>, x: ValueId) -> Option<i64> {
    let Some(Value::Extents(wanted)) = n.given(1) else {
        return None;
    };
    let mut own = n.e.extents_of(x);
    let mut taken = 1i64;
    for &extent in &wanted.elements {
        match extent {
            Extent::Known(-1) => {}
            Extent::Known(0) | Extent::Given(_) => return None,
            Extent::Known(known) => taken = taken.checked_mul(known)?,
            open => {
                let at = own.iter().position(|own| *own == open)?;
                own.swap_remove(at);
            }
        }
    }
    let all = own.iter().try_fold(1i64, |all, extent| match extent {
        Extent::Known(known) => all.checked_mul(*known),
        Extent::Of(..) | Extent::Computed(_) | Extent::Given(_) => None,
    })?;
    (taken > 0 && all % taken == 0).then_some(all / taken)
}

/// Reshapes at run time. An extent of 0 is copied from the input, and -1 is inferred.
fn reshape_at_run_time(
    e: &mut Emit<'_>,
    x: ValueId,
    extents: ValueId,
    shape: &[Dim],
    keeps_zero: bool,
) -> One {
    let mut wanted = e.convert(extents, DType::I64)?;
    if !keeps_zero && !shape.is_empty() {
        let own = own_extents(e, x, shape.len(), Align::First)?;
        wanted = replaced(e, wanted, 0.0, own)?;
    }
    let one = e.number(DType::I64, 1.0);
    let others = replaced(e, wanted, -1.0, one)?;
    let count = Prod::with().axes(&[0]).build(e, others)?;
    let count = e.apply_number(ScalarFn::Maximum, count, 1.0)?;
    let all = element_count(e, x)?;
    let left = e.apply(ScalarFn::Div, &[all, count])?;
    let wanted = replaced(e, wanted, -1.0, left)?;
    Ok(DynamicReshape::with(shape).build(e, x, wanted)?)
}

/// Imports `Expand`. The shapes are broadcast against each other, so 1 keeps the extent of the input.
fn expand(n: &mut Node<'_, '_, '_>) -> One {
    let x = n.input(0)?;
    let own = n.e.dims(x);
    let shape = n.dims_in(1).ok();
    let shape = shape.map(|wanted| broadcast_dims(&own, &wanted));
    match shape {
        Some(shape) if !shape.contains(&Dim::Dynamic) => match shape == own {
            true => Ok(x),
            false => Ok(BroadcastTo::with(&shape).build(&mut n.e, x)?),
        },
        shape => {
            let extents = n.input(1)?;
            expand_at_run_time(&mut n.e, x, extents, shape)
        }
    }
}

/// Returns the extents `own` broadcast to `wanted`.
fn broadcast_dims(own: &[Dim], wanted: &[Dim]) -> Vec<Dim> {
    let rank = own.len().max(wanted.len());
    let from_end = |dims: &[Dim], at: usize| {
        let ahead = rank - dims.len();
        at.checked_sub(ahead).map_or(Dim::Fixed(1), |at| dims[at])
    };
    let pairs = (0..rank).map(|at| (from_end(own, at), from_end(wanted, at)));
    let joined = pairs.map(|pair| match pair {
        (own, Dim::Fixed(1)) => own,
        (_, wanted) => wanted,
    });
    joined.collect()
}

/// Expands at run time; `shape` holds the known extents of the result.
fn expand_at_run_time(
    e: &mut Emit<'_>,
    x: ValueId,
    extents: ValueId,
    shape: Option<Vec<Dim>>,
) -> One {
    let given = open(e, extents)?.len();
    let rank = e.rank(x).max(given);
    let own = own_extents(e, x, rank, Align::Last)?;
    let mut wanted = e.convert(extents, DType::I64)?;
    if given < rank {
        let ones = e.tensor(&Tensor::of(vec![rank - given], vec![1i64; rank - given]));
        wanted = e.concat(&[ones, wanted], 0)?;
    }
    let wanted = replaced(e, wanted, 1.0, own)?;
    match shape {
        Some(shape) => Ok(DynamicBroadcastTo::with(&shape).build(e, x, wanted)?),
        None => broadcast(e, x, wanted),
    }
}

/// Returns `start + step i` for all `i` up to `limit`, exclusive.
fn range(n: &mut Node<'_, '_, '_>) -> One {
    // The dtype in which older definitions summed up the steps.
    n.ignore("stash_type");
    let places = places(n)?;
    let (first, by) = (n.input(0)?, n.input(2)?);
    let [first, by] = [first, by].map(|own| n.e.reshape_to(own, &[]));
    let scaled = n.e.apply(ScalarFn::Mul, &[places, by?])?;
    n.e.apply(ScalarFn::Add, &[scaled, first?])
}

/// Returns the indices 0, 1, .. of a range in its dtype.
fn places(n: &mut Node<'_, '_, '_>) -> One {
    let numbers = |at: usize| -> Result<Option<f64>, Refusal> {
        match (n.given(at), n.floats_in(at)) {
            (None, _) => Err(Refusal::missing(n.operand(at))),
            (Some(_), Ok(Some(own))) if own.len() == 1 => Ok(Some(own[0])),
            (Some(_), Ok(own)) => {
                let found = own.map_or(0, |own| own.len());
                Err(Refusal::length(
                    n.operand(at),
                    found,
                    1,
                    "a start, a limit and a step",
                ))
            }
            (Some(_), Err(_)) => Ok(None),
        }
    };
    let all = [numbers(0)?, numbers(1)?, numbers(2)?];
    let first = n.input(0)?;
    let of = n.e.dtype(first);
    if let [Some(start), Some(limit), Some(step)] = all {
        let count = ((limit - start) / step).ceil().max(0.0);
        if !count.is_finite() || count > f64::from(i32::MAX) {
            return Err(Refusal::too_large(
                "the number of elements",
                count,
                i32::MAX,
            ));
        }
        return Ok(Iota::with(of, &[Dim::Fixed(count as i64)]).build(&mut n.e)?);
    }
    if let ([Some(0.0), None, Some(1.0)], Some([dim])) = (all, known_dims(n, 1).as_deref()) {
        return Ok(Iota::with(of, &[*dim]).build(&mut n.e)?);
    }
    let (limit, step) = (n.input(1)?, n.input(2)?);
    let e = &mut n.e;
    let [start, limit, step] = [first, limit, step].map(|own| {
        let wide = e.convert(own, DType::F64)?;
        e.reshape_to(wide, &[1])
    });
    let span = e.apply(ScalarFn::Sub, &[limit?, start?])?;
    let count = e.apply(ScalarFn::Div, &[span, step?])?;
    let count = e.apply(ScalarFn::Ceil, &[count])?;
    let count = e.apply_number(ScalarFn::Maximum, count, 0.0)?;
    let count = e.convert(count, DType::I64)?;
    Ok(DynamicIota::with(of, &[Dim::Dynamic]).build(e, count)?)
}
