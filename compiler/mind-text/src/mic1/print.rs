//! Writing mic@1.

use mind_diag::Diagnostics;
use mind_ir::OpId;
use mind_ir::graph::Graph;
use mind_ir::opdef::{Results, Trait};

use super::HEADER;
use super::kinds::Kinds;
use super::results;
use super::writer::Writer;
use crate::refusal::{Refusal, refused};

/// Writes a whole module, or says of each op that mic@1 lacks why it cannot be written.
pub(super) fn print(kinds: &Kinds, g: &Graph) -> Result<String, Diagnostics> {
    let mut found = Diagnostics::new();
    let mut writer = Writer::new(g);
    for op in g.ops(g.body()) {
        if let Err(refusal) = write_op(kinds, &mut writer, op) {
            found.push(refused(g, op, &refusal, [HEADER, "N"]));
        }
    }
    if found.has_errors() {
        Err(found)
    } else {
        Ok(writer.finish(HEADER))
    }
}

#[inline]
fn write_op(kinds: &Kinds, w: &mut Writer<'_>, op: OpId) -> Result<(), Refusal> {
    let (g, def) = (w.graph, w.graph.def(op));
    let Some(spelling) = kinds.spelling(def) else {
        return if def.has(Trait::Terminator) {
            Ok(())
        } else {
            Err("has no kind".to_owned())
        };
    };
    let Some(value) = g.results(op).into_iter().next() else {
        return Err("has no result".to_owned());
    };
    w.begin(value);
    (spelling.write)(w, op, spelling)?;
    let ty = match g.declared(value) {
        None if def.has(Trait::DeclaresType) => Some(g.type_id(value).ok_or("has no type")?),
        declared => declared,
    };
    if let Some(ty) = ty {
        w.ty(ty)?;
    }
    w.out().push('\n');
    if def.results == Results::One {
        return Ok(());
    }
    results::write(w, op)
}
