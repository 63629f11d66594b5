//! Elements in order.

use mind_convert::Refusal;
use mind_core::ops::gather::GatherElements;
use mind_core::ops::sort::Sort;
use mind_ir::opdef::Op as _;
use mind_ir::types::DTypeClass;

use super::body::expressions;
use super::elementwise::total_order;
use super::{Many, Row};
use crate::import::node::Node;

pub(super) const ROWS: &[Row] = &[Row::many("stablehlo.sort", sort)];

/// An order of elements.
#[derive(Clone, Copy)]
struct Order {
    /// The operand whose elements are compared.
    key: usize,
    is_descending: bool,
    /// Whether elements are compared by their bits, so that -0 is below +0, and NaNs are in the order of theirs.
    is_total: bool,
}

/// The order that a region compares by: of one operand, plainly, by total order, or by total order with one zero and one
/// NaN, as JAX sorts.
fn order(n: &Node<'_, '_, '_>, count: usize) -> Result<Order, Refusal> {
    let found = expressions(n, n.region(0)?).unwrap_or_default();
    let unlike = || {
        Refusal::unsupported(
            format!(
                "its region returns `{}`",
                found.first().map_or("something else", |own| own)
            ),
            "the region compares operands by `LT` or `GT`, one after the other where they are equal",
        )
    };
    let [own] = &found[..] else {
        return Err(unlike());
    };
    for key in 0..count {
        let plain = [format!("a{}", 2 * key), format!("a{}", 2 * key + 1)];
        let jax = plain.clone().map(|own| {
            let (zero, nan) = (format!("eq(0,{own})"), format!("ne({own},{own})"));
            format!("select({nan},NaN,select({zero},0,{own}))")
        });
        let forms = [
            ("lt", &plain, false),
            ("lt_total", &plain, true),
            ("lt_total", &jax, false),
        ];
        for (name, [a, b], is_total) in forms {
            for is_descending in [false, true] {
                let (first, second) = if is_descending { (b, a) } else { (a, b) };
                if *own == format!("{name}({first},{second})") {
                    return Ok(Order {
                        key,
                        is_descending,
                        is_total,
                    });
                }
            }
        }
    }
    Err(unlike())
}

/// Always stable, which is one of the orders that a sort that need not be leaves open.
fn sort(n: &mut Node<'_, '_, '_>) -> Many {
    n.ignore(&["is_stable"]);
    let operands = n.rest(0)?;
    let Some(&first) = operands.first() else {
        return Err(Refusal::operands(0, "1 or more"));
    };
    let rank = n.e.rank(first);
    let axis = n.optional_int(&["dimension"])?.unwrap_or(-1);
    let axis = if axis < 0 { axis + rank as i64 } else { axis };
    let order = order(n, operands.len())?;
    let e = &mut n.e;
    let key = operands[order.key];
    let is_float = e.dtype(key).class() == DTypeClass::Float;
    let by_bits = order.is_total && is_float;
    let compared = if by_bits { total_order(e, key)? } else { key };
    let attrs = Sort::attrs(axis, order.is_descending);
    let op = e.b.create(Sort::DEF, &[compared], &attrs)?;
    let sorted = e.g().results(op);
    let (values, places) = (sorted.get(0), sorted.get(1));
    let mut results = Vec::with_capacity(operands.len());
    for (at, &operand) in operands.iter().enumerate() {
        if at == order.key && !by_bits {
            results.push(values);
            continue;
        }
        let gather = GatherElements::with().axis(axis);
        results.push(gather.build(e, operand, places)?);
    }
    Ok(results)
}
