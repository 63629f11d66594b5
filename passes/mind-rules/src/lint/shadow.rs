//! Lint: rules that an earlier, more general rule shadows.

use mind_diag::Diagnostic;
use rustc_hash::FxHashMap;

use crate::language::ast::{Body, Expr, Operand, RuleAst, Term};
use crate::ruleset::rule_info::{Channels, Direction, Phase, RuleInfo};

/// Returns a warning for `rule` if one of the rules `before` matches wherever it does, without a condition, and has the
/// same replacement. In the greedy driver the replacement may differ, because the first rule that matches wins.
pub(crate) fn shadowed<'a>(
    (rule, info): (&RuleAst<'_>, &RuleInfo),
    before: impl Iterator<Item = (&'a RuleAst<'a>, &'a RuleInfo)>,
) -> Option<Diagnostic> {
    let mut before = before;
    let (_, by) = before.find(|other| covers(*other, (rule, info)))?;
    let (name, by_name, file, line) = (&info.name, &by.name, &by.file, by.line);
    let message = format!("rule `{name}` is shadowed by `{by_name}`");
    let note = format!("`{by_name}` at {file}:{line} is as general and does the same");
    let warning = Diagnostic::new(mind_diag::Severity::Warning, rule.name.span, message);
    Some(
        warning
            .note(note)
            .help("remove it, or restrict the earlier rule with `where`"),
    )
}

fn covers(
    (general, general_info): (&RuleAst<'_>, &RuleInfo),
    (special, special_info): (&RuleAst<'_>, &RuleInfo),
) -> bool {
    let (
        Body::Rewrite { lhs, rhs, .. },
        Body::Rewrite {
            lhs: own,
            rhs: own_rhs,
            ..
        },
    ) = (&general.body, &special.body)
    else {
        return false;
    };
    let plain = general.ops.is_empty() && special.ops.is_empty();
    let one_way = special_info.direction == Direction::Forward;
    let same_engine = (!special_info.engine.in_egraph() || general_info.engine.in_egraph())
        && (!special_info.engine.in_greedy() || general_info.engine.in_greedy());
    let weaker = special_info.class.allows(general_info.class)
        && general_info.phase <= special_info.phase
        && acts_where(special_info.phase, general_info.phase)
        && general_info.condition.is_none();
    if !(plain && one_way && same_engine && weaker) {
        return false;
    }
    let mut bound = Bound::default();
    bound.matches(lhs, own) && (!special_info.engine.in_egraph() || bound.gives(rhs, own_rhs))
}

/// Returns whether a rule of phase `general` is active for every target for which one of phase `special` is.
fn acts_where(special: Phase, general: Phase) -> bool {
    let acts = |phase: Phase, channels| phase.for_target(channels).is_some();
    let mut targets = [Channels::Last, Channels::First].into_iter();
    targets.all(|channels| acts(general, channels) || !acts(special, channels))
}

/// The substitution that maps the names of the general rule to terms of the special one.
#[derive(Default)]
struct Bound<'a> {
    values: FxHashMap<&'a str, &'a Term<'a>>,
    attrs: FxHashMap<&'a str, &'a Expr<'a>>,
}

impl<'a> Bound<'a> {
    /// Returns whether `general` matches everything that `special` matches, and extends the substitution.
    fn matches(&mut self, general: &'a Term<'a>, special: &'a Term<'a>) -> bool {
        match (general, special) {
            (Term::Value { name, ty: None }, special) => match self.values.get(name.text) {
                Some(known) => same(known, special),
                None => {
                    self.values.insert(name.text, special);
                    true
                }
            },
            (Term::Named { name, term }, special) => {
                self.values.insert(name.text, special).is_none() && self.matches(term, special)
            }
            (general, Term::Named { term, .. }) => self.matches(general, term),
            (
                Term::Op {
                    name,
                    operands,
                    attrs,
                },
                Term::Op {
                    name: own,
                    operands: own_operands,
                    attrs: own_attrs,
                },
            ) => {
                let written = |key: &str| own_attrs.iter().find(|(own, _)| own.text == key);
                name.text == own.text
                    && operands.len() == own_operands.len()
                    && own_attrs
                        .iter()
                        .all(|(own, _)| attrs.iter().any(|(key, _)| key.text == own.text))
                    && attrs
                        .iter()
                        .all(|(key, expr)| match (expr, written(key.text)) {
                            (Expr::Attr(name), Some((_, own))) => match self.attrs.get(name.text) {
                                Some(known) => same_expr(known, own),
                                None => self.attrs.insert(name.text, own).is_none(),
                            },
                            (expr, Some((_, own))) => same_expr(expr, own),
                            (_, None) => false,
                        })
                    && operands.iter().zip(own_operands).all(|pair| match pair {
                        (Operand::One(general), Operand::One(special)) => {
                            self.matches(general, special)
                        }
                        _ => false,
                    })
            }
            _ => false,
        }
    }

    /// Returns whether the right side `general`, after substitution, is `special`.
    fn gives(&self, general: &Term<'_>, special: &Term<'_>) -> bool {
        match (general, special) {
            (Term::Value { name, .. }, special) => self
                .values
                .get(name.text)
                .is_some_and(|known| same(known, special)),
            (
                Term::Op {
                    name,
                    operands,
                    attrs,
                },
                Term::Op {
                    name: own,
                    operands: own_operands,
                    attrs: own_attrs,
                },
            ) => {
                name.text == own.text
                    && operands.len() == own_operands.len()
                    && attrs.len() == own_attrs.len()
                    && attrs
                        .iter()
                        .zip(own_attrs)
                        .all(|((key, expr), (own_key, own))| {
                            key.text == own_key.text
                                && match expr {
                                    Expr::Attr(name) => {
                                        let known = self.attrs.get(name.text);
                                        known.is_some_and(|known| same_expr(known, own))
                                    }
                                    Expr::Number(_) | Expr::Word(_) => same_expr(expr, own),
                                    _ => false,
                                }
                        })
                    && operands.iter().zip(own_operands).all(|pair| match pair {
                        (Operand::One(general), Operand::One(special)) => {
                            self.gives(general, special)
                        }
                        _ => false,
                    })
            }
            (
                Term::Like { value, number, .. },
                Term::Like {
                    value: own,
                    number: own_number,
                    ..
                },
            ) => {
                let known = self.values.get(value.text);
                same_expr(number, own_number)
                    && known.is_some_and(|known| names(known) == Some(own.text))
            }
            _ => false,
        }
    }
}

/// Returns the name of a value or a named term.
fn names<'s>(term: &Term<'s>) -> Option<&'s str> {
    match term {
        Term::Value { name, .. } | Term::Named { name, .. } => Some(name.text),
        Term::Op { .. } | Term::Like { .. } | Term::Any { .. } | Term::Near { .. } => None,
    }
}

/// Returns whether two terms of one rule are equal.
fn same(a: &Term<'_>, b: &Term<'_>) -> bool {
    match (a, b) {
        (
            Term::Op {
                name,
                operands,
                attrs,
            },
            Term::Op {
                name: other,
                operands: others,
                attrs: other_attrs,
            },
        ) => {
            name.text == other.text
                && operands.len() == others.len()
                && attrs.len() == other_attrs.len()
                && attrs
                    .iter()
                    .zip(other_attrs)
                    .all(|((key, a), (other, b))| key.text == other.text && same_expr(a, b))
                && operands.iter().zip(others).all(|pair| match pair {
                    (Operand::One(a), Operand::One(b)) => same(a, b),
                    _ => false,
                })
        }
        (a, b) => names(a).is_some() && names(a) == names(b),
    }
}

fn same_expr(a: &Expr<'_>, b: &Expr<'_>) -> bool {
    match (a, b) {
        (Expr::Attr(a), Expr::Attr(b))
        | (Expr::Number(a), Expr::Number(b))
        | (Expr::Word(a), Expr::Word(b)) => a.text == b.text,
        (Expr::List(_, a), Expr::List(_, b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_expr(a, b))
        }
        _ => false,
    }
}
