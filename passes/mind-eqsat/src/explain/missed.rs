//! Reasons why rules were not applied to the ops of a region.

use egg::Language;
use mind_diag::Span;
use mind_ir::graph::Graph;
use mind_ir::listener::Listener;
use mind_ir::opdef::Trait;
use rustc_hash::FxHashSet;

use crate::context::Context;
use crate::egraph::language::{Head, Node};
use crate::extract::{ClassIx, Dense, NodeContent, NodeIx, dense_view};
use crate::load::{Loaded, LoadedOp};
use crate::report::{Change, KeptReason};
use crate::saturate::apply::{Refusal, RightSide, refusal, right_side};
use crate::search::explain::attempt;
use crate::search::{InEgraph, Match};
use crate::solve::{Extraction, Goal, Saturated};
use mind_rules::matching::pattern::{Effect, Rule};
use mind_rules::{Phase, RuleIx};

/// The outcome of the search over a region.
pub(crate) struct Outcome<'a> {
    /// The goal of the run.
    pub(crate) goal: Goal,
    /// The result of the search.
    pub(crate) solution: &'a Saturated,
    /// The changes that were made.
    pub(crate) changes: &'a [Change],
}

impl Outcome<'_> {
    /// Explains why a match of `rule` whose two sides are not equal was not applied: the search over the region had
    /// ended.
    fn ended(&self, rule: &Rule) -> String {
        let limit = self
            .solution
            .reasons
            .iter()
            .find_map(|reason| match reason {
                KeptReason::Nodes(nodes) => Some(format!("at the limit of e-nodes, with {nodes}")),
                KeptReason::Matches(own) if *own == rule.name => {
                    Some("at the limit of its matches".to_owned())
                }
                KeptReason::Rounds(rounds) => Some(format!("at the limit of {rounds} rounds")),
                KeptReason::Matches(_)
                | KeptReason::NotCheaper { .. }
                | KeptReason::MoreBytes { .. }
                | KeptReason::Contradiction { .. } => None,
            });
        match limit {
            Some(limit) => {
                format!("it matches, but the search was cut {limit}, before it acted here")
            }
            None if rule.phase == Phase::Idiom && self.goal == Goal::Fold => {
                "it matches, but it acts in `fuse` alone".to_owned()
            }
            None => "it matches ops of a later phase, in which it is not active".to_owned(),
        }
    }

    /// Explains why no rule was applied, if the region was kept because of a contradiction.
    fn given_up(&self) -> Option<String> {
        self.solution
            .reasons
            .iter()
            .find_map(|reason| match reason {
                KeptReason::Contradiction { values, .. } => Some(format!(
                    "the region was given up, because rules made {values} one value"
                )),
                KeptReason::Nodes(_)
                | KeptReason::Matches(_)
                | KeptReason::Rounds(_)
                | KeptReason::NotCheaper { .. }
                | KeptReason::MoreBytes { .. } => None,
            })
    }
}

/// Reports, for each rule that `listener` asks about, why it was not applied to the ops of the region that match the
/// root of its pattern.
pub(crate) fn report_missed(
    g: &Graph,
    cx: &Context<'_>,
    loaded: &mut Loaded<'_>,
    outcome: &Outcome<'_>,
    listener: &mut dyn Listener,
) {
    let (best, changes) = (outcome.solution.best.as_ref(), outcome.changes);
    let given_up = outcome.given_up();
    let unchanged = (best.is_none() && given_up.is_none()).then(|| dense_view(loaded));
    let dense = best.map(|best| &best.dense).or(unchanged.as_ref());
    let observed: Vec<&Rule> = cx
        .rules
        .compiled()
        .iter()
        .filter(|rule| listener.observes_missed(cx.rules.name(rule.name)))
        .collect();
    if observed.is_empty() {
        return;
    }
    let steps = changes.iter().flat_map(|change| &change.rules);
    let acted: FxHashSet<(RuleIx, u32)> = steps
        .filter_map(|step| Some((step.cause.rule()?, step.span.start)))
        .collect();
    let uses = loaded.uses();
    for at in 0..loaded.ops.len() {
        let own = loaded.ops[at];
        let Some(node) = canonical(loaded, own) else {
            continue;
        };
        let span: Span = g.span(own.op);
        let mut reported: Vec<RuleIx> = Vec::new();
        let chosen = best.map(|best| Chosen {
            best,
            at,
            rules: rules_at(cx, changes, span),
        });
        for rule in &observed {
            let starts = node.head == Head::Op(rule.pattern.root);
            if !starts || reported.contains(&rule.name) || acted.contains(&(rule.name, span.start))
            {
                continue;
            }
            reported.push(rule.name);
            if let Some(reason) = &given_up {
                listener.missed(span, cx.rules.name(rule.name), reason);
                continue;
            }
            let forms = observed
                .iter()
                .filter(|form| form.name == rule.name && node.head == Head::Op(form.pattern.root));
            let chosen = chosen.as_ref();
            let inputs = ExplanationInputs {
                cx,
                outcome,
                dense,
                chosen,
            };
            let reasons = forms.map(|form| reason(&inputs, loaded, &uses, form, (own, &node)));
            listener.missed(span, cx.rules.name(rule.name), &joined(reasons.collect()));
        }
    }
}

/// The reason why one form of a rule was not applied.
struct Reason {
    /// Whether the pattern matched, so that the reason lies elsewhere.
    matched: bool,
    text: String,
}

/// Joins the reasons of a rule's forms without duplicates. If some forms matched, only their reasons count.
fn joined(reasons: Vec<Reason>) -> String {
    let any_matched = reasons.iter().any(|reason| reason.matched);
    let mut seen = FxHashSet::default();
    let listed = reasons
        .into_iter()
        .filter(|reason| reason.matched == any_matched);
    let texts = listed.map(|reason| reason.text);
    let mut texts: Vec<String> = texts.filter(|text| seen.insert(text.clone())).collect();
    if texts.len() > FORMS_LISTED {
        let others = texts.len() - 1;
        texts.truncate(1);
        texts.push(format!("nor do its {others} other forms match"));
        return texts.join("; ");
    }
    texts.join("; as another form of it, ")
}

/// The most forms of a rule whose reasons are listed one by one.
const FORMS_LISTED: usize = 3;

/// Returns the current e-node of an op, with canonical children.
fn canonical(loaded: &Loaded<'_>, own: LoadedOp) -> Option<Node> {
    let node = loaded.egraph.id_to_node(own.node?).clone();
    Some(node.map_children(|child| loaded.egraph.find(child)))
}

/// The inputs of an explanation.
struct ExplanationInputs<'a> {
    cx: &'a Context<'a>,
    outcome: &'a Outcome<'a>,
    /// The classes of the region; `None` if it was kept because of a contradiction.
    dense: Option<&'a Dense>,
    /// The form that was chosen for the op, if the region has a cheaper one.
    chosen: Option<&'a Chosen<'a>>,
}

fn reason(
    inputs: &ExplanationInputs<'_>,
    loaded: &mut Loaded<'_>,
    uses: &[u32],
    rule: &Rule,
    (own, node): (LoadedOp, &Node),
) -> Reason {
    let root = own.class;
    let subject = InEgraph {
        egraph: &loaded.egraph,
        uses,
        view: None,
    };
    let found = match attempt(subject, rule, root, node) {
        Ok(found) => found,
        Err(text) => {
            return Reason {
                matched: false,
                text,
            };
        }
    };
    Reason {
        matched: true,
        text: unused(inputs, loaded, uses, rule, &found),
    }
}

/// Explains why a match did not lead to a change.
fn unused(
    inputs: &ExplanationInputs<'_>,
    loaded: &mut Loaded<'_>,
    uses: &[u32],
    rule: &Rule,
    found: &Match,
) -> String {
    let cx = inputs.cx;
    if !cx.classes.allows(rule.class) {
        let class = rule.class.names().join(",");
        return format!("its class is `{class}`, which `--fast-math={class}` allows");
    }
    if !rule.engine.in_egraph() {
        return "it is for the greedy engine alone".to_owned();
    }
    if rule.phase.for_target(cx.cost.channels).is_none() {
        return "it is for targets whose convolutions have another layout, which `layout=` names"
            .to_owned();
    }
    let template = match &rule.effect {
        Effect::Rewrite(template) => template,
        Effect::Merge(..) => {
            return "it matches, but there is nothing to merge with, or merging is not cheaper"
                .to_owned();
        }
        Effect::Group(_) => {
            return "it matches, but running these ops as one is not cheaper".to_owned();
        }
    };
    match refusal(&mut loaded.egraph, uses, template, found) {
        Some(Refusal::NoType) => {
            "its result has no type: an op in it does not take these operands".to_owned()
        }
        Some(Refusal::OtherType { found, expected }) => {
            let store = &loaded.egraph.analysis.store;
            let (found, expected) = (store.type_text(found), store.type_text(expected));
            format!("its result has type {found}, not {expected}")
        }
        None => {
            let right = right_side(&mut loaded.egraph, uses, template, found);
            let Some(right) = right.filter(|right| is_applied(loaded, found, right)) else {
                return inputs.outcome.ended(rule);
            };
            let is_late =
                (inputs.dense).is_some_and(|dense| is_too_late(loaded, dense, found, &right));
            let other = inputs
                .chosen
                .and_then(|chosen| chosen.against(loaded, right));
            let usual = match is_late {
                true => "it matches, but its result reads a value that the program computes later",
                false => "it matches, but its result is not cheaper",
            };
            other.unwrap_or_else(|| usual.to_owned())
        }
    }
}

/// Returns whether the right side of a match is in the class that matched: the rule was applied.
fn is_applied(loaded: &Loaded<'_>, found: &Match, right: &RightSide) -> bool {
    let egraph = &loaded.egraph;
    let root = egraph.find(found.registers[0]);
    let right = match right {
        RightSide::Value(id) => Some(*id),
        RightSide::Node(node) => egraph.lookup(node.clone()),
    };
    right.is_some_and(|right| egraph.find(right) == root)
}

/// The form that was chosen for an op.
struct Chosen<'a> {
    best: &'a Extraction,
    /// The op, an index into [`Loaded::ops`].
    at: usize,
    /// The rules that led to it, as text; may be empty.
    rules: String,
}

impl Chosen<'_> {
    /// Describes the replacement of the op that was chosen over `right`; `None` if the op was kept.
    fn against(&self, loaded: &Loaded<'_>, right: RightSide) -> Option<String> {
        let Extraction { dense, choice, .. } = self.best;
        let class = dense.class_of(loaded.ops[self.at].class);
        let first = dense.class(class).program == Some(self.at as u32);
        let node = choice.node(class);
        if !choice.needs(class) {
            return Some("it matches, but nothing reads this value any more".to_owned());
        }
        if node == dense.program[self.at] && first {
            return None;
        }
        let same = match right {
            RightSide::Value(_) => true,
            RightSide::Node(right) => node.is_some_and(|node| is_node(loaded, dense, node, &right)),
        };
        Some(match (same, self.rules.is_empty()) {
            (true, true) => "it matches, but an equal op already gives this result".to_owned(),
            (true, false) => format!("it matches, but {} gave the same result", self.rules),
            (false, true) => return None,
            (false, false) => format!("it matches, but the result of {} is cheaper", self.rules),
        })
    }
}

/// Returns whether the right side of a match reads a value that the program computes after the op. Such an e-node is
/// never chosen, because choices must be acyclic.
fn is_too_late(loaded: &Loaded<'_>, dense: &Dense, found: &Match, right: &RightSide) -> bool {
    let RightSide::Node(right) = right else {
        return false;
    };
    let class = dense.class_of(loaded.egraph.find(found.registers[0]));
    let mut children = right.children.iter().map(|&child| dense.class_of(child));
    children.any(|child| {
        let own = dense.class(child);
        child != class && own.program.is_some() && own.rank >= dense.class(class).rank
    })
}

/// Returns whether an e-node of the dense view is `node`.
fn is_node(loaded: &Loaded<'_>, dense: &Dense, number: NodeIx, node: &Node) -> bool {
    let own = dense.node(number);
    let (head, payload) = (node.head, node.payload);
    let mut children: Vec<ClassIx> = node.children.iter().map(|&id| dense.class_of(id)).collect();
    let mut others = own.children.to_vec();
    let ops = loaded.egraph.analysis.store.ops;
    if matches!(head, Head::Op(op) if ops.def(op).has(Trait::Commutative)) {
        children.sort_unstable();
        others.sort_unstable();
    }
    own.content == NodeContent::Node { head, payload } && children == others
}

/// Returns the names of the rules that led to the replacement of the op at `span`.
fn rules_at(cx: &Context<'_>, changes: &[Change], span: Span) -> String {
    let here = changes.iter().filter(|change| change.span == span);
    let steps = here.flat_map(|change| &change.rules);
    let mut names: Vec<String> = Vec::new();
    for rule in steps.filter_map(|step| step.cause.rule()) {
        let name = format!("`{}`", cx.rules.name(rule));
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(" and ")
}
