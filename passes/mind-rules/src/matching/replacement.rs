//! Replacements that rules make in a module.

use mind_ir::opdef::OpDef;
use mind_ir::tensor::Tensor;
use mind_ir::{Graph, OpId, ValueId};
use smallvec::SmallVec;

use crate::attr_value::AttrValue;
use crate::constant::{LIKE_LIMIT, element};
use crate::expr::{Number, Scope};
use crate::matching::matcher::{Match, WorkspaceFor, search};
use crate::matching::module::{InModule, result_value};
use crate::matching::pattern::{Effect, Rule};
use crate::matching::plan::{Planned, plan};
use crate::op_table::OpTable;

/// A term of a replacement.
#[derive(Clone, Debug)]
pub enum NewTerm {
    /// An existing value.
    Value(ValueId),
    /// A constant.
    Constant(Tensor),
    /// A new op.
    Op {
        /// Its definition.
        def: &'static OpDef,
        /// One value for each attribute of its definition.
        attrs: SmallVec<[AttrValue; 1]>,
        /// Its operands, as positions of earlier terms.
        operands: SmallVec<[usize; 4]>,
    },
}

/// The reason why a rule does not apply to an op.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum NoMatch {
    /// The left side does not match.
    Pattern,
    /// The left side matches, but the condition does not hold or cannot be decided.
    Condition,
    /// The condition holds, but the right side has an attribute or a constant that cannot be computed, or it reads the
    /// result that it replaces.
    RightSide,
}

impl NoMatch {
    /// Returns the reason as a message.
    pub fn text(self) -> &'static str {
        match self {
            NoMatch::Pattern => "the left side does not match",
            NoMatch::Condition => "the condition does not hold",
            NoMatch::RightSide => "the right side cannot be made",
        }
    }
}

/// The requirements on a match.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Requirement {
    /// The left side matches.
    Pattern,
    /// The condition also holds.
    Condition,
}

/// Reusable memory for replacements.
#[derive(Default)]
pub struct ReplacementBuffers {
    matching: WorkspaceFor<InModule<'static>>,
    planned: Vec<Planned<ValueId>>,
    terms: Vec<NewTerm>,
}

/// Returns the replacement that `rule` makes of `op`: terms in topological order, the last of which replaces the
/// matched result. The types of new ops are not checked. If the condition is required and an existing value replaces
/// the result, the value has the type of the result.
///
/// # Errors
///
/// The stage at which the best match failed.
pub(crate) fn replacement<'b>(
    rule: &Rule,
    ops: &OpTable,
    g: &Graph,
    op: OpId,
    required: Requirement,
    buffers: &'b mut ReplacementBuffers,
) -> Result<&'b [NewTerm], NoMatch> {
    let Effect::Rewrite(template) = &rule.effect else {
        return Err(NoMatch::Pattern);
    };
    if !std::ptr::eq(g.def(op), ops.def(rule.pattern.root)) {
        return Err(NoMatch::Pattern);
    }
    let ReplacementBuffers {
        matching,
        planned,
        terms,
    } = buffers;
    let subject = InModule::new(g, ops);
    let root = result_value(g, ops, rule.pattern.root, op);
    let mut best = NoMatch::Pattern;
    let mut made = false;
    let mut accept = |found: Match<'_, InModule<'_>>| {
        let scope = Scope {
            subject: &subject,
            registers: found.registers,
            slots: found.slots,
        };
        let condition = rule
            .condition
            .as_ref()
            .filter(|_| required == Requirement::Condition);
        if condition.is_some_and(|own| own.holds(&scope) != Some(true)) {
            best = best.max(NoMatch::Condition);
            return true;
        }
        planned.clear();
        terms.clear();
        // Rejected instead of failing, because another match may yield a value of the right type.
        let fits = |last: &Planned<ValueId>| match last {
            Planned::Value(value) if required == Requirement::Condition => {
                g.type_id(*value) == g.type_id(root)
            }
            _ => true,
        };
        made = plan(template, &scope, planned).is_some()
            && planned.last().is_none_or(fits)
            && add_terms(ops, g, root, planned.drain(..), terms).is_some();
        best = NoMatch::RightSide;
        !made
    };
    search(&subject, &rule.pattern, root, matching, &mut accept);
    if made { Ok(terms) } else { Err(best) }
}

/// Appends the terms; `None` if one of them reads the replaced result `goes`.
fn add_terms(
    ops: &OpTable,
    g: &Graph,
    goes: ValueId,
    planned: impl Iterator<Item = Planned<ValueId>>,
    terms: &mut Vec<NewTerm>,
) -> Option<()> {
    for term in planned {
        terms.push(match term {
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
        });
    }
    Some(())
}

/// Returns `number` as a splat of the type of `value`; `None` if the shape is not static or the constant is too large.
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
