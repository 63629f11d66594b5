//! Applies rules: turns a match into a union.

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

/// The outcome of applying a rule at a match.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// Two classes were united.
    Applied,
    /// Both sides were in the same class already.
    Known,
    /// The right side has no type, or another one than the left side.
    Refused,
}

/// A term of the right side, ready to be added.
pub(crate) enum Ready {
    Class(Id),
    Const(ConstId),
    /// An op over earlier terms.
    Op(OpIx, AttrIds, SmallVec<[usize; 4]>),
}

/// The replacement for the operands of one op of a template. Such a template has no operand lists.
#[derive(Clone, Copy)]
pub(crate) struct Joined<'a> {
    /// The index of the op among the terms.
    pub(crate) term: usize,
    pub(crate) operands: &'a [Id],
}

/// A rule, and the state of the e-graph when its matches were found.
#[derive(Clone, Copy)]
pub(crate) struct Site<'a> {
    pub(crate) rule: &'a Rule,
    pub(crate) uses: &'a [u32],
    pub(crate) class_nodes: &'a ClassNodes,
}

/// Unites the root of `found` with the instantiated template of the rule.
///
/// Nothing is added unless every term of the right side has a type, and the whole has the type of the root.
pub(crate) fn apply(
    egraph: &mut Eg<'_>,
    site: Site<'_>,
    template: &Template,
    found: &Match,
) -> Outcome {
    apply_joined(egraph, site, template, found, None).0
}

/// Like [`apply`], with replaced operands of one op. Also returns the e-nodes of all terms, if they were added.
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
        // A right side that is a value denotes its whole class. The union is recorded with the oldest e-node, from
        // which the others derive.
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

/// Returns the reason why the right side would be refused at this match; `None` if it would not.
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

/// The right side of a rule for a match.
pub(crate) enum RightSide {
    /// A value of the left side.
    Value(Id),
    /// An e-node, its children canonical.
    Node(Node),
}

/// Returns the right side for this match without adding anything; `None` if a term other than the root is not in the
/// e-graph.
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

/// The reason why a right side is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    /// An op of it does not accept its operands, or a constant would be too large.
    NoType,
    /// Its type differs from that of the left side.
    OtherType { found: Ty, expected: Ty },
}

/// Returns the type of every term and how to add it; `None` if a term has no type, or the whole has another one than
/// the root of `found`.
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

/// Adds the terms; returns their ids.
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

/// Returns the splat of type `ty` with `number`; `None` if the dtype does not have the number, or the constant would be
/// empty or too large.
fn like(egraph: &mut Eg<'_>, ty: Ty, number: Number) -> Option<ConstId> {
    let store = &mut egraph.analysis.store;
    let view = store.ty(ty);
    let count = view.count().filter(|&count| count > 0)?;
    let bytes = (count as u64).checked_mul(view.dtype.size() as u64)?;
    let element = element(view.dtype, number)?;
    (bytes <= LIKE_LIMIT).then(|| store.constants.splat(ty, element))
}
