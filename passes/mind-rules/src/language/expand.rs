//! Alternatives of a fusion, written out.
//!
//! `any(a, b)` stands for either term, `let ?x = term` for the term wherever `?x` first stands. Each
//! combination becomes a pattern of its own.

use std::cell::Cell;

use mind_diag::{Diagnostic, Diagnostics, Span};

use super::ast::{Name, Operand, RuleAst, Term};

/// The most patterns that one fusion may stand for.
const MAX_PATTERNS: usize = 512;

/// The most names that one fusion may define.
const MAX_LETS: usize = 16;

/// A term without alternatives, and the names of `let` that it has opened.
type Written<'s> = (Term<'s>, Vec<&'s str>);

/// The patterns that `term`, the body of the fusion `rule`, stands for, without those that hold an op that `wanted` does
/// not accept by name. Returns `None` if they are more than [`MAX_PATTERNS`], or if it defines more than [`MAX_LETS`]
/// names, or one twice or in vain, after reporting it.
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
            "fusion `{}` stands for more than {MAX_PATTERNS} patterns",
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
        let message = format!("`?{}` is defined and stands nowhere below", name.text);
        found.push(Diagnostic::error(name.span, message).help("use it, or drop the line"));
        return None;
    }
    Some(written.into_iter().map(|(term, _)| term).collect())
}

/// No patterns of their own for `rule` with this left side, which has nothing that only fusions have.
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

/// The first `any` or `near` of `term`.
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

/// The error about what only fusions may hold: matched ops are their meaning, whatever matched.
pub(super) fn only_in_fusions(what: &str, span: Span) -> Diagnostic {
    let message = format!("`{what}` stands in the patterns of fusions only");
    Diagnostic::error(span, message).help("write one rule for each case")
}

/// What alternatives are written out with.
struct Expansion<'a, 's> {
    lets: &'a [(Name<'s>, Term<'s>)],
    /// Whether patterns may hold the op of this name.
    wanted: &'a dyn Fn(&str) -> bool,
}

impl<'s> Expansion<'_, 's> {
    /// The terms that `term` stands for where the names in `opened` are open; `None` if there are too many.
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
                            // The last alternative needs no copy.
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
