//! Matrix products.

use mind_core::ops::contract::MatMul;
use mind_core::ops::convolution::SumType;
use mind_core::ops::dot_general::DotGeneral;
use mind_core::ops::shape::{ExpandDims, Squeeze};
use mind_ir::ValueId;
use mind_ir::scalar::ScalarFn;
use mind_ir::types::DType;

use super::Operator;
use crate::import::emit::{Emit, One};
use crate::import::node::Node;

pub(super) const ROWS: &[Operator] = &[
    Operator::one("MatMul", &[1, 9, 13], |n| {
        let (lhs, rhs) = (n.input(0)?, n.input(1)?);
        product(&mut n.e, lhs, rhs)
    }),
    Operator::one("Gemm", &[6, 7, 9, 11, 13], gemm),
    Operator::one("MatMulInteger", &[10], |n| {
        let (lhs, rhs) = (n.input(0)?, n.input(1)?);
        let (low, right) = (n.optional(2)?, n.optional(3)?);
        integer_product(&mut n.e, [lhs, rhs], [low, right])
    }),
];

/// A product of matrices, of which a list is a row on the left and a column on the right.
pub(super) fn product(e: &mut Emit<'_>, lhs: ValueId, rhs: ValueId) -> One {
    let (left, right) = (e.rank(lhs), e.rank(rhs));
    let row = if left == 1 {
        ExpandDims::with(&[0]).build(e, lhs)?
    } else {
        lhs
    };
    let column = if right == 1 {
        ExpandDims::with(&[1]).build(e, rhs)?
    } else {
        rhs
    };
    let product = MatMul::build(e, row, column)?;
    let rank = e.rank(product) as i64;
    let mut units = Vec::new();
    units.extend((left == 1).then_some(rank - 2));
    units.extend((right == 1).then_some(rank - 1));
    if units.is_empty() {
        return Ok(product);
    }
    // With a list on one side the product has that many dimensions more.
    units.retain(|axis| *axis >= 0);
    Ok(Squeeze::with(&units).build(e, product)?)
}

/// `alpha A' B' + beta C`.
pub(super) fn gemm(n: &mut Node<'_, '_, '_>) -> One {
    let alpha = n.float("alpha")?.unwrap_or(1.0);
    let beta = n.float("beta")?.unwrap_or(1.0);
    let (mut lhs, mut rhs) = (n.input(0)?, n.input(1)?);
    if n.flag("transA")? {
        lhs = n.e.transpose(lhs, &[1, 0])?;
    }
    if n.flag("transB")? {
        rhs = n.e.transpose(rhs, &[1, 0])?;
    }
    // The third input broadcasts; before opset 7 a flag says so.
    n.ignore("broadcast");
    let mut result = product(&mut n.e, lhs, rhs)?;
    if alpha != 1.0 {
        result = n.e.apply_number(ScalarFn::Mul, result, alpha)?;
    }
    let Some(mut bias) = n.optional(2)? else {
        return Ok(result);
    };
    if beta != 1.0 {
        bias = n.e.apply_number(ScalarFn::Mul, bias, beta)?;
    }
    n.e.apply(ScalarFn::Add, &[result, bias])
}

/// The product of integers of 8 bits less their zero points, exactly, in `i32`.
pub(super) fn integer_product(
    e: &mut Emit<'_>,
    [lhs, rhs]: [ValueId; 2],
    [left, right]: [Option<ValueId>; 2],
) -> One {
    let ranks = (e.rank(lhs), e.rank(rhs));
    if let ((2, 2), None, None) = (ranks, left, right) {
        let product = DotGeneral::with()
            .lhs_contract(&[1])
            .rhs_contract(&[0])
            .dtype(SumType::I32);
        return Ok(product.build(e, lhs, rhs)?);
    }
    // A list of zero points is one for each row on the left, for each column on the right.
    let left = left.map(|zero| {
        if e.rank(zero) == 1 {
            column(e, zero)
        } else {
            Ok(zero)
        }
    });
    let lhs = centred(e, lhs, left.transpose()?)?;
    let rhs = centred(e, rhs, right)?;
    product(e, lhs, rhs)
}

/// A list as a column; one of one element as a number.
fn column(e: &mut Emit<'_>, list: ValueId) -> One {
    match e.extent(list, 0)? {
        1 => e.reshape_to(list, &[]),
        rows => e.reshape_to(list, &[rows, 1]),
    }
}

/// `x - zero` in `i32`.
pub(super) fn centred(e: &mut Emit<'_>, x: ValueId, zero: Option<ValueId>) -> One {
    let wide = e.convert(x, DType::I32)?;
    let Some(zero) = zero else { return Ok(wide) };
    let zero = e.convert(zero, DType::I32)?;
    e.apply(ScalarFn::Sub, &[wide, zero])
}
