//! Imports matrix products.

use mind_convert::EmitCore;
use mind_ir::scalar::ScalarFn;

use super::Operator;
use super::integers::{integer_product, matrix_product};
use crate::import::emit::One;
use crate::import::node::Node;

pub(super) const ROWS: &[Operator] = &[
    Operator::one("MatMul", &[1, 9, 13], |n| {
        let (lhs, rhs) = (n.input(0)?, n.input(1)?);
        matrix_product(n, lhs, rhs)
    }),
    Operator::one("Gemm", &[6, 7, 9, 11, 13], gemm),
    Operator::one("MatMulInteger", &[10], |n| {
        let (lhs, rhs) = (n.input(0)?, n.input(1)?);
        let (low, right) = (n.optional(2)?, n.optional(3)?);
        integer_product(&mut n.e, [lhs, rhs], [low, right])
    }),
];

/// Imports `alpha A' B' + beta C`.
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
    // The third input is broadcast; before opset 7 a flag states this.
    n.ignore("broadcast");
    let mut result = matrix_product(n, lhs, rhs)?;
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
