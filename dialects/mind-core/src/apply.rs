//! Builds the op that applies a scalar function.

use mind_ir::ValueId;
use mind_ir::builder::{Builder, Built};
use mind_ir::builtin;
use mind_ir::opdef::Op;
use mind_ir::scalar::ScalarFn;

use crate::ops::OPS;
use crate::ops::compare::{Compare, Direction};

/// Appends the op that applies `function` to `operands`.
///
/// # Errors
///
/// Those of the op's shape rule. The graph is then unchanged, except that some ids are never used.
///
/// # Panics
///
/// If no op applies the function; a test checks that every function has one.
pub fn apply(b: &mut Builder<'_>, function: ScalarFn, operands: &[ValueId]) -> Built {
    if let Some(direction) = Direction::of(function) {
        return b.one(Compare::DEF, operands, &Compare::attrs(direction));
    }
    let mut ops = OPS.iter().chain(builtin::OPS);
    let def = ops.find(|def| def.scalar == Some(function));
    b.one(def.expect("each scalar function has an op"), operands, &[])
}
