//! The clauses of a rule that describe it: class, engine, phase.

use mind_diag::{Diagnostic, Diagnostics, Span};

use super::ast::{Body, RuleAst};
use super::names::unknown;
use crate::ruleset::fast_math::FastMath;
use crate::ruleset::rule_info::{Direction, Engine, Phase, RuleInfo};

/// The location of a rule.
#[derive(Clone, Copy)]
pub(crate) struct RuleLocation<'s> {
    pub(crate) file: &'s str,
    /// The line of its name, 1-based.
    pub(crate) line: usize,
}

/// Returns the description of a rule; `text` is the file of its spans. Errors are reported, and a default is used for
/// the clause, for example the class `exact`.
pub(crate) fn info(
    rule: &RuleAst<'_>,
    place: RuleLocation<'_>,
    text: &str,
    found: &mut Diagnostics,
) -> RuleInfo {
    let direction = match rule.body {
        Body::Rewrite { both: false, .. } => Direction::Forward,
        Body::Rewrite { both: true, .. } => Direction::Both,
        Body::Fusion(_) => Direction::Group,
    };
    let (class, tolerance) = class(rule, found);
    let text = |span: Span| text[span.start as usize..span.end as usize].to_owned();
    RuleInfo {
        name: rule.name.text.to_owned(),
        file: place.file.to_owned(),
        line: place.line,
        class,
        tolerance,
        source: rule
            .source
            .map(|source| source.text.trim_matches('"').to_owned()),
        direction,
        phase: phase(rule, class, found),
        engine: engine(rule, direction, found),
        sides: text(rule.sides),
        condition: rule.condition.as_ref().map(|_| text(rule.condition_span)),
        text: text(rule.span),
    }
}

fn class(rule: &RuleAst<'_>, found: &mut Diagnostics) -> (FastMath, Option<f64>) {
    let Some(words) = &rule.class else {
        let message = format!("rule `{}` has no class", rule.name.text);
        let help =
            "write `class exact` if it keeps every bit, else `nsz`, `nnan`, `reassoc` or `approx`";
        found.push(Diagnostic::error(rule.name.span, message).help(help));
        return (FastMath::EXACT, None);
    };
    let (mut class, mut tolerance) = (FastMath::EXACT, None);
    for word in words {
        match (FastMath::parse(word.text), word.text.parse::<f64>()) {
            (Some(more), _) => class = class.union(more),
            (None, Ok(bound)) if words[0].text == "approx" => {
                if !(bound.is_finite() && bound > 0.0) {
                    let message = "a relative error is above 0 and finite";
                    found.push(Diagnostic::error(word.span, message).help("as in `approx(1e-4)`"));
                }
                tolerance = Some(bound);
            }
            (None, _) => {
                let known = FastMath::NAMES.iter().map(|(name, _)| *name);
                found.push(unknown("class", *word, known));
            }
        }
    }
    (class, tolerance)
}

fn engine(rule: &RuleAst<'_>, direction: Direction, found: &mut Diagnostics) -> Engine {
    let Some(word) = rule.engine else {
        return Engine::Egraph;
    };
    let known = Engine::NAMES.iter().find(|(name, _)| *name == word.text);
    let Some(&(_, engine)) = known else {
        let known = Engine::NAMES.iter().map(|(name, _)| *name);
        found.push(unknown("engine", word, known));
        return Engine::Egraph;
    };
    let refused = match direction {
        Direction::Forward => return engine,
        Direction::Both if engine.in_greedy() => {
            Some("`<=>` is for the e-graph: the greedy engine would not terminate")
        }
        Direction::Group if engine.in_greedy() => Some("a fusion is for the e-graph"),
        Direction::Both | Direction::Group => None,
    };
    if let Some(message) = refused {
        let help = match direction {
            Direction::Both => "write `=>`, or `engine egraph`",
            Direction::Forward | Direction::Group => "leave `engine` out",
        };
        found.push(Diagnostic::error(word.span, message).help(help));
    }
    Engine::Egraph
}

fn phase(rule: &RuleAst<'_>, class: FastMath, found: &mut Diagnostics) -> Phase {
    match (rule.phase, &rule.body) {
        (_, Body::Fusion(_)) => Phase::Fusion,
        (None, _) if class.allows(FastMath::REASSOC) => Phase::Reassociate,
        (None, _) => Phase::Simplify,
        (Some(word), _) => {
            let known = Phase::NAMES.iter().find(|(name, _)| *name == word.text);
            if known.is_none() {
                let known = Phase::NAMES.iter().map(|(name, _)| *name);
                found.push(unknown("phase", word, known));
            }
            known.map_or(Phase::Simplify, |(_, phase)| *phase)
        }
    }
}
