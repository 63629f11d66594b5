//! Expansion of the alternatives of a fusion.
//!
//! `any(a, b)` matches either term, and `let ?x = term` is substituted at the first occurrence of `?x`. Each
//! combination becomes a pattern, for example `any(a, b)` twice becomes four.

use std::cell::Cell;

use mind_diag::{Diagnostic, Diagnostics, Span};

use super::ast::{Name, Operand, RuleAst, Term};

/// The largest number of patterns of one fusion.
const MAX_PATTERNS: usize = 512;

/// The largest number of names that one fusion may define.
const MAX_LETS: usize = 16;

/// A term without alternatives, and the names of `let` that were substituted in it.
type Written<'s> = (Term<'s>, Vec<&'s str>);

/// Expands `term`, the body of the fusion `rule`, into patterns; those with an op that `wanted` rejects by name are
/// dropped. Returns `None` after reporting an error: more than [`MAX_PATTERNS`] patterns, more than [`MAX_LETS`] names,
/// or a name that is defined twice or not used.
pub(super) fn expand<'s>(
    rule: &RuleAst<'s>,
    term: &Term<'s>,
    wanted: &dyn Fn(&str) -> bool,
    found: &mut Diagnostics,
) -> Option<Vec<Term<'s>>> {
    for (at, (name, _)) in rule.lets.iter().enumerate() {
        let twice = rule.lets[..at].iter().any(|(own, _)| own.text == name.text);
        let message = match (twice, at < MAX_LETS) {
            (true, _) => format!("`?{}` is defined twice", name.text),
            (false, false) => format!("a fusion defines at most {MAX_LETS} names"),
            (false, true) => continue,
        };
        found.push(Diagnostic::error(name.span, message));
        return None;
    }
    let all_wanted = Cell::new(true);
    let expansion = Expansion {
        lets: &rule.lets,
        wanted: &|op| {
            let is_wanted = op == "op" || wanted(op);
            all_wanted.set(all_wanted.get() && is_wanted);
            is_wanted
        },
    };
    let written = expansion.alternatives(term, Vec::new());
    let Some(written) = written else {
        let message = format!(
            "fusion `{}` expands to more than {MAX_PATTERNS} patterns",
            rule.name.text
        );
        let help = "write several fusions of one kind, each with fewer alternatives";
        found.push(Diagnostic::error(rule.name.span, message).help(help));
        return None;
    };
    let used = |name: &Name<'s>| {
        written
            .iter()
            .any(|(_, opened)| opened.contains(&name.text))
    };
    let unused = rule.lets.iter().find(|(name, _)| !used(name));
    if let Some((name, _)) = unused.filter(|_| all_wanted.get()) {
        let message = format!("`?{}` is defined but not used", name.text);
        found.push(Diagnostic::error(name.span, message).help("use it, or drop the line"));
        return None;
    }
    Some(written.into_iter().map(|(term, _)| term).collect())
}

/// Checks that `rule` with this left side has no construct that is only allowed in fusions, and returns no patterns.
pub(super) fn no_alternatives<'s>(
    rule: &RuleAst<'s>,
    lhs: &Term<'s>,
    found: &mut Diagnostics,
) -> Option<Vec<Term<'s>>> {
    let defined = rule.lets.first().map(|(name, _)| ("let", name.span));
    match defined.or_else(|| inexact(lhs)) {
        None => Some(Vec::new()),
        Some((what, span)) => {
            found.push(only_in_fusions(what, span));
            None
        }
    }
}

/// Returns the first `any` or `near` of `term`.
fn inexact(term: &Term<'_>) -> Option<(&'static str, Span)> {
    match term {
        Term::Any { span, .. } => Some(("any", *span)),
        Term::Near { span, .. } => Some(("near", *span)),
        Term::Value { .. } | Term::Like { .. } => None,
        Term::Named { term, .. } => inexact(term),
        Term::Op { operands, .. } => operands.iter().find_map(|operand| match operand {
            Operand::One(term) | Operand::Each(term) => inexact(term),
            Operand::List(_) => None,
        }),
    }
}

/// Returns the error for a construct that is only allowed in fusions, where the matched ops themselves are run and no
/// replacement depends on which alternative matched.
pub(super) fn only_in_fusions(what: &str, span: Span) -> Diagnostic {
    let message = format!("`{what}` is only allowed in the patterns of fusions");
    Diagnostic::error(span, message).help("write one rule for each case")
}

/// The context of an expansion.
struct Expansion<'a, 's> {
    lets: &'a [(Name<'s>, Term<'s>)],
    /// Whether patterns may contain the op of this name.
    wanted: &'a dyn Fn(&str) -> bool,
}

impl<'s> Expansion<'_, 's> {
    /// Returns the expansions of `term` where the names in `opened` are already substituted; `None` if there are too
    /// many.
    fn alternatives(&self, term: &Term<'s>, opened: Vec<&'s str>) -> Option<Vec<Written<'s>>> {
        match term {
            Term::Value { name, .. } => {
                let definition = self.lets.iter().find(|(own, _)| own.text == name.text);
                match definition.filter(|_| !opened.contains(&name.text)) {
                    None => Some(vec![(term.clone(), opened)]),
                    Some((_, definition)) => {
                        let opened = [opened.as_slice(), &[name.text]].concat();
                        let inner = self.alternatives(definition, opened)?;
                        Some(named(*name, inner))
                    }
                }
            }
            Term::Named { name, term } => Some(named(*name, self.alternatives(term, opened)?)),
            Term::Like { .. } | Term::Near { .. } => Some(vec![(term.clone(), opened)]),
            Term::Any { terms, .. } => {
                let mut all = Vec::new();
                for term in terms {
                    all.extend(self.alternatives(term, opened.clone())?);
                }
                (all.len() <= MAX_PATTERNS).then_some(all)
            }
            Term::Op { name, .. } if !(self.wanted)(name.text) => Some(Vec::new()),
            Term::Op {
                name,
                operands,
                attrs,
            } => {
                let mut all: Vec<(Vec<Operand<'s>>, Vec<&'s str>)> = vec![(Vec::new(), opened)];
                for operand in operands {
                    let mut longer = Vec::new();
                    for (mut before, opened) in all {
                        let (term, wrap): (_, fn(Term<'s>) -> Operand<'s>) = match operand {
                            Operand::One(term) => (term, Operand::One),
                            Operand::Each(term) => (term, Operand::Each),
                            Operand::List(name) => {
                                longer
                                    .push(([before, vec![Operand::List(*name)]].concat(), opened));
                                continue;
                            }
                        };
                        let mut alternatives = self.alternatives(term, opened)?.into_iter();
                        while let Some((term, opened)) = alternatives.next() {
                            // The last alternative takes the operands and avoids a copy.
                            let is_last = alternatives.len() == 0;
                            let mut operands = if is_last {
                                std::mem::take(&mut before)
                            } else {
                                before.clone()
                            };
                            operands.push(wrap(term));
                            longer.push((operands, opened));
                        }
                        if longer.len() > MAX_PATTERNS {
                            return None;
                        }
                    }
                    all = longer;
                }
                let op = |operands| Term::Op {
                    name: *name,
                    operands,
                    attrs: attrs.clone(),
                };
                Some(
                    all.into_iter()
                        .map(|(operands, opened)| (op(operands), opened))
                        .collect(),
                )
            }
        }
    }
}

fn named<'s>(name: Name<'s>, terms: Vec<Written<'s>>) -> Vec<Written<'s>> {
    let wrap = |(term, opened)| {
        let term = Box::new(term);
        (Term::Named { name, term }, opened)
    };
    terms.into_iter().map(wrap).collect()
}
