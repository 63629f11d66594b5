//! Applies one form of a rule to one value of a module, for tools that examine single rules.

use egg::Id;
use mind_diag::Span;
use mind_ir::attr::Attr;
use mind_ir::builder::Builder;
use mind_ir::builtin::Yield;
use mind_ir::graph::{Graph, InsertPoint, NewOp};
use mind_ir::opdef::Op;
use mind_ir::{OpId, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::context::Context;
use crate::cost::CostTable;
use crate::egraph::store::Store;
use crate::fusion::build::{Body, build};
use crate::load::{Loaded, load};
use crate::region::Program;
use crate::saturate::apply::{Joined, Ready, ready};
use crate::saturate::merge::{joined_extent, placed};
use crate::search::{InEgraph, Match, search_if};
use mind_rules::expr::Scope;
use mind_rules::matching::matcher::Workspace;
use mind_rules::matching::pattern::{Effect, Join, Template};
use mind_rules::{AttrValue, InstanceMatch, NewTerm, RuleInstance};

/// The most matches at one value that are applied.
const MATCHES: usize = 4;

/// The result of applying a rule at a value.
#[derive(Clone, Debug)]
pub struct Application {
    /// Whether each part of the condition holds; `None` if that is unknown.
    pub conditions: Vec<Option<bool>>,
    /// Whether each alternative of an `or` of the condition holds.
    pub alternatives: Vec<bool>,
    /// The right side; `None` if it has no type, or not that of the left side, so that the rule is not applied.
    pub right: Option<ValueId>,
}

impl Application {
    /// Returns whether the condition holds.
    pub fn holds(&self) -> bool {
        self.conditions.iter().all(|part| *part == Some(true))
    }
}

/// The forms of a rule set's rules, each of which can be applied alone.
///
/// A form is one direction of a rule for one of the ops that it covers.
pub struct RuleInstances<'a> {
    cx: Context<'a>,
    costs: CostTable<'a>,
}

impl<'a> RuleInstances<'a> {
    /// Collects the forms of the rules of `cx`.
    pub fn new(cx: Context<'a>) -> RuleInstances<'a> {
        RuleInstances {
            cx,
            costs: CostTable::new(cx.rules.ops(), cx.cost),
        }
    }

    /// Returns every form, in the order of the rule files.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = RuleInstance<'a>> {
        self.cx.rules.instances()
    }

    /// Matches `form` at `root`, a value of the module's body, and appends the right sides to the body. Returns one
    /// application per match.
    ///
    /// The condition is evaluated and reported but not enforced, so that a caller can also test cases which the
    /// condition excludes. A merge rule joins the values of several matches; here it joins the value of the one match
    /// with `twin`, in both orders, as if another match had bound `twin`. Without `twin` it has no applications.
    pub fn apply(
        &self,
        form: RuleInstance<'a>,
        g: &mut Graph,
        root: ValueId,
        twin: Option<ValueId>,
    ) -> Vec<Application> {
        if form.matches_projection() {
            let found = form.at(g, root);
            return found
                .map(|found| replaced(&self.cx, g, root, found))
                .into_iter()
                .collect();
        }
        apply(&self.cx, &self.costs, form, g, root, twin)
    }
}

/// Appends the right side of a match on the module itself.
fn replaced(cx: &Context<'_>, g: &mut Graph, root: ValueId, found: InstanceMatch) -> Application {
    let mut values: Vec<ValueId> = Vec::new();
    let mut make = |term: &NewTerm| {
        let end = InsertPoint::End(g.body());
        let mut builder = Builder::new(g, end, Span::FILE);
        let value = match term {
            NewTerm::Value(value) => *value,
            NewTerm::Constant(tensor) => (cx.constant)(&mut builder, tensor),
            NewTerm::Op {
                def,
                attrs,
                operands,
            } => {
                let operands = operands.iter().map(|&at| values[at]);
                let operands: SmallVec<[ValueId; 4]> = operands.collect();
                let attrs: SmallVec<[Attr<'_>; 4]> = attrs.iter().map(AttrValue::as_attr).collect();
                let created = builder.create(def, &operands, &attrs).ok()?;
                g.result(created)
            }
        };
        values.push(value);
        Some(value)
    };
    let terms = found.terms.unwrap_or_default();
    let made: Option<Vec<ValueId>> = terms.iter().map(&mut make).collect();
    let right = made.and_then(|values| values.last().copied());
    Application {
        conditions: found.conditions,
        alternatives: found.alternatives,
        right: right.filter(|&right| g.type_id(right) == g.type_id(root)),
    }
}

fn apply(
    cx: &Context<'_>,
    costs: &CostTable<'_>,
    form: RuleInstance<'_>,
    g: &mut Graph,
    root: ValueId,
    twin: Option<ValueId>,
) -> Vec<Application> {
    let rule = form.compiled();
    let program = Program::of(g);
    let store = Store::new(cx.rules.ops(), costs, g);
    let range = 0..program.ops.len();
    let mut loaded = load(g, &program, cx.rules.ops(), range, store, true);
    let Some(&class) = loaded.classes.get(&root) else {
        return Vec::new();
    };
    let class = loaded.egraph.find(class);
    let uses = loaded.uses();
    let subject = InEgraph {
        egraph: &loaded.egraph,
        uses: &uses,
        view: None,
    };
    let found = search_if(
        subject,
        rule,
        class,
        MATCHES,
        &mut Workspace::default(),
        |_| true,
    );
    let values = values(g, &program, &loaded);
    let mut applied = Vec::new();
    for found in found {
        let subject = InEgraph {
            egraph: &loaded.egraph,
            uses: &uses,
            view: None,
        };
        let scope = Scope {
            subject: &subject,
            registers: &found.registers,
            slots: &found.slots,
        };
        let conditions: Vec<Option<bool>> =
            form.parts().iter().map(|part| part.holds(&scope)).collect();
        let alternatives = form.holding_alternatives(&scope);
        let mut instantiator = Instantiator {
            cx,
            g: &mut *g,
            loaded: &mut loaded,
            values: &values,
            uses: &uses,
        };
        let rights = match &rule.effect {
            Effect::Rewrite(template) => vec![instantiator.rewritten(template, &found, None)],
            Effect::Merge(template, join) => instantiator.merged(template, *join, &found, twin),
            Effect::Group(kind) => vec![grouped(cx, g, &loaded, kind, &found, root)],
        };
        applied.extend(rights.into_iter().map(|right| Application {
            conditions: conditions.clone(),
            alternatives: alternatives.clone(),
            right,
        }));
    }
    applied
}

/// Returns for each class the first value of the program that is in it.
fn values(g: &Graph, program: &Program, loaded: &Loaded<'_>) -> FxHashMap<Id, ValueId> {
    let mut values = FxHashMap::default();
    for value in program.ops.iter().flat_map(|&op| g.results(op)) {
        if let Some(&class) = loaded.classes.get(&value) {
            values.entry(loaded.egraph.find(class)).or_insert(value);
        }
    }
    values
}

/// Appends right sides to the body.
struct Instantiator<'i, 'r> {
    cx: &'i Context<'i>,
    g: &'i mut Graph,
    loaded: &'i mut Loaded<'r>,
    values: &'i FxHashMap<Id, ValueId>,
    uses: &'i [u32],
}

impl Instantiator<'_, '_> {
    /// Appends the right side for a match; `joined` replaces the operands of one op.
    fn rewritten(
        &mut self,
        template: &Template,
        found: &Match,
        joined: Option<Joined<'_>>,
    ) -> Option<ValueId> {
        let ready = ready(&mut self.loaded.egraph, self.uses, template, found, joined)?;
        let store = &self.loaded.egraph.analysis.store;
        let value = |id: Id| self.values.get(&self.loaded.egraph.find(id)).copied();
        let mut terms: Vec<ValueId> = Vec::with_capacity(ready.len());
        for (at, (_, ready)) in ready.into_iter().enumerate() {
            let end = InsertPoint::End(self.g.body());
            let mut builder = Builder::new(self.g, end, Span::FILE);
            let term = match ready {
                Ready::Class(id) => value(id)?,
                Ready::Const(constant) => {
                    let constant = store.constants.get(constant);
                    self.cx.make_constant(&mut builder, store, constant)
                }
                Ready::Op(op, attrs, operands) => {
                    let operands: SmallVec<[ValueId; 4]> =
                        match joined.filter(|joined| joined.term == at) {
                            Some(joined) => {
                                let ids = joined.operands.iter();
                                ids.map(|&id| value(id)).collect::<Option<_>>()?
                            }
                            None => operands.iter().map(|&operand| terms[operand]).collect(),
                        };
                    let attrs = store.borrow_attrs(&attrs);
                    let def = store.ops.def(op);
                    let created = builder.create(def, &operands, &attrs).ok()?;
                    self.g.result(created)
                }
            };
            terms.push(term);
        }
        terms.pop()
    }

    /// Appends the right sides for a match whose value is joined with `twin`, which comes second or first.
    fn merged(
        &mut self,
        template: &Template,
        join: Join,
        found: &Match,
        twin: Option<ValueId>,
    ) -> Vec<Option<ValueId>> {
        let class = |value| self.loaded.classes.get(&value).copied();
        let Some(twin) = twin.and_then(class) else {
            return Vec::new();
        };
        let own = found.registers[usize::from(join.reg)];
        let (Some(mine), Some(other)) = (
            joined_extent(self.loaded, template, join, own),
            joined_extent(self.loaded, template, join, twin),
        ) else {
            return Vec::new();
        };
        let orders = [
            ([own, twin], [0, mine]),
            ([twin, own], [other, other + mine]),
        ];
        let right = |(operands, bounds): ([Id; 2], [i64; 2])| {
            let found = placed(&mut self.loaded.egraph, found, bounds);
            let joined = Joined {
                term: join.term,
                operands: &operands,
            };
            self.rewritten(template, &found, Some(joined))
        };
        orders.map(right).into()
    }
}

/// Appends a copy of the matched ops, in a fused op.
fn grouped(
    cx: &Context<'_>,
    g: &mut Graph,
    loaded: &Loaded<'_>,
    kind: &str,
    found: &Match,
    root: ValueId,
) -> Option<ValueId> {
    let matched = |class: Id| {
        let same = |id: Id| loaded.egraph.find(id) == class;
        found.nodes.iter().any(|(id, _)| same(*id))
    };
    let members: Vec<OpId> = loaded
        .ops
        .iter()
        .filter(|own| own.node.is_some() && matched(loaded.egraph.find(own.class)))
        .map(|own| own.op)
        .collect();
    let mut copies: FxHashMap<ValueId, ValueId> = FxHashMap::default();
    let mut ops: Vec<OpId> = Vec::new();
    let store = &loaded.egraph.analysis.store;
    for &op in &members {
        let (def, result) = (g.def(op), g.result(op));
        let own = loaded.ops.iter().find(|own| own.op == op)?;
        let node = &loaded.egraph.nodes()[usize::from(own.node?)];
        let operands: SmallVec<[ValueId; 4]> = g
            .operands(op)
            .iter()
            .map(|value| *copies.get(value).unwrap_or(value))
            .collect();
        let attrs = store.borrow_attrs(&store.payload(node.payload).attrs);
        let at = InsertPoint::End(g.body());
        let copy = Builder::new(g, at, Span::FILE)
            .create(def, &operands, &attrs)
            .ok()?;
        copies.insert(result, g.result(copy));
        ops.push(copy);
    }
    let reader = NewOp {
        def: Yield::DEF,
        operands: &[*copies.get(&root)?],
        attrs: &[],
        results: 0,
        span: Span::FILE,
    };
    let reader = g.insert(InsertPoint::End(g.body()), reader);
    let before = *ops.last()?;
    build(g, cx, kind, &Body { ops: &ops, before });
    let right = g.operands(reader)[0];
    g.erase(reader);
    Some(right)
}
