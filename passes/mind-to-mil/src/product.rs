//! Lowers products with lists of batch and contracted dimensions.

use mind_core::ops::dot_general::DotGeneral;
use mind_core::pairs::{Pairs, Side};
use mind_ir::ValueId;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::types::DType;
use mind_mil::Element;
use mind_mil::ops::unary::CAST;

use crate::attention::einsum;
use crate::constant::narrowed;
use crate::contract::matmul;
use crate::emit::Argument::{Value, Word};
use crate::emit::{Emit, Lower, Lowered};
use crate::movement::element;

pub(crate) const ROWS: &[(&OpDef, Lower)] = &[(DotGeneral::DEF, |op, e| {
    let view = DotGeneral::from_id(op);
    let operands = [view.lhs(e.g()), view.rhs(e.g())];
    let ranks = operands.map(|value| e.g().ty(value).rank());
    let pairs = view.pairs(e.g(), ranks)?;
    let dtype = e.dtype(e.g().result(op));
    let dtype = narrowed(dtype, e.float())?;
    let [lhs, rhs] = operands;
    let operands = [converted(e, lhs, dtype)?, converted(e, rhs, dtype)?];
    match equation(&pairs).filter(|_| dtype.is_float()) {
        Some((equation, order)) => {
            let result = einsum(e, equation, operands)?;
            e.transpose(result, order)
        }
        None => paired(e, &pairs, operands),
    }
})];

/// Casts `x` to the dtype of the sums.
fn converted(e: &mut Emit<'_, '_>, x: ValueId, to: DType) -> Lowered {
    if e.dtype(x) == to {
        return Ok(x);
    }
    let word = Word(Element::of(to).name());
    e.op(&CAST, &[("x", Value(x)), ("dtype", word)])
}

/// The dimension lists of a product, and the `einsum` equation that computes it with the order of the result's
/// dimensions.
type Equation = ([&'static [usize]; 4], &'static str, &'static [i64]);

/// The products that `einsum` supports, by batch and contracted dimensions of `lhs`, then of `rhs`.
const EQUATIONS: [Equation; 2] = [
    (
        [&[0, 2], &[3], &[0, 2], &[1]],
        "nchw,nwhu->nchu",
        &[0, 2, 1, 3],
    ),
    ([&[1], &[2], &[1], &[0]], "abc,cbd->abd", &[1, 0, 2]),
];

/// Returns the equation of `einsum` for a product, if it supports it.
fn equation(pairs: &Pairs) -> Option<(&'static str, &'static [i64])> {
    let (lhs, rhs) = (&pairs.lhs, &pairs.rhs);
    let lists = [&lhs.batch, &lhs.contracted, &rhs.batch, &rhs.contracted];
    let is = |(own, ..): &&Equation| {
        let ranks = own[0].len() + 2;
        let rank = |side: &Side| side.batch.len() + side.contracted.len() + side.free.len();
        lists.iter().zip(own).all(|(list, own)| list[..] == **own)
            && [lhs, rhs].into_iter().all(|side| rank(side) == ranks)
    };
    let found = EQUATIONS.iter().find(is)?;
    Some((found.1, found.2))
}

/// Lowers to a batched matrix product, with batch, free and contracted dimensions sorted and each group merged.
pub(crate) fn paired(e: &mut Emit<'_, '_>, pairs: &Pairs, [x, y]: [ValueId; 2]) -> Lowered {
    let (left, right) = (&pairs.lhs, &pairs.rhs);
    let (lhs_shape, rhs_shape) = (e.shape(x)?, e.shape(y)?);
    let extents = |shape: &[i64], axes: &[usize]| -> Vec<i64> {
        axes.iter().map(|&axis| shape[axis]).collect()
    };
    let batch = extents(&lhs_shape, &left.batch);
    let (rows, columns) = (
        extents(&lhs_shape, &left.free),
        extents(&rhs_shape, &right.free),
    );
    let shape = [&batch[..], &rows[..], &columns[..]].concat();
    let count = |extents: &[i64]| extents.iter().product::<i64>();
    let inner = count(&extents(&lhs_shape, &left.contracted));
    let (m, n) = (count(&rows), count(&columns));
    let is_stack = batch.is_empty() && left.contracted.len() == 1 && !rows.is_empty();
    let (lhs_shape, rhs_shape) = if is_stack {
        ([&rows[..], &[inner]].concat(), vec![inner, n])
    } else {
        (
            [&batch[..], &[m, inner]].concat(),
            [&batch[..], &[inner, n]].concat(),
        )
    };
    let order = |lists: [&[usize]; 3]| -> Vec<i64> {
        lists.concat().into_iter().map(|axis| axis as i64).collect()
    };
    let matrix = e.transpose(x, &order([&left.batch, &left.free, &left.contracted]))?;
    let matrix = e.reshape(matrix, &lhs_shape)?;
    let other = e.transpose(y, &order([&right.batch, &right.contracted, &right.free]))?;
    let other = e.constant_or_reshaped(other, &rhs_shape)?;
    let product = matmul(e, matrix, other)?;
    if shape.is_empty() {
        element(e, product, &[0, 0])
    } else {
        e.reshape(product, &shape)
    }
}
