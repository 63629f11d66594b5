//! Queries on emitted MIL ops.

use mind_ir::{OpId, ValueId};
use mind_mil::call::{arguments, integers};

use crate::emit::Emit;

/// Returns the op called `name` that made `value`.
pub(crate) fn source(e: &Emit<'_, '_>, value: ValueId, name: &str) -> Option<OpId> {
    let op = e.g().defining_op(value)?;
    (e.g().def(op).short_name() == name).then_some(op)
}

/// Returns the op called `name` that made `value`, if `value` has a single use.
pub(crate) fn made_by(e: &Emit<'_, '_>, value: ValueId, name: &str) -> Option<OpId> {
    source(e, value, name).filter(|_| e.g().uses(value).count() == 1)
}

/// Returns the value of the argument `name`; `None` if it is a tuple.
pub(crate) fn argument(e: &Emit<'_, '_>, op: OpId, name: &str) -> Option<ValueId> {
    let (_, values) = arguments(e.g(), op).find(|(own, _)| *own == name)?;
    values.first().copied()
}

/// Returns the integers of the constant argument `name`.
pub(crate) fn ints(e: &Emit<'_, '_>, op: OpId, name: &str) -> Option<Vec<i64>> {
    Some(integers(&e.elements(argument(e, op, name)?)?))
}
