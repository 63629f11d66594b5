//! Finds out why a rule does not match in an e-graph.

use egg::Id;

use super::egraph::{InEgraph, Match};
use crate::egraph::language::Node;
use crate::explain::mismatch::Mismatch;
use mind_rules::expr::Scope;
use mind_rules::matching::matcher;
use mind_rules::matching::pattern::Rule;

/// Matches `rule` at `node`, an e-node of the class `root`, and returns the match.
///
/// # Errors
///
/// Errors with the reason why the deepest attempt failed.
pub(crate) fn attempt<'a>(
    subject: InEgraph<'a, '_>,
    rule: &Rule,
    root: Id,
    node: &'a Node,
) -> Result<Match, String> {
    let condition = rule.condition.as_ref();
    let mut all: Vec<Match> = Vec::new();
    // The condition is evaluated after all instructions.
    let mut deepest: (usize, String) = (0, "no match".to_owned());
    let mut refused: Option<String> = None;
    let mut accept = |found: matcher::Match<'_, InEgraph<'a, '_>>| {
        let scope = Scope {
            subject: &subject,
            registers: found.registers,
            slots: found.slots,
        };
        let holds = condition.is_none_or(|condition| condition.holds(&scope) == Some(true));
        let mismatch = Mismatch {
            subject,
            rule,
            registers: found.registers,
            slots: found.slots,
        };
        match holds {
            true => {
                let nodes = found.ops.iter();
                all.push(Match {
                    registers: found.registers.into(),
                    slots: found.slots.clone(),
                    nodes: nodes.map(|&(class, node)| (class, node.clone())).collect(),
                });
            }
            false => {
                refused.get_or_insert_with(|| mismatch.condition());
            }
        }
        all.is_empty()
    };
    let mut hear = |failure: matcher::Failure<'_, InEgraph<'a, '_>>| {
        if failure.depth > deepest.0 {
            let mismatch = Mismatch {
                subject,
                rule,
                registers: failure.registers,
                slots: failure.slots,
            };
            deepest = (failure.depth, mismatch.reason(failure.step));
        }
    };
    matcher::attempt(
        &subject,
        &rule.pattern,
        (root, node),
        &mut accept,
        &mut hear,
    );
    let reason = refused.unwrap_or(deepest.1);
    all.pop().ok_or(reason)
}
