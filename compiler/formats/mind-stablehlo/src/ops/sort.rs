//! Sorts.

use mind_convert::{EmitCore, Refusal};
use mind_core::ops::gather::GatherElements;
use mind_core::ops::sort::{Sort, TopK};
use mind_ir::ValueId;
use mind_ir::opdef::Op as _;
use mind_ir::types::DTypeClass;

use super::body::{expressions, unknown_region};
use super::elementwise::total_order;
use super::{Many, Row};
use crate::import::emit::Emit;
use crate::import::node::Node;

pub(super) const ROWS: &[Row] = &[
    Row::many("stablehlo.sort", sort),
    Row::many("chlo.top_k", |n| {
        let k = n.int(&["k"])?;
        top_k(n, k)
    }),
];

/// A sort order.
#[derive(Clone, Copy)]
struct Order {
    /// The operand that is compared.
    key: usize,
    is_descending: bool,
    /// Whether floats are compared in their total order, in which -0 is below +0 and NaNs are ordered.
    is_total: bool,
}

/// Returns the sort orders of a region's comparison, primary key first. Operands are compared directly, in total order,
/// or in the order that JAX uses, which is total with equal zeros and equal NaNs. Later keys break ties.
fn orders(n: &Node<'_, '_, '_>, count: usize) -> Result<Vec<Order>, Refusal> {
    let found = expressions(n, n.region(0)?).unwrap_or_default();
    let lists = match &found[..] {
        [own] => keys(own, count),
        _ => None,
    };
    lists.ok_or_else(|| unknown_region(n, "a comparison of operands by `LT` or `GT`"))
}

/// Returns the sort orders of an expression: `order`, or `or(order, and(equal, orders))`.
fn keys(text: &str, count: usize) -> Option<Vec<Order>> {
    if let Some((order, _)) = order(text, count) {
        return Some(vec![order]);
    }
    let [lhs, rhs] = operands(text, "or")?;
    for (first, others) in [(lhs, rhs), (rhs, lhs)] {
        let Some((primary, equal)) = order(first, count) else {
            continue;
        };
        let [lhs, rhs] = operands(others, "and")?;
        for (same, rest) in [(lhs, rhs), (rhs, lhs)] {
            if same == equal {
                let mut all = vec![primary];
                all.extend(keys(rest, count)?);
                return Some(all);
            }
        }
    }
    None
}

/// Returns the sort order of an expression that compares one operand, and the expression that tests its elements for
/// equality.
fn order(text: &str, count: usize) -> Option<(Order, String)> {
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
        for (name, pair, is_total) in forms {
            for is_descending in [false, true] {
                let [a, b] = pair;
                let (first, second) = if is_descending { (b, a) } else { (a, b) };
                if *text == format!("{name}({first},{second})") {
                    let order = Order {
                        key,
                        is_descending,
                        is_total,
                    };
                    let mut pair = pair.clone();
                    pair.sort_unstable();
                    return Some((order, format!("eq({})", pair.join(","))));
                }
            }
        }
    }
    None
}

/// Returns the two operands of an expression `name(.., ..)`.
fn operands<'t>(text: &'t str, name: &str) -> Option<[&'t str; 2]> {
    let inside = text
        .strip_prefix(name)?
        .strip_prefix('(')?
        .strip_suffix(')')?;
    let mut depth = 0;
    let at = inside.bytes().position(|byte| {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        byte == b',' && depth == 0
    })?;
    Some([&inside[..at], &inside[at + 1..]])
}

/// Imports a sort. It is always stable, which an unstable sort permits. Several keys are sorted one after another, the
/// last key first.
fn sort(n: &mut Node<'_, '_, '_>) -> Many {
    n.ignore(&["is_stable"]);
    let mut operands = n.rest(0)?;
    let Some(&first) = operands.first() else {
        return Err(Refusal::operands(0, "1 or more"));
    };
    let rank = n.e.rank(first);
    let axis = n.optional_int(&["dimension"])?.unwrap_or(-1);
    let axis = if axis < 0 { axis + rank as i64 } else { axis };
    for order in orders(n, operands.len())?.into_iter().rev() {
        operands = sorted(&mut n.e, &operands, order, axis)?;
    }
    Ok(operands)
}

/// Returns the operands in the order of one of them.
fn sorted(e: &mut Emit<'_>, operands: &[ValueId], order: Order, axis: i64) -> Many {
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

/// Returns the `k` largest elements along the last dimension and their indices, in the dtype of the second result.
pub(super) fn top_k(n: &mut Node<'_, '_, '_>, k: i64) -> Many {
    let x = n.only()?;
    let to = crate::constant::dtype(n.result(1)?.element)?;
    let op = n.e.b.create(TopK::DEF, &[x], &TopK::attrs(k, -1, true))?;
    let found = n.e.g().results(op);
    let (values, places) = (found.get(0), found.get(1));
    Ok(vec![values, n.e.convert(places, to)?])
}
