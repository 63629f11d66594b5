//! Converts states to values.

use mind_diag::{Code, Diagnostic, Diagnostics};
use mind_ir::attr::Attr;
use mind_ir::graph::Graph;
use mind_ir::opdef::Op;
use mind_ir::{OpId, ValueId};
use rustc_hash::FxHashMap;

use crate::call::Call;
use crate::ops;
use crate::ops::control::{READ_STATE, WRITE_STATE};
use crate::row::MilOp;
use crate::structure::{Input, program};

const STATE: usize = Input::DEF.attr_position("state");

/// Turns each state of the module's own function into an input tensor. If the state is written, its final value becomes
/// an output after the other outputs, in the order of the inputs. Returns whether there was a state; a module that is
/// not a program is unchanged.
///
/// # Errors
///
/// Returns E6003 for a state that is read or written in a nested block; the module is then unchanged.
pub fn thread(g: &mut Graph) -> Result<bool, Diagnostics> {
    if program(g).is_none() {
        return Ok(false);
    }
    let body = g.body();
    let states = |g: &Graph| -> Vec<OpId> {
        let inputs = g
            .ops(body)
            .filter(|&op| g.view::<Input>(op).is_some_and(|own| own.state(g)));
        inputs.collect()
    };
    let states = states(g);
    let mut found = Diagnostics::new();
    for &state in &states {
        for (user, _) in g.uses(g.result(state)) {
            if g.parent(user) != Some(body) {
                let message = format!("`{}` is in a nested block", g.def(user).name);
                let error = Diagnostic::error(g.span(user), message).code(Code(6003));
                found.push(error.help("states become values of straight-line programs alone"));
            }
        }
    }
    if found.has_errors() {
        return Err(found);
    }
    let mut held: FxHashMap<ValueId, ValueId> = FxHashMap::default();
    let ops: Vec<OpId> = g.ops(body).collect();
    for op in ops {
        let Some((data, Some(input))) = access(g, op) else {
            continue;
        };
        match data {
            Some(data) => drop(held.insert(input, data)),
            None => {
                let now = held.get(&input).copied().unwrap_or(input);
                g.replace_all_uses(g.result(op), now);
            }
        }
        g.erase(op);
    }
    let mut outputs = g.outputs().to_vec();
    for &state in &states {
        g.set_attr(state, STATE, Attr::Bool(false));
        if let Some(&last) = held.get(&g.result(state)) {
            name_output(g, state, outputs.len());
            outputs.push(last);
        }
    }
    if let Some(end) = g.terminator(body) {
        g.set_operands(end, &outputs);
    }
    Ok(!states.is_empty())
}

/// Names the output at a position after the state whose final value it is, unless another output has that name.
fn name_output(g: &mut Graph, state: OpId, at: usize) {
    let name = g
        .view::<Input>(state)
        .map(|own| g.name(own.name(g)).to_owned());
    let name = name.filter(|name| g.interface.output_position(name).is_none());
    g.interface.output_mut(at).name = name;
}

/// Returns the value that `op` writes to a state, if it is a write, and the state; `None` for an op that does not
/// access states.
fn access(g: &Graph, op: OpId) -> Option<(Option<ValueId>, Option<ValueId>)> {
    let row = ops::row(g.def(op))?;
    let is = |own: &'static MilOp| std::ptr::eq(own, row);
    if !is(&READ_STATE) && !is(&WRITE_STATE) {
        return None;
    }
    let call = Call::bind(row, op, g).ok()?;
    Some((call.value("data"), call.value("input")))
}
