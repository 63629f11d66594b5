//! Checking and compiling of rule files.

use mind_diag::{Diagnostic, Diagnostics, SourceFile, Span};
use mind_ir::opdef::Registry;
use rustc_hash::FxHashMap;

use super::ast::{Body, RuleAst, Term};
use super::expand::{expand, no_alternatives};
use super::header::RuleLocation;
use super::names::unknown;
use super::op_list::listed;
use super::ops::Ops;
use super::parse::parse;
use super::{condition, header, pattern, template};
use crate::expr::{ExprKind, Vocabulary};
use crate::lint::{Verdict, rings, shadowed, sides};
use crate::matching::operand_filter::OperandFilter;
use crate::matching::pattern::{Effect, Rule, Template};
use crate::op_table::{OpIx, OpTable};
use crate::ruleset::rule_info::RuleIx;
use crate::ruleset::rule_info::{Direction, Engine, Phase, RuleInfo};

/// The kinds of group that a fusion may name.
pub(crate) const KINDS: [&str; 14] = [
    "contraction",
    "softmax",
    "layernorm",
    "rmsnorm",
    "gelu_erf",
    "gelu_tanh",
    "silu",
    "swiglu",
    "hard_sigmoid",
    "hard_swish",
    "rotary",
    "attention",
    "elementwise",
    "reduction",
];

/// The context in which a rule file is loaded.
#[derive(Clone, Copy)]
pub(crate) struct LoadCx<'a> {
    pub(crate) registry: &'a Registry,
    pub(crate) table: &'a OpTable,
    pub(crate) vocabulary: &'a Vocabulary,
    /// Whether to run the lints, which evaluate rules on generated modules and compare them with earlier rules. Off for
    /// the shipped rules because tests lint them.
    pub(crate) lint: bool,
}

/// Loads the rules of one file: appends the compiled forms to `rules`, a description of each rule to `infos`, at its
/// [`RuleIx`], and its syntax tree to `written`. Returns the diagnostics.
pub(crate) fn load<'s>(
    cx: LoadCx<'_>,
    file: &'s SourceFile,
    written: &mut Vec<RuleAst<'s>>,
    infos: &mut Vec<RuleInfo>,
    rules: &mut Vec<Rule>,
) -> Diagnostics {
    let mut found = Diagnostics::new();
    if u32::try_from(file.text().len()).is_err() {
        let message = "a rule file is at most 4 GiB long";
        found.push(Diagnostic::error(Span::FILE, message));
        return found;
    }
    let before = written.len();
    let mut known: FxHashMap<String, Option<Span>> =
        infos.iter().map(|info| (info.name.clone(), None)).collect();
    for rule in parse(file.text(), &mut found) {
        if let Some(before) = known.get(rule.name.text) {
            let message = format!("rule `{}` is declared twice", rule.name.text);
            let error = Diagnostic::error(rule.name.span, message);
            found.push(match before {
                Some(span) => error.related(*span, "the first one"),
                None => error.note("the first one is in another file"),
            });
            continue;
        }
        known.insert(rule.name.text.to_owned(), Some(rule.name.span));
        let Ok(number) = u16::try_from(infos.len()) else {
            found.push(Diagnostic::error(rule.name.span, "more than 65,536 rules"));
            return found;
        };
        let place = RuleLocation {
            file: file.name(),
            line: file.position(rule.name.span).0,
        };
        let before = found.error_count();
        let info = header::info(&rule, place, file.text(), &mut found);
        compile(
            &rule,
            RuleIx(number),
            &info,
            cx,
            &|_| true,
            rules,
            &mut found,
        );
        if cx.lint && found.error_count() == before {
            let before = written.iter().zip(infos.iter());
            if let Some(warning) = shadowed((&rule, &info), before) {
                found.push(warning);
            }
        }
        infos.push(info);
        written.push(rule);
    }
    if cx.lint && !found.has_errors() {
        let ops = Ops {
            registry: cx.registry,
            table: cx.table,
            vocabulary: cx.vocabulary,
            op: None,
        };
        for error in rings(rules, written, before, ops) {
            found.push(error);
        }
    }
    found.sort_by_place();
    found
}

/// Compiles one form for each direction and for each op whose name `wanted` accepts.
pub(crate) fn compile(
    rule: &RuleAst<'_>,
    name: RuleIx,
    info: &RuleInfo,
    cx: LoadCx<'_>,
    wanted: &dyn Fn(&str) -> bool,
    rules: &mut Vec<Rule>,
    found: &mut Diagnostics,
) {
    let ops = Ops {
        registry: cx.registry,
        table: cx.table,
        vocabulary: cx.vocabulary,
        op: None,
    };
    let choices: Vec<Option<OpIx>> = match rule.ops.as_slice() {
        [] => vec![None],
        entries => {
            let Some(listed) = listed(entries, ops, found) else {
                return;
            };
            let wanted = |op: &OpIx| wanted(cx.table.def(*op).name);
            listed.into_iter().filter(wanted).map(Some).collect()
        }
    };
    let patterns = match &rule.body {
        Body::Fusion(term) => expand(rule, term, wanted, found),
        Body::Rewrite { lhs, .. } => no_alternatives(rule, lhs, found),
    };
    let Some(patterns) = patterns else { return };
    let directions: Vec<(&Term<'_>, Option<&Term<'_>>)> = match &rule.body {
        Body::Rewrite { lhs, rhs, both } if *both => vec![(lhs, Some(rhs)), (rhs, Some(lhs))],
        Body::Rewrite { lhs, rhs, .. } => vec![(lhs, Some(rhs))],
        Body::Fusion(_) => patterns.iter().map(|lhs| (lhs, None)).collect(),
    };
    for op in choices {
        let ops = Ops { op, ..ops };
        for (direction, &(lhs, rhs)) in directions.iter().enumerate() {
            let before = found.error_count();
            let (mut pattern, mut names) = pattern::compile(lhs, ops, found);
            if let (Phase::Merge, Some(pattern)) = (info.phase, &mut pattern) {
                // The range of the match's own part in the joined value.
                names
                    .attrs
                    .extend([("from", ExprKind::Int), ("to", ExprKind::Int)]);
                pattern.attrs += 2;
            }
            if let (None, Some(pattern)) = (rhs, &mut pattern) {
                pattern.opens_constants = false;
            }
            let several = pattern
                .as_ref()
                .is_some_and(|own| own.matches_projection(cx.table));
            if several && info.engine != Engine::Greedy {
                let message = "the e-graph does not hold ops of several results";
                found.push(Diagnostic::error(rule.sides, message).help("write `engine greedy`"));
            }
            let condition = rule
                .condition
                .as_ref()
                .map(|condition| condition::compile(condition, &mut names, cx.vocabulary, found));
            let both = info.direction == Direction::Both;
            let effect = match rhs {
                Some(rhs) => {
                    let template = template::compile(rhs, &mut names, ops, both, found);
                    template.and_then(|template| match info.phase {
                        Phase::Merge => merge(template, rhs, ops, found),
                        _ => Some(Effect::Rewrite(template)),
                    })
                }
                None => kind(rule, found).map(Effect::Group),
            };
            if let (Some(pattern), Some(effect), Some(condition)) = (
                pattern,
                effect,
                condition.map_or(Some(None), |own| own.map(Some)),
            ) {
                rules.push(Rule {
                    name,
                    op,
                    phase: info.phase,
                    reversed: rhs.is_some() && direction == 1,
                    class: info.class,
                    tolerance: info.tolerance.unwrap_or(0.0),
                    engine: info.engine,
                    operand_filter: OperandFilter::new(&pattern, condition.as_ref(), cx.table),
                    pattern,
                    condition,
                    effect,
                    names: names.owned(),
                });
            }
            if found.error_count() > before {
                // The other ops and directions would report the same errors.
                return;
            }
            if let (true, Some(form)) = (cx.lint, rules.last()) {
                doubt(sides(form, lhs, ops), rule, found);
            }
        }
    }
}

/// Returns the effect of a merge rule, which joins a value over several matches.
fn merge(
    template: Template,
    rhs: &Term<'_>,
    ops: Ops<'_>,
    found: &mut Diagnostics,
) -> Option<Effect> {
    let join = template.join(ops.table).filter(|_| template.is_fixed());
    if join.is_none() {
        let message = "nothing is joined";
        let help = "join a value of the left side, as in `core.concat(?x) {axis=0}`";
        found.push(Diagnostic::error(rhs.span(), message).help(help));
    }
    Some(Effect::Merge(template, join?))
}

/// Reports the verdict of the lint of a form.
fn doubt(verdict: Verdict, rule: &RuleAst<'_>, found: &mut Diagnostics) {
    let error = match verdict {
        Verdict::Fine => return,
        Verdict::Types(left, right) => {
            let message = format!(
                "the sides of rule `{}` are never of one type",
                rule.name.text
            );
            let note = format!("the left one is {left} where the right one is {right}");
            Diagnostic::error(rule.sides, message).note(note)
        }
        Verdict::Loops => {
            let message = format!("rule `{}` rewrites its own results forever", rule.name.text);
            let help = "write `engine egraph`, where cost decides between both sides";
            Diagnostic::error(rule.sides, message).help(help)
        }
    };
    found.push(error);
}

fn kind(rule: &RuleAst<'_>, found: &mut Diagnostics) -> Option<&'static str> {
    let Some(kind) = rule.kind else {
        let message = format!("fusion `{}` has no kind", rule.name.text);
        let help = format!("write `kind` and one of {}", KINDS.join(", "));
        found.push(Diagnostic::error(rule.name.span, message).help(help));
        return None;
    };
    let known = KINDS.iter().find(|own| **own == kind.text).copied();
    if known.is_none() {
        found.push(unknown("kind", kind, KINDS));
    }
    known
}
