//! Checking rule files and making rules of them.

use mind_diag::{Diagnostic, Diagnostics};
use mind_ir::opdef::Registry;
use rustc_hash::FxHashMap;

use super::ast::{Body, CondAst, Name, RuleAst, Term};
use super::expand::{expand, no_alternatives};
use super::names::{Names, Ops, unknown};
use super::parse::parse;
use super::{pattern, template};
use crate::egraph::optable::OpTable;
use crate::expr::{Comparison, Condition, Kind, PREDICATES};
use crate::fast_math::FastMath;
use crate::pattern::{Effect, Phase, Rule};
use crate::report::RuleIx;

/// The kinds of group that a fusion may name.
pub(crate) const KINDS: [&str; 11] = [
    "contraction",
    "softmax",
    "layernorm",
    "rmsnorm",
    "gelu_erf",
    "gelu_tanh",
    "silu",
    "swiglu",
    "attention",
    "elementwise",
    "reduction",
];

/// The rules of one source, added to `rules` and their names to `names`; what is wrong is reported.
pub(crate) fn load(
    registry: &Registry,
    table: &OpTable,
    text: &str,
    names: &mut Vec<String>,
    rules: &mut Vec<Rule>,
) -> Diagnostics {
    let mut found = Diagnostics::new();
    if u32::try_from(text.len()).is_err() {
        found.push(Diagnostic::error(
            mind_diag::Span::FILE,
            "a rule file is at most 4 GiB long",
        ));
        return found;
    }
    let mut known: FxHashMap<String, Option<mind_diag::Span>> =
        names.iter().map(|name| (name.clone(), None)).collect();
    for rule in parse(text, &mut found) {
        if let Some(before) = known.get(rule.name.text) {
            let message = format!("rule `{}` is declared twice", rule.name.text);
            let error = Diagnostic::error(rule.name.span, message);
            found.push(match before {
                Some(span) => error.related(*span, "the first one"),
                None => error.note("the first one stands in another file"),
            });
            continue;
        }
        known.insert(rule.name.text.to_owned(), Some(rule.name.span));
        let Ok(number) = u16::try_from(names.len()) else {
            found.push(Diagnostic::error(rule.name.span, "more than 65,536 rules"));
            return found;
        };
        names.push(rule.name.text.to_owned());
        let ops = Ops {
            registry,
            table,
            op: None,
        };
        compile(&rule, RuleIx(number), ops, rules, &mut found);
    }
    found.sort_by_place();
    found
}

fn compile(
    rule: &RuleAst<'_>,
    name: RuleIx,
    ops: Ops<'_>,
    rules: &mut Vec<Rule>,
    found: &mut Diagnostics,
) -> Option<()> {
    let class = class(rule, found)?;
    let egraph = engine(rule, found)?;
    let phase = phase(rule, class, found)?;
    let choices: Vec<Option<Name<'_>>> = match rule.ops.as_slice() {
        [] => vec![None],
        ops => ops.iter().copied().map(Some).collect(),
    };
    for op in choices {
        let ops = Ops { op, ..ops };
        let patterns = match &rule.body {
            Body::Fusion(term) => expand(rule, term, found)?,
            Body::Rewrite { lhs, .. } => no_alternatives(rule, lhs, found)?,
        };
        let both = matches!(rule.body, Body::Rewrite { both: true, .. });
        let directions: Vec<(&Term<'_>, Option<&Term<'_>>)> = match &rule.body {
            Body::Rewrite {
                lhs,
                rhs,
                both: false,
            } => vec![(lhs, Some(rhs))],
            Body::Rewrite {
                lhs,
                rhs,
                both: true,
            } => vec![(lhs, Some(rhs)), (rhs, Some(lhs))],
            Body::Fusion(_) => patterns.iter().map(|lhs| (lhs, None)).collect(),
        };
        for (direction, (lhs, rhs)) in directions.into_iter().enumerate() {
            let (mut pattern, mut names) = pattern::compile(lhs, ops, found)?;
            if phase == Phase::Merge {
                // Where the match's own part lies in what is joined.
                names.attrs.extend([("from", Kind::Int), ("to", Kind::Int)]);
                pattern.attrs += 2;
            }
            let condition = match &rule.condition {
                Some(condition) => Some(self::condition(condition, &names, found)?),
                None => None,
            };
            let effect = match rhs {
                Some(rhs) if phase == Phase::Merge => {
                    let template = template::compile(rhs, &names, ops, both, found)?;
                    let join = template.join(ops.table);
                    if join.is_none() {
                        let message = "nothing is joined";
                        let help =
                            "join a value of the left side, as in `core.concat(?x) {axis=0}`";
                        found.push(Diagnostic::error(rhs.span(), message).help(help));
                    }
                    Effect::Merge(template, join?)
                }
                Some(rhs) => Effect::Rewrite(template::compile(rhs, &names, ops, both, found)?),
                None => Effect::Group(kind(rule, found)?),
            };
            rules.push(Rule {
                name,
                phase,
                reversed: direction == 1,
                class,
                tolerance: tolerance(rule),
                egraph,
                pattern,
                condition,
                effect,
            });
        }
    }
    Some(())
}

fn class(rule: &RuleAst<'_>, found: &mut Diagnostics) -> Option<FastMath> {
    let known = || FastMath::NAMES.iter().map(|(name, _)| *name);
    let Some(words) = &rule.class else {
        let message = format!("rule `{}` has no class", rule.name.text);
        let help =
            "write `class exact` if it keeps every bit, else `nsz`, `nnan`, `reassoc` or `approx`";
        found.push(Diagnostic::error(rule.name.span, message).help(help));
        return None;
    };
    let mut class = FastMath::EXACT;
    for word in words {
        let tolerance = word.text.parse::<f64>().is_ok();
        match FastMath::parse(word.text) {
            Some(more) => class = class.union(more),
            None if tolerance && words[0].text == "approx" => {}
            None => {
                found.push(unknown("class", *word, known()));
                return None;
            }
        }
    }
    Some(class)
}

/// The number behind `approx`, or 0.
fn tolerance(rule: &RuleAst<'_>) -> f64 {
    let words = rule.class.iter().flatten();
    let numbers = words.filter_map(|word| word.text.parse::<f64>().ok());
    numbers.fold(0.0, f64::max)
}

fn engine(rule: &RuleAst<'_>, found: &mut Diagnostics) -> Option<bool> {
    match rule.engine.map(|engine| engine.text) {
        None | Some("both" | "egraph") => Some(true),
        Some("greedy") => {
            if let Body::Rewrite { both: true, .. } = rule.body {
                let message =
                    "`<=>` is for the e-graph: the greedy engine would go round in circles";
                found.push(Diagnostic::error(rule.name.span, message).help("write `=>`"));
                return None;
            }
            Some(false)
        }
        Some(_) => {
            let engine = rule.engine?;
            found.push(unknown("engine", engine, ["greedy", "egraph", "both"]));
            None
        }
    }
}

fn phase(rule: &RuleAst<'_>, class: FastMath, found: &mut Diagnostics) -> Option<Phase> {
    match (rule.phase.map(|phase| phase.text), &rule.body) {
        (_, Body::Fusion(_)) => Some(Phase::Fusion),
        (None, _) if class.allows(FastMath::REASSOC) => Some(Phase::Reassociate),
        (None | Some("simplify"), _) => Some(Phase::Simplify),
        (Some("layout"), _) => Some(Phase::Layout),
        (Some("merge"), _) => Some(Phase::Merge),
        (Some("reassociate"), _) => Some(Phase::Reassociate),
        (Some(_), _) => {
            let phase = rule.phase?;
            found.push(unknown(
                "phase",
                phase,
                ["simplify", "layout", "merge", "reassociate"],
            ));
            None
        }
    }
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

fn condition(
    condition: &CondAst<'_>,
    names: &Names<'_>,
    found: &mut Diagnostics,
) -> Option<Condition> {
    let all = |parts: &[CondAst<'_>], found: &mut Diagnostics| -> Option<Vec<Condition>> {
        parts
            .iter()
            .map(|part| self::condition(part, names, found))
            .collect()
    };
    Some(match condition {
        CondAst::All(parts) => Condition::All(all(parts, found)?),
        CondAst::Any(parts) => Condition::Any(all(parts, found)?),
        CondAst::Not(inner) => Condition::Not(Box::new(self::condition(inner, names, found)?)),
        CondAst::Compare { sign, lhs, rhs } => {
            let comparison = Comparison::parse(sign.text)?;
            let (left, left_kind) = names.expression(lhs, found)?;
            let (right, right_kind) = names.expression(rhs, found)?;
            let ordered = !matches!(comparison, Comparison::Equal | Comparison::NotEqual);
            let comparable = left_kind == right_kind
                && !matches!(left_kind, Kind::Value | Kind::DType)
                && (!ordered || left_kind == Kind::Int);
            if !comparable {
                let (left, right) = (left_kind.text(), right_kind.text());
                let message = format!("`{}` cannot compare {left} with {right}", sign.text);
                found.push(Diagnostic::error(sign.span, message));
                return None;
            }
            Condition::Compare(comparison, left, right)
        }
        CondAst::Predicate { name, arguments } => {
            let Some(predicate) = PREDICATES.iter().find(|own| own.name == name.text) else {
                found.push(unknown(
                    "predicate",
                    *name,
                    PREDICATES.iter().map(|own| own.name),
                ));
                return None;
            };
            let arguments = names.arguments(*name, arguments, predicate.params, found)?;
            Condition::Predicate(predicate, arguments)
        }
    })
}
