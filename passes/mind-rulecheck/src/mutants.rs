//! Mutants of right sides, because a check that accepts a wrong right side does not test the rule.

use mind_core::ops::compare::{Compare, Direction};
use mind_core::ops::index::Slice;
use mind_diag::Span;
use mind_ir::attr::Attr;
use mind_ir::builder::Builder;
use mind_ir::graph::{Graph, InsertPoint};
use mind_ir::opdef::{Op, OpDef, Trait};
use mind_ir::{OpId, ValueId};

/// The maximum number of mutants of one right side.
const MOST: usize = 12;

/// Attributes that are not mutated, because a given result type leaves one value, or several that mean the same.
const BOUNDS: [&str; 4] = ["starts", "ends", "steps", "strides"];

/// A right side with one change.
pub(crate) struct Mutant {
    /// A description of the change, equal for the same op of the rule in every instance.
    pub(crate) label: String,
    pub(crate) value: ValueId,
}

/// A change of one op.
#[derive(Clone, Copy)]
enum Change {
    /// The op is replaced by its first operand.
    Drop,
    /// The first two operands are swapped.
    Swap,
    /// The attribute at this index gets another value.
    Attr(usize),
    /// The op is replaced by this one.
    Op(&'static OpDef),
}

/// Appends mutants of the right side to `g` and returns them. The ops from the id `start` on compute `right`; `left` is
/// the value that it should equal.
pub(crate) fn mutants(g: &mut Graph, start: usize, left: ValueId, right: ValueId) -> Vec<Mutant> {
    let ops: Vec<OpId> = g.ops(g.body()).filter(|op| op.index() >= start).collect();
    let mut changes: Vec<(usize, Change)> = Vec::new();
    for (at, op) in ops.iter().enumerate().filter(|(_, op)| mutable(g, **op)) {
        changes.push((at, Change::Drop));
        if g.operands(*op).len() >= 2 && !is_symmetric(g, *op) {
            changes.push((at, Change::Swap));
        }
        let siblings = siblings(g.def(*op)).map(|sibling| (at, Change::Op(sibling)));
        changes.extend(siblings);
        let telling = |attr: &usize| !BOUNDS.contains(&g.def(*op).attrs[*attr].name);
        let attrs = (0..g.attrs(*op).len()).filter(telling);
        changes.extend(attrs.map(|attr| (at, Change::Attr(attr))));
    }
    let mut found: Vec<Mutant> = Vec::new();
    for (at, change) in changes {
        if found.len() < MOST
            && let Some(value) = changed(g, &ops, at, change, right)
            && g.type_id(value) == g.type_id(left)
            && value != right
        {
            let name = g.def(ops[at]).name;
            let what = match change {
                Change::Drop => format!("a right side without `{name}`"),
                Change::Swap => format!("a right side with the operands of `{name}` exchanged"),
                Change::Op(other) => {
                    format!("a right side with `{}` instead of `{name}`", other.name)
                }
                Change::Attr(attr) => {
                    let attr = g.def(ops[at]).attrs[attr].name;
                    format!("a right side with another `{attr}` of `{name}`")
                }
            };
            let label = format!("{what} (its op {})", at + 1);
            found.push(Mutant { label, value });
        }
    }
    if !ops.iter().any(|op| mutable(g, *op)) {
        found.extend(others(g, start, left, right));
    }
    found
}

/// Returns whether swapping the first two operands may have no effect.
fn is_symmetric(g: &Graph, op: OpId) -> bool {
    let compares_equality = || {
        let direction = g.view::<Compare>(op).map(|compare| compare.direction(g));
        matches!(direction, Some(Direction::Eq | Direction::Ne))
    };
    g.def(op).has(Trait::Commutative) || compares_equality()
}

/// Returns up to two other ops with the same operands and attributes.
fn siblings(def: &'static OpDef) -> impl Iterator<Item = &'static OpDef> {
    let attrs = |def: &'static OpDef| def.attrs.iter().map(|attr| (attr.name, attr.kind));
    let fits = move |other: &&'static OpDef| {
        !std::ptr::eq(*other, def)
            && other.has(Trait::Pure)
            && other.has(Trait::Elementwise) == def.has(Trait::Elementwise)
            && !other.has(Trait::Constant)
            && other.variadic.is_none()
            && other.results == def.results
            && other.operands.len() == def.operands.len()
            && attrs(other).eq(attrs(def))
    };
    mind_core::DIALECT.ops.iter().copied().filter(fits).take(2)
}

/// Returns whether a change of `op` may change the meaning of the rule.
fn mutable(g: &Graph, op: OpId) -> bool {
    g.regions(op).is_empty() && !g.def(op).has(Trait::Constant)
}

/// Returns the other values of the left side that have its type, for a right side that is one of them.
fn others(g: &Graph, start: usize, left: ValueId, right: ValueId) -> Vec<Mutant> {
    let ops = g.ops(g.body()).filter(|op| op.index() < start);
    let values = ops.flat_map(|op| g.results(op));
    let fits =
        |value: &ValueId| *value != right && *value != left && g.type_id(*value) == g.type_id(left);
    let mutant = |(at, value): (usize, ValueId)| Mutant {
        label: match g.defining_op(value) {
            Some(op) if !g.def(op).has(Trait::Interface) => {
                format!(
                    "the result of `{}` as the right side (value {})",
                    g.def(op).name,
                    at + 1
                )
            }
            _ => format!(
                "another operand of the left side as the right side (value {})",
                at + 1
            ),
        },
        value,
    };
    let values: Vec<ValueId> = values.filter(fits).take(3).collect();
    values.into_iter().enumerate().map(mutant).collect()
}

/// Returns a copy of `right` with `change` at the op at index `at`; `None` if the shape rules reject it.
fn changed(
    g: &mut Graph,
    ops: &[OpId],
    at: usize,
    change: Change,
    right: ValueId,
) -> Option<ValueId> {
    let mut copies: Vec<(ValueId, ValueId)> = Vec::new();
    for (number, &op) in ops.iter().enumerate() {
        let copy = |value: &ValueId| {
            let known = copies.iter().find(|(own, _)| own == value);
            known.map_or(*value, |&(_, copy)| copy)
        };
        let mut operands: Vec<ValueId> = g.operands(op).iter().map(copy).collect();
        let result = g.result(op);
        if number == at && matches!(change, Change::Drop) {
            if keeps(g, op) {
                return None;
            }
            let first = *operands.first()?;
            (g.type_id(first) == g.type_id(result)).then(|| copies.push((result, first)))?;
            continue;
        }
        if !g.regions(op).is_empty() || g.def(op).has(Trait::Constant) {
            continue;
        }
        let mut def = g.def(op);
        let mut attrs: Vec<mind_rules::AttrValue> = g
            .attrs(op)
            .iter()
            .map(|&attr| mind_rules::AttrValue::of(attr))
            .collect::<Option<_>>()?;
        if number == at {
            match change {
                Change::Swap => {
                    (operands[0] != operands[1]).then(|| operands.swap(0, 1))?;
                }
                Change::Attr(attr) => attrs[attr] = other(&attrs[attr])?,
                Change::Op(other) => def = other,
                Change::Drop => {}
            }
        } else if operands == g.operands(op) {
            continue;
        }
        let borrowed: Vec<Attr<'_>> = attrs.iter().map(|attr| attr.as_attr()).collect();
        let end = InsertPoint::End(g.body());
        let created = Builder::new(g, end, Span::FILE).create(def, &operands, &borrowed);
        copies.push((result, g.result(created.ok()?)));
    }
    copies
        .iter()
        .find(|(own, _)| *own == right)
        .map(|&(_, copy)| copy)
}

/// Returns whether `op` is the identity whenever its operand and result have one type.
fn keeps(g: &Graph, op: OpId) -> bool {
    let folds = g.def(op).fold.is_some_and(|fold| fold(op, g).is_some());
    folds || crate::plan::is_any(g.def(op), &[Slice::DEF])
}

/// Returns another value of the same kind.
fn other(attr: &mind_rules::AttrValue) -> Option<mind_rules::AttrValue> {
    use mind_rules::AttrValue;
    Some(match attr {
        AttrValue::Int(0) => AttrValue::Int(1),
        AttrValue::Int(value) => AttrValue::Int(value.wrapping_sub(1)),
        AttrValue::Bool(value) => AttrValue::Bool(!value),
        AttrValue::Ints(list) if list.len() > 1 && list.first() != list.last() => {
            let mut list = list.clone();
            list.rotate_left(1);
            AttrValue::Ints(list)
        }
        AttrValue::Ints(_)
        | AttrValue::Dims(_)
        | AttrValue::Float(_)
        | AttrValue::Str(_)
        | AttrValue::DType(_)
        | AttrValue::Word(_)
        | AttrValue::Valid
        | AttrValue::Same
        | AttrValue::Pads(_) => return None,
    })
}
