//! Writing mic@2.

use mind_diag::{Diagnostic, Diagnostics, Span};
use mind_ir::OpId;
use mind_ir::attr::Attr;
use mind_ir::graph::Graph;
use mind_ir::opdef::Trait;

use super::HEADER;
use super::opcodes::Opcodes;
use super::reader::InputOp;
use super::writer::Writer;
use crate::input;
use crate::refusal::{Refusal, refused};

/// Writes a whole module, or returns an error for each op that mic@2 cannot express.
pub(super) fn print(opcodes: &Opcodes, g: &Graph) -> Result<String, Diagnostics> {
    let mut found = Diagnostics::new();
    let mut writer = Writer::new(g);
    for op in g.ops(g.body()) {
        if let Err(refusal) = write_op(opcodes, &mut writer, op) {
            found.push(refused(g, op, &refusal, [HEADER, "value "]));
        }
    }
    let outputs = g.outputs();
    if outputs.len() != 1 {
        let span = g.terminator(g.body()).map_or(Span::FILE, |end| g.span(end));
        let message = format!(
            "mic@2 has exactly one output, the module has {}",
            outputs.len()
        );
        found.push(Diagnostic::error(span, message));
    }
    if found.has_errors() {
        Err(found)
    } else {
        Ok(writer.finish(HEADER, outputs[0]))
    }
}

#[inline]
fn write_op(opcodes: &Opcodes, w: &mut Writer<'_>, op: OpId) -> Result<(), Refusal> {
    let def = w.graph.def(op);
    if let Some(spelling) = opcodes.spelling(def) {
        (spelling.write)(w, op, spelling.opcode)?;
        w.define(w.graph.result(op));
        return Ok(());
    }
    match opcodes.input {
        Some(input) if std::ptr::eq(input.def, def) => write_input(w, op, input),
        _ if def.has(Trait::Terminator) => Ok(()),
        _ => Err("has no opcode".to_owned()),
    }
}

fn write_input(w: &mut Writer<'_>, op: OpId, input: InputOp) -> Result<(), Refusal> {
    let letter = if w.graph.attr(op, input.param) == Attr::Bool(true) {
        "p"
    } else {
        "a"
    };
    if let Some(refusal) = input::refusal(w.graph, op) {
        return Err(refusal);
    }
    match w.graph.attr(op, input.name) {
        Attr::Str(name) => w.input(w.graph.result(op), letter, name),
        _ => Err("has no name".to_owned()),
    }
}
