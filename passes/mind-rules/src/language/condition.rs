//! Compilation of conditions.

use std::sync::Arc;

use mind_diag::{Diagnostic, Diagnostics};

use super::ast::{CondAst, Expr, Name};
use super::names::{Names, unknown};
use crate::expr::{Comparison, Condition, ExprKind, PREDICATES, Vocabulary};

/// Resolves the names of a condition. Returns `None` if it has an unbound name, an unknown predicate or function, or
/// arguments of the wrong number or kind, after reporting it.
pub(super) fn compile(
    condition: &CondAst<'_>,
    names: &mut Names<'_>,
    cx: &Vocabulary,
    found: &mut Diagnostics,
) -> Option<Condition> {
    let mut all = |parts: &[CondAst<'_>]| -> Option<Vec<Condition>> {
        let compiled: Vec<Option<Condition>> = parts
            .iter()
            .map(|part| compile(part, names, cx, found))
            .collect();
        compiled.into_iter().collect()
    };
    match condition {
        CondAst::All(parts) => Some(Condition::All(all(parts)?)),
        CondAst::Any(parts) => Some(Condition::Any(all(parts)?)),
        CondAst::Not(inner) => {
            let inner = compile(inner, names, cx, found)?;
            Some(Condition::Not(Box::new(inner)))
        }
        CondAst::Compare { sign, lhs, rhs } => {
            let compared = compare(*sign, lhs, rhs, names, cx, found);
            each(compared, names)
        }
        CondAst::Predicate { name, arguments } => {
            let called = predicate(*name, arguments, names, cx, found);
            each(called, names)
        }
    }
}

/// Wraps a condition that reads values of lists in [`Condition::Each`], because it must hold for each of them.
fn each(condition: Option<Condition>, names: &mut Names<'_>) -> Option<Condition> {
    let lists = std::mem::take(&mut names.each);
    let condition = condition?;
    Some(if lists.is_empty() {
        condition
    } else {
        Condition::Each(lists.into(), Box::new(condition))
    })
}

fn compare(
    sign: Name<'_>,
    lhs: &Expr<'_>,
    rhs: &Expr<'_>,
    names: &mut Names<'_>,
    cx: &Vocabulary,
    found: &mut Diagnostics,
) -> Option<Condition> {
    let comparison = Comparison::parse(sign.text)?;
    let (left, right) = (
        names.expression(lhs, cx, found),
        names.expression(rhs, cx, found),
    );
    let ((left, left_kind), (right, right_kind)) = (left?, right?);
    let ordered = !matches!(comparison, Comparison::Equal | Comparison::NotEqual);
    let numbers = [left_kind, right_kind]
        .iter()
        .all(|kind| matches!(kind, ExprKind::Int | ExprKind::Float));
    let alike = left_kind == right_kind && left_kind != ExprKind::Value;
    let comparable = numbers || (alike && !ordered);
    if !comparable {
        let (left, right) = (left_kind.text(), right_kind.text());
        let message = format!("`{}` cannot compare {left} with {right}", sign.text);
        let help = "numbers are compared with numbers, and other values of one kind only with `==` and `!=`; \
                    test values with `rank(?x)`, `dim(?x, 0)` or `is_splat(?x, 1)`";
        found.push(Diagnostic::error(sign.span, message).help(help));
        return None;
    }
    Some(Condition::Compare(comparison, left, right))
}

fn predicate(
    name: Name<'_>,
    arguments: &[Expr<'_>],
    names: &mut Names<'_>,
    cx: &Vocabulary,
    found: &mut Diagnostics,
) -> Option<Condition> {
    if let Some(own) = cx.predicates.iter().rfind(|own| own.name == name.text) {
        let arguments = names.arguments(name, arguments, &own.params, cx, found)?;
        return Some(Condition::Own(Arc::clone(own), arguments));
    }
    let Some(predicate) = PREDICATES.iter().find(|own| own.name == name.text) else {
        let own = cx.predicates.iter().map(|own| own.name.as_str());
        let known = PREDICATES.iter().map(|own| own.name);
        found.push(unknown("predicate", name, known.chain(own)));
        for argument in arguments {
            names.expression(argument, cx, found);
        }
        return None;
    };
    let arguments = names.arguments(name, arguments, predicate.params, cx, found)?;
    Some(Condition::Predicate(predicate, arguments))
}
