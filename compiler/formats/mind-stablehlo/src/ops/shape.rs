//! Reshapes, broadcasts and shape arithmetic.

use std::rc::Rc;

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::broadcast::BroadcastTo;
use mind_core::ops::extents::Iota;
use mind_core::ops::pad::PadOp;
use mind_core::ops::runtime_shape::{DynamicBroadcastTo, DynamicIota};
use mind_core::ops::shape::Reverse;
use mind_ir::ValueId;
use mind_ir::types::{DType, Dim};

use super::Row;
use crate::constant::dtype;
use crate::import::emit::{Emit, One};
use crate::import::node::Node;
use crate::import::value::{Extent, Extents, Value, Values};
use crate::text::TensorText;

pub(super) const ROWS: &[Row] = &[
    Row::values("stablehlo.constant", |n| {
        let constant = n.dense("value")?;
        Ok(vec![Value::Known(Rc::new(constant))])
    }),
    Row::values("stablehlo.reshape", reshape).folding(),
    Row::one("stablehlo.dynamic_reshape", |n| {
        n.count(2)?;
        let extents = annotated(n.extents_in(1)?, n.result(0)?)?;
        let x = n.input(0)?;
        n.e.reshape_extents(x, &extents)
    }),
    Row::one("stablehlo.transpose", |n| {
        let x = n.only()?;
        let order = n.axes(&["dims", "permutation"], n.e.rank(x))?;
        n.e.permute(x, &order)
    }),
    Row::one("stablehlo.reverse", |n| {
        let x = n.only()?;
        let axes = n.ints(&["dims", "dimensions"])?;
        Ok(Reverse::with(&axes).build(&mut n.e, x)?)
    }),
    Row::values("stablehlo.concatenate", concatenate).folding(),
    Row::values("stablehlo.broadcast_in_dim", broadcast_in_dim).folding(),
    Row::one("stablehlo.dynamic_broadcast_in_dim", |n| {
        // Which dimensions are broadcast follows from the extents.
        n.ignore(&[
            "known_expanding_dimensions",
            "known_nonexpanding_dimensions",
        ]);
        n.count(2)?;
        let axes = n.ints(&["dims", "broadcast_dimensions"])?;
        let extents = annotated(n.extents_in(1)?, n.result(0)?)?;
        let x = n.input(0)?;
        stretched(&mut n.e, x, &axes, &extents)
    }),
    Row::one("stablehlo.broadcast", |n| {
        let sizes = n.ints(&["sizes", "broadcast_sizes"])?;
        let x = n.only()?;
        let own = n.e.dims(x);
        let shape: Vec<Dim> = sizes.into_iter().map(Dim::Fixed).chain(own).collect();
        Ok(BroadcastTo::with(&shape).build(&mut n.e, x)?)
    }),
    Row::one("stablehlo.iota", |n| {
        n.count(0)?;
        let (of, shape) = (n.result_dtype()?, n.result_shape()?);
        let axis = n.axis(&["dim", "iota_dimension"], shape.len())?;
        let shape: Vec<Dim> = shape.into_iter().map(Dim::Fixed).collect();
        let iota = Iota::with(of, &shape).axis(axis as i64);
        Ok(iota.build(&mut n.e)?)
    }),
    Row::one("stablehlo.dynamic_iota", |n| {
        n.count(1)?;
        let of = n.result_dtype()?;
        let extents = annotated(n.extents_in(0)?, n.result(0)?)?;
        let axis = n.axis(&["dim", "iota_dimension"], extents.len())?;
        iota(&mut n.e, of, &extents, axis)
    }),
    Row::values("stablehlo.get_dimension_size", |n| {
        let x = n.only()?;
        let axis = n.axis(&["dim", "dimension"], n.e.rank(x))?;
        let extents = Extents {
            dtype: n.result_dtype()?,
            is_scalar: true,
            elements: vec![n.e.extent_of(x, axis)?],
        };
        Ok(vec![known_or_extents(extents)])
    }),
    Row::one("stablehlo.pad", |n| {
        n.count(2)?;
        let low = n.ints(&["low", "edge_padding_low"])?;
        let high = n.ints(&["high", "edge_padding_high"])?;
        let interior = n.ints(&["interior", "interior_padding"])?;
        let (x, value) = (n.input(0)?, n.input(1)?);
        pad(&mut n.e, x, value, [&low, &high, &interior])
    }),
    Row::one("stablehlo.dynamic_pad", |n| {
        n.count(5)?;
        let [low, high, interior] = [n.ints_in(2)?, n.ints_in(3)?, n.ints_in(4)?];
        let (x, value) = (n.input(0)?, n.input(1)?);
        pad(&mut n.e, x, value, [&low, &high, &interior])
    }),
];

/// Returns a tensor with edge and interior padding.
fn pad(e: &mut Emit<'_>, x: ValueId, value: ValueId, [low, high, interior]: [&[i64]; 3]) -> One {
    let mut own = PadOp::with(low, high);
    if interior.iter().any(|own| *own != 0) {
        own = own.interior(interior);
    }
    Ok(own.build(e, x, Some(value))?)
}

/// Returns extents, with data-dependent ones replaced by those that the result type states.
///
/// # Errors
///
/// Extents that contradict the type.
fn annotated(extents: Vec<Extent>, ty: &TensorText<'_>) -> Result<Vec<Extent>, Refusal> {
    if extents.len() != ty.shape.len() {
        let (found, wanted) = (extents.len(), ty.shape.len());
        let reason = "the rank of the result";
        return Err(Refusal::length(
            "the list of extents".to_owned(),
            found,
            wanted,
            reason,
        ));
    }
    let pairs = extents.into_iter().zip(&ty.shape);
    let extents = pairs.map(|(extent, wanted)| match (extent, wanted) {
        (Extent::Computed(_), Some(wanted)) => Extent::Known(*wanted),
        (extent, _) => extent,
    });
    Ok(extents.collect())
}

/// Returns extents as a constant if all are known.
fn known_or_extents(extents: Extents) -> Value {
    let numbers = extents.elements.iter().map(|own| own.dim().fixed());
    let numbers: Option<Vec<i64>> = numbers.collect();
    let Some(numbers) = numbers else {
        return Value::Extents(Rc::new(extents));
    };
    let shape = match extents.is_scalar {
        true => Vec::new(),
        false => vec![numbers.len()],
    };
    let tensor = mind_ir::tensor::Tensor::of(shape, numbers);
    let tensor = mind_convert::converted(&tensor, extents.dtype);
    Value::Known(Rc::new(crate::constant::Constant::of(&tensor)))
}

/// Returns the indices along an axis of a shape with possibly data-dependent extents.
pub(super) fn iota(e: &mut Emit<'_>, of: DType, extents: &[Extent], axis: usize) -> One {
    let dims: Vec<Dim> = extents.iter().map(|own| own.dim()).collect();
    if !dims.contains(&Dim::Dynamic) {
        return Ok(Iota::with(of, &dims).axis(axis as i64).build(e)?);
    }
    let list = e.extent_list(extents)?;
    let iota = DynamicIota::with(of, &dims).axis(axis as i64);
    Ok(iota.build(e, list)?)
}

/// Imports a reshape. An extent becomes a list of one extent or the reverse; other values are reshaped.
fn reshape(n: &mut Node<'_, '_, '_>) -> Values {
    n.count(1)?;
    let wanted = n.result(0)?;
    if let Value::Extents(own) = n.given(0)?
        && own.elements.len() == 1
        && wanted.shape.len() <= 1
    {
        return Ok(vec![Value::Extents(Rc::new(Extents {
            is_scalar: wanted.shape.is_empty(),
            ..Extents::clone(own)
        }))]);
    }
    let x = n.input(0)?;
    let shape = n.result_shape()?;
    let shape: Vec<Dim> = shape.into_iter().map(Dim::Fixed).collect();
    Ok(vec![Value::Op(n.e.reshape(x, &shape)?)])
}

/// Concatenates lists of extents, or tensors along an axis.
fn concatenate(n: &mut Node<'_, '_, '_>) -> Values {
    let wanted = n.result(0)?;
    let axis = n.axis(&["dim", "dimension"], wanted.shape.len())?;
    let of = dtype(wanted.element)?;
    if wanted.shape.len() == 1 && is_list_of_extents(n) {
        let mut elements = Vec::new();
        for at in 0..n.inputs.len() {
            elements.extend(n.extents_in(at)?);
        }
        let extents = Extents {
            dtype: of,
            is_scalar: false,
            elements,
        };
        return Ok(vec![Value::Extents(Rc::new(extents))]);
    }
    let inputs = n.rest(0)?;
    Ok(vec![Value::Op(n.e.concat(&inputs, axis)?)])
}

/// Returns whether the operands are short lists of integers, some of them known and some data-dependent. Such lists are
/// kept as extents, so that the known ones are not lost.
fn is_list_of_extents(n: &Node<'_, '_, '_>) -> bool {
    let (mut count, mut is_partly_known) = (0, false);
    for value in n.inputs {
        count += match value {
            Value::Extents(own) => {
                is_partly_known = true;
                own.elements.len()
            }
            Value::Known(own) if matches!(own.dtype(), DType::I32 | DType::I64) => {
                is_partly_known = true;
                own.count().unwrap_or(usize::MAX)
            }
            Value::Op(own) if n.e.dims(*own) == [Dim::Fixed(1)] => 1,
            Value::Known(_) | Value::Op(_) | Value::Compared(_) => return false,
        };
        if count > mind_ir::types::MAX_RANK {
            return false;
        }
    }
    is_partly_known
}

fn broadcast_in_dim(n: &mut Node<'_, '_, '_>) -> Values {
    n.count(1)?;
    let axes = n.ints(&["dims", "broadcast_dimensions"])?;
    let shape = n.result_shape()?;
    if let (Value::Extents(own), [1]) = (n.given(0)?, &shape[..]) {
        return Ok(vec![Value::Extents(Rc::new(Extents {
            is_scalar: false,
            ..Extents::clone(own)
        }))]);
    }
    let extents: Vec<Extent> = shape.into_iter().map(Extent::Known).collect();
    let x = n.input(0)?;
    Ok(vec![Value::Op(stretched(&mut n.e, x, &axes, &extents)?)])
}

/// Broadcasts `x` to `extents`, with its dimensions at `axes`.
pub(super) fn stretched(e: &mut Emit<'_>, x: ValueId, axes: &[i64], extents: &[Extent]) -> One {
    let (rank, own) = (extents.len(), e.dims(x));
    if axes.len() != own.len() {
        let reason = "1 for each dimension of the operand";
        return Err(Refusal::length("dims", axes.len(), own.len(), reason));
    }
    let mut places = Vec::with_capacity(axes.len());
    for &axis in axes {
        places.push(crate::import::node::axis(axis, rank)?);
    }
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by_key(|&at| places[at]);
    if order
        .windows(2)
        .any(|pair| places[pair[0]] == places[pair[1]])
    {
        return Err(Refusal::value(
            "dims",
            format_args!("{axes:?}"),
            "each dimension of the result at most once",
        ));
    }
    let x = e.permute(x, &order)?;
    let first = places.iter().copied().min().unwrap_or(rank);
    let mut shape = vec![Extent::Known(1); rank - first];
    for (at, &from) in order.iter().enumerate() {
        shape[places[from] - first] = e.extent_of(x, at)?;
    }
    let x = match shape.len() == own.len() {
        true => x,
        false => e.reshape_extents(x, &shape)?,
    };
    let wanted: Vec<Dim> = extents.iter().map(|own| own.dim()).collect();
    if wanted.contains(&Dim::Dynamic) {
        let list = e.extent_list(extents)?;
        return Ok(DynamicBroadcastTo::with(&wanted).build(e, x, list)?);
    }
    if e.dims(x) == wanted {
        return Ok(x);
    }
    Ok(BroadcastTo::with(&wanted).build(e, x)?)
}
