//! What a rule puts in place of an op of a module.

use mind_ir::opdef::OpDef;
use mind_ir::tensor::Tensor;
use mind_ir::{Graph, OpId, ValueId};
use smallvec::SmallVec;

use crate::attr_value::AttrValue;
use crate::constant::{LIKE_LIMIT, element};
use crate::expr::{Number, Scope};
use crate::matching::matcher::{Found, WorkspaceFor, search};
use crate::matching::module::{InModule, result_value};
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
        attrs: SmallVec<[AttrValue; 1]>,
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

/// The memory of replacements, for one after another.
#[derive(Default)]
pub struct ReplacementBuffers {
    matching: WorkspaceFor<InModule<'static>>,
    planned: Vec<Planned<ValueId>>,
    terms: Vec<NewTerm>,
}

/// What `rule` puts in place of `op`: terms, each after those it reads, the last one for the result that it matches. The types of new
/// ops are not checked; a value in place of the result has its type if the condition is asked for.
///
/// # Errors
///
/// How far the best match came.
pub(crate) fn replacement<'b>(
    rule: &Rule,
    ops: &OpTable,
    g: &Graph,
    op: OpId,
    asked: Asked,
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
        if condition.is_some_and(|own| own.holds(&scope) != Some(true)) {
            best = best.max(NoMatch::Condition);
            return true;
        }
        planned.clear();
        terms.clear();
        // Another match may give a value of the right type.
        let fits = |last: &Planned<ValueId>| match last {
            Planned::Value(value) if asked == Asked::Condition => {
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

/// Adds the terms, none of which may read the result that goes.
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
