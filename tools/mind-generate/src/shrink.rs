//! Making a module smaller while it still shows a fault.

use mind_core::ops::input::Input;
use mind_diag::Span;
use mind_ir::builder::Builder;
use mind_ir::graph::{Graph, InsertPoint};
use mind_ir::opdef::{Op, Trait};
use mind_ir::{OpId, ValueId};

/// How many smaller modules are tried.
const TRIALS: usize = 4000;

/// The smallest module found for which `fails` still holds: fewer outputs or earlier ones, values
/// replaced by operands or by fresh inputs of their type, and nothing dead. `fails` holds for `g`, and is asked about verified
/// modules only.
pub fn shrink(g: &Graph, fails: &mut dyn FnMut(&Graph) -> bool) -> Graph {
    let mut smallest = g.clone();
    let mut trials = 0;
    loop {
        let mut changed = false;
        for candidate in candidates(&smallest) {
            trials += 1;
            if trials > TRIALS {
                return smallest;
            }
            let smaller = candidate.apply(&smallest);
            if size(&smaller) < size(&smallest) && fails(&smaller) {
                smallest = smaller;
                changed = true;
                break;
            }
        }
        if !changed {
            return smallest;
        }
    }
}

/// One way to make a module smaller.
#[derive(Clone, Copy)]
enum Candidate {
    DropOutput(usize),
    /// The output is this value instead.
    Peel(usize, ValueId),
    /// The first value is read as the second.
    Bypass(ValueId, ValueId),
    /// The value is an input.
    Cut(ValueId),
}

/// Outputs and ops; an input counts less than what computes something.
fn size(g: &Graph) -> (usize, usize) {
    let computing = g.ops(g.body()).filter(|&op| !is_leaf(g, op)).count();
    (computing + g.outputs().len(), g.ops(g.body()).count())
}

fn is_leaf(g: &Graph, op: OpId) -> bool {
    g.operands(op).is_empty()
}

/// The candidates, those that remove most first.
fn candidates(g: &Graph) -> Vec<Candidate> {
    let outputs = g.outputs().len();
    let mut all: Vec<Candidate> = Vec::new();
    if outputs > 1 {
        all.extend((0..outputs).map(Candidate::DropOutput));
    }
    for (index, &output) in g.outputs().iter().enumerate() {
        let operands = g.defining_op(output).map(|op| g.operands(op));
        let peeled = operands.into_iter().flatten();
        all.extend(peeled.map(|&operand| Candidate::Peel(index, operand)));
    }
    let ops: Vec<OpId> = g
        .ops(g.body())
        .filter(|&op| !g.def(op).has(Trait::Terminator))
        .collect();
    for &op in ops.iter().rev().filter(|&&op| !is_leaf(g, op)) {
        for value in g.results(op) {
            let same = |&&operand: &&ValueId| g.type_id(operand) == g.type_id(value);
            all.extend(
                g.operands(op)
                    .iter()
                    .filter(same)
                    .map(|&operand| Candidate::Bypass(value, operand)),
            );
        }
    }
    for &op in ops.iter().rev().filter(|&&op| !is_leaf(g, op)) {
        all.extend(g.results(op).into_iter().map(Candidate::Cut));
    }
    all
}

impl Candidate {
    fn apply(self, g: &Graph) -> Graph {
        let mut g = g.clone();
        match self {
            Candidate::DropOutput(index) => change_outputs(&mut g, |outputs| {
                outputs.remove(index);
            }),
            Candidate::Peel(index, value) => change_outputs(&mut g, |outputs| {
                outputs[index] = value;
            }),
            Candidate::Bypass(value, operand) => g.replace_all_uses(value, operand),
            Candidate::Cut(value) => {
                let input = fresh_input(&mut g, value);
                g.replace_all_uses(value, input);
            }
        }
        drop_dead(&mut g);
        g
    }
}

fn change_outputs(g: &mut Graph, change: impl FnOnce(&mut Vec<ValueId>)) {
    let mut outputs = g.outputs().to_vec();
    change(&mut outputs);
    if let Some(end) = g.terminator(g.body()) {
        g.set_operands(end, &outputs);
    }
}

/// An input of the type of `value`, before the op that computes it.
fn fresh_input(g: &mut Graph, value: ValueId) -> ValueId {
    let op = g
        .defining_op(value)
        .expect("a value of the module's body is a result");
    let ty = g.type_id(value).expect("a verified value has a type");
    let name = g.intern(&format!("cut{}", value.index()));
    let attrs = Input::attrs(name, false);
    let input = Builder::new(g, InsertPoint::Before(op), Span::FILE).create_typed(
        Input::DEF,
        &[],
        &attrs,
        &[ty],
    );
    g.result(input)
}

fn drop_dead(g: &mut Graph) {
    let ops: Vec<OpId> = g.ops(g.body()).collect();
    for &op in ops.iter().rev() {
        let dead = g
            .results(op)
            .into_iter()
            .all(|value| g.uses(value).is_empty());
        if dead && !g.def(op).has(Trait::Terminator) {
            g.erase(op);
        }
    }
}

#[cfg(test)]
mod tests {
    use mind_core::ops::elementwise::Exp;

    use super::*;
    use crate::{Config, module};

    #[test]
    fn what_a_fault_does_not_need_goes() {
        let holds = |g: &Graph| g.ops(g.body()).any(|op| g.is::<Exp>(op));
        let config = Config::default();
        let live = |seed| {
            let mut g = module(seed, &config);
            drop_dead(&mut g);
            g
        };
        let modules = (0..400).map(live);
        let mut tried = 0;
        for g in modules.filter(|g| holds(g)).take(20) {
            let small = shrink(&g, &mut |g| holds(g));
            let ops: Vec<&str> = small
                .ops(small.body())
                .map(|op| small.def(op).name)
                .collect();
            assert_eq!(ops.len(), 3, "{ops:?}");
            tried += 1;
        }
        assert_eq!(tried, 20);
    }
}
