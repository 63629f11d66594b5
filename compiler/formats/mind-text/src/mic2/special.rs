//! Ops whose mic@2 lines differ from the regular layout of their table entries.

use mind_diag::{Code, Diagnostic};
use mind_ir::OpId;
use mind_ir::attr::{Attr, AttrKind};
use mind_ir::opdef::OpDef;
use mind_ir::types::Shape;

use super::node::{self, ReadNode, WriteNode};
use super::reader::{Inputs, Ints, Reader};
use super::writer::Writer;
use crate::refusal::Refusal;
use crate::scan::Parsed;

/// The irregular functions of one op.
pub(super) struct Special {
    /// The op's name in the tables.
    pub(super) op: &'static str,
    /// Reads the line; `None` if it is regular or mic@2 has no opcode for the op.
    pub(super) read: Option<ReadNode>,
    /// Writes the line; `None` if it is regular.
    pub(super) write: Option<WriteNode>,
}

/// All irregular ops.
pub(super) const SPECIALS: &[Special] = &[
    Special {
        op: "core.reshape",
        read: Some(read_reshape),
        write: Some(write_reshape),
    },
    Special {
        op: "core.split",
        read: Some(read_split),
        write: None,
    },
    Special {
        op: "core.gather",
        read: Some(node::read),
        write: Some(write_gather),
    },
    Special {
        op: "core.sum",
        read: Some(node::read),
        write: Some(write_reduction),
    },
    Special {
        op: "core.mean",
        read: Some(node::read),
        write: Some(write_reduction),
    },
    Special {
        op: "core.max",
        read: Some(node::read),
        write: Some(write_reduction),
    },
    Special {
        op: "core.expand_dims",
        read: None,
        write: Some(write_as_reshape),
    },
    Special {
        op: "core.squeeze",
        read: None,
        write: Some(write_as_reshape),
    },
    Special {
        op: "core.dot",
        read: None,
        write: Some(write_dot),
    },
];

/// Reads `rshp x d0 d1...`; a dimension may be a declared symbol.
fn read_reshape(r: &mut Reader<'_>, def: &'static OpDef, start: usize) -> Parsed<()> {
    r.cursor.blanks();
    let mut ids = Ints::new();
    if !r.cursor.at_line_end() {
        ids.push(r.int("an integer")?);
    }
    let mut dims = Shape::new();
    r.dims(false, &mut dims)?;
    let mut inputs = Inputs::new();
    node::split(r, def, &ids, start, &mut inputs)?;
    r.push(def, &inputs, &[Attr::Dims(&dims)], start);
    Ok(())
}

fn write_reshape(w: &mut Writer<'_>, op: OpId, _: &str) -> Result<(), Refusal> {
    let g = w.graph;
    match g.attrs(op) {
        &[Attr::Dims(shape)] => w.reshape(Some(g.operands(op)[0]), shape),
        _ => Err("has no target shape".to_owned()),
    }
}

/// Reads `split x axis count [part]`, and checks `count` and `part`.
fn read_split(r: &mut Reader<'_>, def: &'static OpDef, start: usize) -> Parsed<()> {
    let (mut ints, mut inputs) = (Ints::new(), Inputs::new());
    r.ints(def, &mut ints)?;
    let params = node::split(r, def, &ints, start, &mut inputs)?;
    let (count, part) = (params[1], params.get(2).copied().unwrap_or(0));
    if count < 1 {
        return Err(Box::new(bad_split(
            r,
            start,
            3,
            format!("{count} is not a positive count"),
        )));
    }
    if !(0..count).contains(&part) {
        let problem = format!("part {part} is outside the count of {count}");
        return Err(Box::new(bad_split(r, start, 4, problem)));
    }
    let attrs = node::attributes(def, params);
    r.push(def, &inputs, &attrs, start);
    Ok(())
}

#[cold]
fn bad_split(r: &Reader<'_>, start: usize, word: usize, problem: String) -> Diagnostic {
    let message = format!("cannot split: {problem}");
    r.cursor
        .error_at(r.word(start, word), message)
        .code(Code(3003))
        .context("op", "split")
        .help("the params are: axis, count, part; parts count from 0")
}

/// Writes `gth data indices axis`, always with the axis. mic@2 has no other bounds mode than the default.
fn write_gather(w: &mut Writer<'_>, op: OpId, opcode: &str) -> Result<(), Refusal> {
    let attrs = w.graph.def(op).attrs.iter().zip(w.graph.attrs(op));
    for (attr, own) in attrs {
        if let Attr::Word(word) = own
            && attr.default != Some(*own)
        {
            return Err(format!(
                "has {} {word}, which 'gth' does not say",
                attr.name
            ));
        }
    }
    node::write_with(w, op, opcode, w.graph.attrs(op).len());
    Ok(())
}

/// Writes `sum x axes...`, followed by a reshape if the reduced axes are kept.
fn write_reduction(w: &mut Writer<'_>, op: OpId, opcode: &str) -> Result<(), Refusal> {
    let g = w.graph;
    let keeps = g.attrs(op).contains(&Attr::Bool(true)) && !g.attrs(op).contains(&Attr::Ints(&[]));
    let kept = if keeps {
        Some(w.known_type(g.result(op))?)
    } else {
        None
    };
    let lists = g
        .def(op)
        .attrs
        .iter()
        .filter(|attr| attr.kind == AttrKind::Ints)
        .count();
    node::write_with(w, op, opcode, lists);
    match kept {
        Some(ty) => w.reshape(None, ty.shape),
        None => Ok(()),
    }
}

/// Writes an op that only inserts or removes extents of 1 as a reshape.
fn write_as_reshape(w: &mut Writer<'_>, op: OpId, _: &str) -> Result<(), Refusal> {
    let g = w.graph;
    w.reshape(Some(g.operands(op)[0]), w.known_type(g.result(op))?.shape)
}

/// Writes a dot of two matrices as a matmul.
fn write_dot(w: &mut Writer<'_>, op: OpId, _: &str) -> Result<(), Refusal> {
    for &operand in w.graph.operands(op) {
        let rank = w.known_type(operand)?.rank();
        if rank != 2 {
            return Err(format!(
                "has an operand of rank {rank}: only that of two matrices is 'm'"
            ));
        }
    }
    w.node("m", w.graph.operands(op));
    w.end();
    Ok(())
}
