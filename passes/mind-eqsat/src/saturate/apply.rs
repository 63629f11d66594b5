//! Applying rules: from a match to a union.

use egg::Id;
use mind_ir::Ty;
use mind_ir::types::TensorType;
use smallvec::SmallVec;

use crate::egraph::analysis::{Eg, add_op, op_node};
use crate::egraph::constants::ConstId;
use crate::egraph::language::{Head, Node};
use crate::egraph::payload::AttrIds;
use crate::egraph::provenance::Union;
use crate::saturate::class_nodes::ClassNodes;
use crate::search::{InEgraph, Match};
use mind_rules::OpIx;
use mind_rules::expr::{Number, Scope};
use mind_rules::matching::pattern::{Rule, Template};
use mind_rules::matching::plan::{Planned, plan};
use mind_rules::{LIKE_LIMIT, element};

/// What came of a match.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// Two classes became one.
    Applied,
    /// Both sides were one class already.
    Known,
    /// The right side has no type, or another one than the left.
    Refused,
}

/// A term of the right side that is ready to be added.
pub(crate) enum Ready {
    Class(Id),
    Const(ConstId),
    /// An op over earlier terms.
    Op(OpIx, AttrIds, SmallVec<[usize; 4]>),
}

/// What one op of a template is given in place of its operands. The template has no lists.
#[derive(Clone, Copy)]
pub(crate) struct Joined<'a> {
    /// The position of the op among the terms.
    pub(crate) term: usize,
    pub(crate) operands: &'a [Id],
}

/// A rule, and the e-graph as it was when its matches were found.
#[derive(Clone, Copy)]
pub(crate) struct Site<'a> {
    pub(crate) rule: &'a Rule,
    pub(crate) uses: &'a [u32],
    pub(crate) class_nodes: &'a ClassNodes,
}

/// Makes the root of `found` equal to what the template of the rule says.
///
/// Nothing is added unless the whole right side has a type and it is the root's.
pub(crate) fn apply(
    egraph: &mut Eg<'_>,
    site: Site<'_>,
    template: &Template,
    found: &Match,
) -> Outcome {
    apply_joined(egraph, site, template, found, None).0
}

/// As [`apply`], with what one op is given; also gives the e-node of every term, where they were added.
pub(crate) fn apply_joined(
    egraph: &mut Eg<'_>,
    site: Site<'_>,
    template: &Template,
    found: &Match,
    joined: Option<Joined<'_>>,
) -> (Outcome, Vec<Id>) {
    let Site {
        rule,
        uses,
        class_nodes,
    } = site;
    let root = egraph.find(found.registers[0]);
    let Some(ready) = ready(egraph, uses, template, found, joined) else {
        return (Outcome::Refused, Vec::new());
    };
    let stands_for_class = matches!(ready.last(), Some((_, Ready::Class(_))));
    let before = egraph.nodes().len();
    let provenance = &mut egraph.analysis.provenance;
    let origin = provenance.begin(rule.name, rule.reversed);
    let added = add(egraph, ready, joined);
    let last = added.as_ref().and_then(|ids| ids.last().copied());
    let united = last.is_some_and(|id| egraph.union(root, id));
    let outcome = match (last, united) {
        (Some(_), true) => Outcome::Applied,
        (Some(_), false) => Outcome::Known,
        (None, _) => Outcome::Refused,
    };
    let ids = added.unwrap_or_default();
    if !united && egraph.nodes().len() == before {
        egraph.analysis.provenance.forget();
        return (outcome, ids);
    }
    let mut matched = class_nodes.nodes(egraph, found);
    if let (Some(id), true, Some(&at)) = (last, united, matched.first()) {
        // A value stands for its whole class, whose oldest e-node the others come from.
        let side = if stands_for_class {
            class_nodes.oldest(id).unwrap_or(id)
        } else {
            id
        };
        let sides = [at, side];
        let provenance = &mut egraph.analysis.provenance;
        provenance.unions.push(Union { sides, origin });
    }
    matched.extend(class_nodes.constants(egraph, found));
    egraph.analysis.provenance.end(matched);
    (outcome, ids)
}

/// What the right side of `rule` would be refused for at this match.
pub(crate) fn refusal(
    egraph: &mut Eg<'_>,
    uses: &[u32],
    template: &Template,
    found: &Match,
) -> Option<Refusal> {
    let expected = egraph[egraph.find(found.registers[0])].data.ty;
    let Some(ready) = prepare(egraph, uses, template, found, None) else {
        return Some(Refusal::NoType);
    };
    let ty = ready.last().map(|&(ty, _)| ty)?;
    (ty != expected).then_some(Refusal::OtherType {
        found: ty,
        expected,
    })
}

/// What the right side of a rule is for a match.
pub(crate) enum RightSide {
    /// A value of the left side.
    Value(Id),
    /// An e-node, its children canonical.
    Node(Node),
}

/// The right side for this match, where all of it but its root is in the e-graph; nothing is added.
pub(crate) fn right_side(
    egraph: &mut Eg<'_>,
    uses: &[u32],
    template: &Template,
    found: &Match,
) -> Option<RightSide> {
    let mut ids: Vec<Id> = Vec::new();
    let terms = ready(egraph, uses, template, found, None)?;
    let last = terms.len().checked_sub(1)?;
    for (at, (ty, term)) in terms.into_iter().enumerate() {
        let node = match term {
            Ready::Class(id) if at == last => return Some(RightSide::Value(id)),
            Ready::Class(id) => {
                ids.push(id);
                continue;
            }
            Ready::Const(constant) => Node::nullary(Head::Const, constant),
            Ready::Op(op, attrs, operands) => {
                let children: SmallVec<[Id; 2]> = operands.iter().map(|&at| ids[at]).collect();
                op_node(egraph, op, attrs, &children, ty)
            }
        };
        if at == last {
            return Some(RightSide::Node(node));
        }
        ids.push(egraph.lookup(node)?);
    }
    None
}

/// Why a right side is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    /// An op on it does not take its operands, or a constant would be too large.
    NoType,
    /// It has another type than the left side.
    OtherType { found: Ty, expected: Ty },
}

/// The type of every term, and what to add for it; `None` if one has no type or the whole has not that
/// of the root of `found`.
pub(crate) fn ready(
    egraph: &mut Eg<'_>,
    uses: &[u32],
    template: &Template,
    found: &Match,
    joined: Option<Joined<'_>>,
) -> Option<Vec<(Ty, Ready)>> {
    let expected = egraph[egraph.find(found.registers[0])].data.ty;
    let ready = prepare(egraph, uses, template, found, joined)?;
    (ready.last()?.0 == expected).then_some(ready)
}

fn prepare(
    egraph: &mut Eg<'_>,
    uses: &[u32],
    template: &Template,
    found: &Match,
    joined: Option<Joined<'_>>,
) -> Option<Vec<(Ty, Ready)>> {
    let scope = Scope {
        subject: &InEgraph {
            egraph,
            uses,
            view: None,
        },
        registers: &found.registers,
        slots: &found.slots,
    };
    let mut planned = Vec::with_capacity(template.terms.len());
    plan(template, &scope, &mut planned)?;
    let mut ready: Vec<(Ty, Ready)> = Vec::with_capacity(planned.len());
    for term in planned {
        let next = match term {
            Planned::Value(value) => {
                let id = egraph.find(value);
                (egraph[id].data.ty, Ready::Class(id))
            }
            Planned::Like {
                value,
                scalar,
                number,
            } => {
                let ty = egraph[egraph.find(value)].data.ty;
                let store = &mut egraph.analysis.store;
                let ty = match scalar {
                    false => ty,
                    true => {
                        let scalar = TensorType::fixed(store.ty(ty).dtype, &[]);
                        store.scratch.intern(scalar.view())
                    }
                };
                (ty, Ready::Const(like(egraph, ty, number)?))
            }
            Planned::Op {
                op,
                attrs,
                operands,
            } => {
                let store = &mut egraph.analysis.store;
                let attrs: AttrIds = attrs
                    .into_iter()
                    .map(|value| store.intern_attr(value))
                    .collect();
                let def = store.ops.def(op);
                let joined = joined.filter(|joined| joined.term == ready.len());
                let types: SmallVec<[Ty; 4]> = match joined {
                    Some(joined) => {
                        let operands = joined.operands.iter();
                        operands.map(|&id| egraph[id].data.ty).collect()
                    }
                    None => operands.iter().map(|&at| ready[at].0).collect(),
                };
                def.admits_operands(types.len()).then_some(())?;
                let store = &mut egraph.analysis.store;
                let ty = store.signature(op, &attrs, &types).ty?;
                (ty, Ready::Op(op, attrs, operands))
            }
        };
        ready.push(next);
    }
    Some(ready)
}

/// The class of every term.
fn add(
    egraph: &mut Eg<'_>,
    ready: Vec<(Ty, Ready)>,
    joined: Option<Joined<'_>>,
) -> Option<Vec<Id>> {
    let mut ids: Vec<Id> = Vec::with_capacity(ready.len());
    for (at, (_, ready)) in ready.into_iter().enumerate() {
        let id = match ready {
            Ready::Class(id) => id,
            Ready::Const(constant) => egraph.add_uncanonical(Node::nullary(Head::Const, constant)),
            Ready::Op(op, attrs, operands) => {
                let children: SmallVec<[Id; 4]> = match joined.filter(|joined| joined.term == at) {
                    Some(joined) => joined.operands.into(),
                    None => operands.iter().map(|&at| ids[at]).collect(),
                };
                add_op(egraph, op, attrs, &children)?
            }
        };
        ids.push(id);
    }
    Some(ids)
}

/// The constant of type `ty` with `number` everywhere; `None` if the dtype has no such number, or the
/// constant would be empty or too large.
fn like(egraph: &mut Eg<'_>, ty: Ty, number: Number) -> Option<ConstId> {
    let store = &mut egraph.analysis.store;
    let view = store.ty(ty);
    let count = view.count().filter(|&count| count > 0)?;
    let bytes = (count as u64).checked_mul(view.dtype.size() as u64)?;
    let element = element(view.dtype, number)?;
    (bytes <= LIKE_LIMIT).then(|| store.constants.splat(ty, element))
}
