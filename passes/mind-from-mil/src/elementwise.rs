//! Imports elementwise ops.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::elementwise::Gelu;
use mind_core::ops::power::Pow;
use mind_ir::{OpId, ValueId};
use mind_mil::MilOp;
use mind_mil::ops::{activation as act, binary, unary};
use mind_mil::scalar::function_of;

use crate::emit::{Emit, Import, One};

/// The functions that are not a single scalar function. [`mind_mil::scalar`] has the scalar functions, and
/// [`mind_mil::composition`] those that become several ops.
pub(crate) const ROWS: &[(&MilOp, Import)] = &[
    (&unary::SQUARE, |op, e| {
        let x = e.argument(op, "x")?;
        e.mul(x, x)
    }),
    (&unary::THRESHOLD, |op, e| {
        let x = e.argument(op, "x")?;
        let alpha = e.argument(op, "alpha")?;
        let alpha = e.convert(alpha, e.dtype(x))?;
        e.max(x, alpha)
    }),
    (&act::GELU, |op, e| {
        let x = e.argument(op, "x")?;
        Ok(Gelu::build(&mut e.b, x)?)
    }),
    (&binary::POW, power),
];

/// Imports an op that is a scalar function as the core op of the same function.
pub(crate) fn scalar(op: OpId, e: &mut Emit<'_>) -> One {
    let function = function_of(e.g().def(op).short_name());
    let function = function.ok_or_else(|| Refusal::no_counterpart("core has no such function"))?;
    let names = &["x", "y"][..function.arity()];
    let args: Result<Vec<ValueId>, _> = names.iter().map(|name| e.argument(op, name)).collect();
    let args = args?;
    let dtypes = args.iter().map(|&arg| e.dtype(arg));
    if let Some(dtype) = dtypes
        .into_iter()
        .find(|&dtype| !function.domain().admits(dtype))
    {
        return Err(Refusal::no_counterpart(format!(
            "core does not compute it for {dtype}"
        )));
    }
    e.apply(function, &args)
}

/// Imports a power; a square of integers becomes a product.
fn power(op: OpId, e: &mut Emit<'_>) -> One {
    let (x, y) = (e.argument(op, "x")?, e.argument(op, "y")?);
    let is_square = !e.dtype(x).is_float() && e.rank(y) <= e.rank(x);
    match same_exponent(op, e).filter(|_| is_square) {
        Some(2.0) => e.mul(x, x),
        _ => Ok(Pow::build(&mut e.b, x, y)?),
    }
}

/// Returns the exponent, if it is the same constant for all elements.
fn same_exponent(op: OpId, e: &mut Emit<'_>) -> Option<f64> {
    let exponents = mind_mil::call::floats(&e.known(op, "y").ok()?);
    let first = *exponents.first()?;
    let is_same = exponents.iter().all(|own| *own == first);
    is_same.then_some(first)
}
