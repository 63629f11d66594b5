//! Writing mic@1.

use mind_diag::Diagnostics;
use mind_ir::graph::Graph;
use mind_ir::opdef::{Results, Trait};
use mind_ir::{BlockId, OpId};

use super::HEADER;
use super::bodies::{self, MAX_NESTING};
use super::kinds::NodeKinds;
use super::results;
use super::writer::Writer;
use crate::refusal::{Refusal, refused};

/// Writes a whole module, or returns an error for each op that mic@1 cannot express.
pub(super) fn print(kinds: &NodeKinds, g: &Graph) -> Result<String, Diagnostics> {
    let mut found = Diagnostics::new();
    let mut writer = Writer::new(g);
    write_ops(kinds, &mut writer, g.body(), 0, &mut found);
    if found.has_errors() {
        Err(found)
    } else {
        Ok(writer.finish(HEADER))
    }
}

/// Writes the nodes of a block, which is nested in `depth` bodies.
fn write_ops(
    kinds: &NodeKinds,
    w: &mut Writer<'_>,
    block: BlockId,
    depth: usize,
    found: &mut Diagnostics,
) {
    let g = w.graph;
    for op in g.ops(block) {
        let mut written = write_op(kinds, w, op);
        if written.is_ok() && !g.regions(op).is_empty() {
            written = write_bodies(kinds, w, op, depth, found);
        }
        if written.is_ok() && g.def(op).results != Results::One {
            written = results::write(w, op);
        }
        if let Err(refusal) = written {
            found.push(refused(g, op, &refusal, [HEADER, "N"]));
        }
    }
}

fn write_bodies(
    kinds: &NodeKinds,
    w: &mut Writer<'_>,
    op: OpId,
    depth: usize,
    found: &mut Diagnostics,
) -> Result<(), Refusal> {
    if depth == MAX_NESTING {
        return Err("has bodies that are nested too deeply".to_owned());
    }
    for &region in w.graph.regions(op) {
        let block = w.graph.block(region);
        bodies::write_begin(w, block)?;
        write_ops(kinds, w, block, depth + 1, found);
        bodies::write_end(w, block);
    }
    Ok(())
}

/// Writes the line of a node.
#[inline]
fn write_op(kinds: &NodeKinds, w: &mut Writer<'_>, op: OpId) -> Result<(), Refusal> {
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
    bodies::write_count(w, op);
    let ty = match g.declared(value) {
        None if def.has(Trait::DeclaresType) => Some(g.type_id(value).ok_or("has no type")?),
        declared => declared,
    };
    if let Some(ty) = ty {
        w.ty(ty)?;
    }
    w.out().push('\n');
    Ok(())
}
