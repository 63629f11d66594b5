//! What a rule puts in place of an op of a module.

use mind_ir::opdef::OpDef;
use mind_ir::tensor::Tensor;
use mind_ir::{Graph, OpId, ValueId};
use smallvec::SmallVec;

use crate::attr_value::AttrValue;
use crate::constant::{LIKE_LIMIT, element};
use crate::expr::{Number, Scope};
use crate::matching::matcher::{Found, Workspace, search};
use crate::matching::module::InModule;
use crate::matching::pattern::{Effect, Rule};
use crate::matching::plan::{Planned, plan};
use crate::op_table::OpTable;

/// A term of what replaces an op.
#[derive(Clone, Debug)]
pub enum NewTerm {
    /// A value that is there.
    Value(ValueId),
    /// A constant.
    Constant(Tensor),
    /// An op.
    Op {
        /// Its row.
        def: &'static OpDef,
        /// One attribute per row of its table entry.
        attrs: Vec<AttrValue>,
        /// Its operands, as positions of earlier terms.
        operands: SmallVec<[usize; 4]>,
    },
}

/// Why a rule does not act at an op.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum NoMatch {
    /// The ops are others than those of the left side.
    Pattern,
    /// The left side matches, but the condition does not hold, or it cannot be told.
    Condition,
    /// The condition holds, but the right side has an attribute or a constant that does not exist, or
    /// reads the result that it replaces.
    RightSide,
}

impl NoMatch {
    /// The reason in words.
    pub fn text(self) -> &'static str {
        match self {
            NoMatch::Pattern => "the left side does not match",
            NoMatch::Condition => "the condition does not hold",
            NoMatch::RightSide => "the right side cannot be made",
        }
    }
}

/// What is asked of a match.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Asked {
    /// That the ops are those of the left side.
    Pattern,
    /// That the condition holds too.
    Condition,
}

/// What `rule` puts in place of `op`: terms, each after those it reads, the last one for the result. The types of new
/// ops are not checked; a value in place of the result has its type if the condition is asked for.
///
/// # Errors
///
/// How far the best match came.
pub(crate) fn replacement(
    rule: &Rule,
    ops: &OpTable,
    g: &Graph,
    op: OpId,
    asked: Asked,
) -> Result<Vec<NewTerm>, NoMatch> {
    let Effect::Rewrite(template) = &rule.effect else {
        return Err(NoMatch::Pattern);
    };
    let subject = InModule::new(g, ops);
    let mut best = NoMatch::Pattern;
    let mut made = None;
    let mut accept = |found: Found<'_, InModule<'_>>| {
        let scope = Scope {
            subject: &subject,
            registers: found.registers,
            slots: found.slots,
        };
        let condition = rule
            .condition
            .as_ref()
            .filter(|_| asked == Asked::Condition);
        if condition.is_none_or(|own| own.holds(&scope) == Some(true)) {
            let planned = plan(template, &scope).filter(|planned| match planned.last() {
                // Another match may give a value of the right type.
                Some(&Planned::Value(value)) if asked == Asked::Condition => {
                    g.type_id(value) == g.type_id(g.result(op))
                }
                _ => true,
            });
            made = planned.and_then(|planned| terms(ops, g, op, planned));
            best = best.max(NoMatch::RightSide);
        } else {
            best = best.max(NoMatch::Condition);
        }
        made.is_none()
    };
    let mut workspace = Workspace::default();
    search(
        &subject,
        &rule.pattern,
        g.result(op),
        &mut workspace,
        &mut accept,
    );
    made.ok_or(best)
}

/// The terms, none of which may read the result that goes.
fn terms(
    ops: &OpTable,
    g: &Graph,
    op: OpId,
    planned: Vec<Planned<ValueId>>,
) -> Option<Vec<NewTerm>> {
    let goes = g.result(op);
    let term = |planned| {
        Some(match planned {
            Planned::Value(value) if value == goes => return None,
            Planned::Value(value) => NewTerm::Value(value),
            Planned::Like {
                value,
                scalar: false,
                number,
            } => NewTerm::Constant(like(g, value, number)?),
            Planned::Like { value, number, .. } => {
                NewTerm::Constant(element(g.ty(value).dtype, number)?)
            }
            Planned::Op {
                op,
                attrs,
                operands,
            } => {
                let def = ops.def(op);
                def.admits_operands(operands.len()).then_some(())?;
                NewTerm::Op {
                    def,
                    attrs,
                    operands,
                }
            }
        })
    };
    planned.into_iter().map(term).collect()
}

/// `number` at every position of a value like `value`.
fn like(g: &Graph, value: ValueId, number: Number) -> Option<Tensor> {
    let ty = g.ty(value);
    let count = usize::try_from(ty.count()?).ok()?;
    let shape = ty.static_shape()?.into_iter();
    let shape: Option<Vec<usize>> = shape.map(|extent| usize::try_from(extent).ok()).collect();
    let bytes = (count as u64).checked_mul(ty.dtype.size() as u64)?;
    let element = element(ty.dtype, number)?;
    (bytes <= LIKE_LIMIT).then_some(())?;
    Some(Tensor::new(shape?, element.buffer().splat(count)))
}
