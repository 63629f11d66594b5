//! Lint: rules that rewrite each other's results forever.

use mind_diag::Diagnostic;
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::sides::{GreedyInstance, loops, readers};
use crate::language::ast::{Body, RuleAst};
use crate::language::ops::Ops;
use crate::matching::pattern::Rule;

/// Returns an error for each set of two or more rules that the greedy driver would apply to each other's results
/// forever. It is reported at the first of them that is not among the first `known` of `written`.
///
/// Candidates are the strongly connected components of the graph in which a rule points to the rules that match its
/// results.
pub(crate) fn rings(
    rules: &[Rule],
    written: &[RuleAst<'_>],
    known: usize,
    ops: Ops<'_>,
) -> Vec<Diagnostic> {
    let forms = forms(rules, written, ops);
    if forms.iter().all(|own| usize::from(own.rule.name.0) < known) {
        return Vec::new();
    }
    let mut graph: DiGraph<(), ()> = DiGraph::new();
    for _ in &forms {
        graph.add_node(());
    }
    for (at, &own) in forms.iter().enumerate() {
        let readers = readers(own, &forms).into_iter();
        graph.extend_with_edges(readers.map(|reader| (at as u32, reader as u32)));
    }
    let mut errors = Vec::new();
    for ring in tarjan_scc(&graph) {
        let mut ring: Vec<usize> = ring.into_iter().map(NodeIndex::index).collect();
        ring.sort_unstable();
        let mut names: Vec<usize> = ring
            .iter()
            .map(|&at| usize::from(forms[at].rule.name.0))
            .collect();
        names.dedup();
        let Some(&first) = names.iter().find(|&&name| name >= known) else {
            continue;
        };
        // A rule that loops by itself is reported by another lint.
        let alone = |at: &usize| loops(forms[*at], &[forms[*at].rule]);
        if names.len() < 2 || ring.iter().any(alone) {
            continue;
        }
        let together: Vec<&Rule> = ring.iter().map(|&at| forms[at].rule).collect();
        if ring.iter().any(|&at| loops(forms[at], &together)) {
            let names = names
                .iter()
                .map(|&name| format!("`{}`", written[name].name.text));
            let names: Vec<String> = names.collect();
            let message = format!(
                "rules {} rewrite each other's results forever",
                names.join(" and ")
            );
            let help =
                "write `engine egraph` in one of them, where cost decides between both sides";
            errors.push(Diagnostic::error(written[first].sides, message).help(help));
        }
    }
    errors
}

/// Returns the rewrites of the greedy driver.
fn forms<'a, 's>(
    rules: &'a [Rule],
    written: &'a [RuleAst<'s>],
    ops: Ops<'a>,
) -> Vec<GreedyInstance<'a, 's>>
where
    's: 'a,
{
    let mut forms = Vec::new();
    for own in rules.chunk_by(|a, b| a.name == b.name) {
        let rule = &written[usize::from(own[0].name.0)];
        let Body::Rewrite { lhs, rhs, .. } = &rule.body else {
            continue;
        };
        for form in own.iter().filter(|form| form.engine.in_greedy()) {
            let left = if form.reversed { rhs } else { lhs };
            forms.push(GreedyInstance {
                rule: form,
                left,
                ops: Ops { op: form.op, ..ops },
            });
        }
    }
    forms
}
