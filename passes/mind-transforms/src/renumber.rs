//! Consecutive value numbers, inputs first.

use mind_ir::graph::Graph;
use mind_ir::opdef::Trait;
use mind_ir::{OpId, ValueId};
use mind_pass::{Changed, Pass, PassCx, PassError, PassInfo};

pub(crate) const PASS: PassInfo = PassInfo {
    name: "renumber",
    alias: None,
    summary: "Moves inputs to the front and numbers all values from 0 in text order",
    example: "--renumber",
    options: &[],
    enters_regions: false,
    make: |_| Box::new(Renumber),
};

struct Renumber;

impl Pass for Renumber {
    fn run(&self, g: &mut Graph, _: &mut PassCx<'_>) -> Result<Changed, PassError> {
        let hoisted = hoist_inputs(g);
        let numbered = number(g);
        Ok(Changed::when(hoisted || numbered))
    }
}

/// Moves the inputs before all other ops, in their order. Returns whether any was moved.
fn hoist_inputs(g: &mut Graph) -> bool {
    let is_input = |g: &Graph, op: OpId| g.def(op).has(Trait::Interface);
    let ops: Vec<OpId> = g.ops(g.body()).collect();
    let Some(first_other) = ops.iter().position(|&op| !is_input(g, op)) else {
        return false;
    };
    let (anchor, late) = (ops[first_other], &ops[first_other..]);
    let late: Vec<OpId> = late.iter().copied().filter(|&op| is_input(g, op)).collect();
    late.iter().for_each(|&op| g.move_before(op, anchor));
    !late.is_empty()
}

fn number(g: &mut Graph) -> bool {
    let mut values: Vec<ValueId> = Vec::new();
    for op in g.walk() {
        values.extend(g.results(op));
        for &region in g.regions(op) {
            values.extend(g.arguments(g.block(region)));
        }
    }
    let labels = values.iter().enumerate();
    let changed = labels
        .clone()
        .any(|(label, &value)| g.label(value) != label as u64);
    labels.for_each(|(label, &value)| g.set_label(value, label as u64));
    changed
}
