//! Helpers that emit ops.

use mind_core::ops::convert::Cast;
use mind_ir::attr::OPEN_END;
use mind_ir::builder::Builder;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::types::{DType, Dim, Shape};
use mind_ir::verify::VerifyError;
use mind_ir::{OpId, ValueId};
use mind_tensor::ops::index::Slice;
use mind_tensor::ops::map::Map;
use mind_tensor::ops::reduce::{Reduce, Reduction};
use mind_tensor::ops::reshape::Reshape;

/// The replacement of an op. An error of a shape rule is a bug of the lowering.
pub(crate) type Lowered = Result<ValueId, Box<VerifyError>>;

/// Emits the replacement of an op before it.
pub(crate) type Lower = fn(OpId, &mut Builder<'_>) -> Lowered;

/// Like [`Lower`]; returns `None` if more extents have to be known.
pub(crate) type LowerKnown =
    fn(OpId, &mut Builder<'_>) -> Result<Option<ValueId>, Box<VerifyError>>;

/// Returns the shape of a value.
pub(crate) fn shape(b: &Builder<'_>, value: ValueId) -> Shape {
    b.graph.ty(value).shape.iter().copied().collect()
}

/// Emits a map with one result over `operands`, without duplicates. `body` receives a scalar for each of `operands`.
pub(crate) fn map(
    b: &mut Builder<'_>,
    operands: &[ValueId],
    body: impl FnOnce(&mut Builder<'_>, &[ValueId]) -> Lowered,
) -> Lowered {
    let mut distinct: Vec<ValueId> = Vec::with_capacity(operands.len());
    let places: Vec<usize> = operands
        .iter()
        .map(|operand| {
            let known = distinct.iter().position(|own| own == operand);
            known.unwrap_or_else(|| {
                distinct.push(*operand);
                distinct.len() - 1
            })
        })
        .collect();
    let op = b.create_with_body(Map::DEF, &distinct, &[], 1, |b, arguments| {
        let scalars: Vec<ValueId> = places.iter().map(|&place| arguments[place]).collect();
        Ok(vec![body(b, &scalars)?])
    })?;
    Ok(b.graph.result(op))
}

/// Emits `def` elementwise on `x`.
pub(crate) fn unary(b: &mut Builder<'_>, def: &'static OpDef, x: ValueId) -> Lowered {
    map(b, &[x], |b, scalars| b.one(def, scalars, &[]))
}

/// Emits a cast.
pub(crate) fn cast(b: &mut Builder<'_>, x: ValueId, to: DType) -> Lowered {
    map(b, &[x], |b, scalars| {
        b.one(Cast::DEF, scalars, &Cast::attrs(to))
    })
}

/// Emits a cast, unless `x` already has the dtype `to`.
pub(crate) fn converted(b: &mut Builder<'_>, x: ValueId, to: DType) -> Lowered {
    if b.graph.ty(x).dtype == to {
        Ok(x)
    } else {
        cast(b, x, to)
    }
}

/// Emits a reduction along `axes`.
pub(crate) fn reduce(
    b: &mut Builder<'_>,
    kind: Reduction,
    input: ValueId,
    axes: &[i64],
    keepdims: bool,
) -> Lowered {
    Reduce::with(kind, axes).keepdims(keepdims).build(b, input)
}

/// Emits a reshape. `carry` is dropped if the shape has no `?`, because the number of elements then suffices to infer
/// it.
pub(crate) fn reshape(
    b: &mut Builder<'_>,
    input: ValueId,
    shape: &[Dim],
    carry: &[i64],
) -> Lowered {
    let carry = if shape.contains(&Dim::Dynamic) {
        carry
    } else {
        &[]
    };
    Reshape::with(shape).carry(carry).build(b, input)
}

/// Emits a slice of `axis` from `start` up to but excluding `end`; the other axes are complete.
pub(crate) fn slice_axis(
    b: &mut Builder<'_>,
    input: ValueId,
    axis: usize,
    start: i64,
    end: i64,
) -> Lowered {
    let rank = b.graph.ty(input).rank();
    let (mut starts, mut ends) = (vec![0; rank], vec![OPEN_END; rank]);
    (starts[axis], ends[axis]) = (start, end);
    let steps = vec![1; rank];
    Slice::with(&starts, &ends, &steps).build(b, input)
}

/// Returns whether `input`, which has the elements of the result of `op` in the same order, can replace the result.
pub(crate) fn can_replace(b: &Builder<'_>, input: ValueId, op: OpId) -> bool {
    let open = b.graph.ty(input).shape.contains(&Dim::Dynamic);
    !open && b.graph.type_id(input) == b.graph.type_id(b.graph.result(op))
}
