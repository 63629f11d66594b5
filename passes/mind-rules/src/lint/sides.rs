//! Lints: sides of different types, and rules that rewrite their own results forever.

use mind_diag::Span;
use mind_ir::attr::Attr;
use mind_ir::builder::Builder;
use mind_ir::graph::{Graph, InsertPoint};
use mind_ir::opdef::Op;
use mind_ir::types::TensorType;
use mind_ir::{OpId, ValueId};

use super::draw::Drawn;
use crate::attr_value::AttrValue;
use crate::language::ast::Term;
use crate::language::ops::Ops;
use crate::matching::module::result_value;
use crate::matching::pattern::Rule;
use crate::matching::replacement::{NewTerm, ReplacementBuffers, Requirement, replacement};
use crate::op_table::OpTable;
use crate::unknown::Unknown;

/// The number of random modules.
const DRAWS: u64 = 400;

/// The number of modules on which the types of the sides must differ for the rule to be rejected.
const ENOUGH: usize = 24;

/// The number of rewrites of its own results after which a rule is assumed not to terminate.
const ROUNDS: usize = 16;

/// The largest number of ops created while a rule rewrites its own results.
const MOST_OPS: usize = 256;

/// The result of the lints.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// No objection.
    Fine,
    /// The types of the sides were never equal; the types of one example.
    Types(String, String),
    /// The greedy driver would apply the rule to its own results forever.
    Loops,
}

/// Tests on random modules whether the sides of `rule` can have the same type and whether the rule terminates; `left`
/// is its left side.
pub(crate) fn sides(rule: &Rule, left: &Term<'_>, ops: Ops<'_>) -> Verdict {
    let (mut differ, mut example) = (0, None);
    for seed in 0..DRAWS {
        let Some((mut drawn, root)) = Drawn::new(left, ops, seed) else {
            continue;
        };
        let g = &mut drawn.g;
        let Some(right) = right(rule, ops.table, g, root, Requirement::Pattern) else {
            continue;
        };
        let Some(&value) = right.last() else { continue };
        let result = result_value(g, ops.table, rule.pattern.root, root);
        if g.type_id(value) == g.type_id(result) {
            let own = GreedyInstance { rule, left, ops };
            return if rule.engine.in_greedy() && loops(own, &[rule]) {
                Verdict::Loops
            } else {
                Verdict::Fine
            };
        }
        differ += 1;
        example.get_or_insert_with(|| (g.type_text(result), g.type_text(value)));
        if differ == ENOUGH {
            break;
        }
    }
    match example {
        Some((left, right)) if differ == ENOUGH => Verdict::Types(left, right),
        _ => Verdict::Fine,
    }
}

/// A form of a rule: one direction, for one op.
#[derive(Clone, Copy)]
pub(super) struct GreedyInstance<'a, 's> {
    pub(super) rule: &'a Rule,
    pub(super) left: &'a Term<'s>,
    pub(super) ops: Ops<'a>,
}

/// Returns whether `rules` rewrite each other's results forever from every match of `start` that was tried. Only
/// conditions that are evaluated to true allow a rewrite.
pub(super) fn loops(start: GreedyInstance<'_, '_>, rules: &[&Rule]) -> bool {
    let (mut acted, mut ended) = (0, 0);
    for seed in 0..DRAWS {
        let Some((mut drawn, root)) = Drawn::new(start.left, start.ops, seed) else {
            continue;
        };
        let mut made = vec![root];
        let (mut rounds, mut count) = (0, 0);
        while let Some(op) = made.pop() {
            let g = &mut drawn.g;
            let mut new = rules
                .iter()
                .filter_map(|rule| right(rule, start.ops.table, g, op, Requirement::Condition));
            let Some(new) = new.next() else {
                continue;
            };
            rounds += 1;
            count += new.len();
            if rounds == ROUNDS || count > MOST_OPS {
                break;
            }
            let defining = new.iter().filter_map(|&value| g.defining_op(value));
            made = defining.collect();
        }
        acted += usize::from(rounds > 0);
        ended += usize::from(rounds > 0 && rounds < ROUNDS && count <= MOST_OPS);
        if ended > 0 || acted == ENOUGH {
            break;
        }
    }
    acted > 0 && ended == 0
}

/// Returns which of `rules` match a result of `start`.
pub(super) fn readers(
    start: GreedyInstance<'_, '_>,
    rules: &[GreedyInstance<'_, '_>],
) -> Vec<usize> {
    let (mut acted, mut found) = (0, vec![false; rules.len()]);
    let mut buffers = ReplacementBuffers::default();
    for seed in 0..DRAWS {
        let Some((mut drawn, root)) = Drawn::new(start.left, start.ops, seed) else {
            continue;
        };
        let (g, table) = (&mut drawn.g, start.ops.table);
        let Some(made) = right(start.rule, table, g, root, Requirement::Condition) else {
            continue;
        };
        for op in made.iter().filter_map(|&value| g.defining_op(value)) {
            for (own, found) in rules.iter().zip(&mut found) {
                *found |= replacement(own.rule, table, g, op, Requirement::Condition, &mut buffers)
                    .is_ok();
            }
        }
        acted += 1;
        if acted == ENOUGH {
            break;
        }
    }
    (0..rules.len()).filter(|&at| found[at]).collect()
}

/// Builds the right side at `op` and returns its values, the root last.
fn right(
    rule: &Rule,
    table: &OpTable,
    g: &mut Graph,
    op: OpId,
    required: Requirement,
) -> Option<Vec<ValueId>> {
    let mut buffers = ReplacementBuffers::default();
    let terms = replacement(rule, table, g, op, required, &mut buffers).ok()?;
    let mut values: Vec<ValueId> = Vec::with_capacity(terms.len());
    for term in terms {
        values.push(match term {
            NewTerm::Value(value) => *value,
            NewTerm::Constant(tensor) => {
                let shape: Vec<i64> = tensor.shape().iter().map(|&e| e as i64).collect();
                let ty = TensorType::fixed(tensor.dtype(), &shape);
                let ty = g.intern_type(ty.view());
                let at = InsertPoint::End(g.body());
                let mut builder = Builder::new(g, at, Span::FILE);
                let op = builder.create_typed(Unknown::DEF, &[], &[], &[ty]);
                g.result(op)
            }
            NewTerm::Op {
                def,
                attrs,
                operands,
            } => {
                let operands: Vec<ValueId> = operands.iter().map(|&at| values[at]).collect();
                let attrs: Vec<Attr<'_>> = attrs.iter().map(AttrValue::as_attr).collect();
                let at = InsertPoint::End(g.body());
                let created = Builder::new(g, at, Span::FILE).create(def, &operands, &attrs);
                g.result(created.ok()?)
            }
        });
    }
    Some(values)
}
