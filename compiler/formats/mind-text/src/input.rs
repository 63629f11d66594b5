//! Inputs in formats that write their name, role and type.

use mind_ir::attr::{Attr, AttrKind};
use mind_ir::graph::Graph;
use mind_ir::opdef::OpDef;
use mind_ir::{OpId, Sym};
use smallvec::SmallVec;

/// Returns the attributes of an input: its name, whether it is a weight, and the defaults of the others.
#[inline]
pub(crate) fn attrs(def: &OpDef, name: Sym, param: bool) -> SmallVec<[Attr<'static>; 3]> {
    let attrs = def.attrs.iter().map(|row| match row.kind {
        AttrKind::Str => Attr::Str(name),
        AttrKind::Bool => Attr::Bool(param),
        _ => row.default.unwrap_or(Attr::Int(0)),
    });
    attrs.collect()
}

/// Returns why an input cannot be written; `None` if it can.
pub(crate) fn refusal(g: &Graph, op: OpId) -> Option<String> {
    let rows = g.def(op).attrs.iter().zip(g.attrs(op));
    let mut rows = rows.filter(|(row, _)| !matches!(row.kind, AttrKind::Str | AttrKind::Bool));
    let (row, _) = rows.find(|(row, attr)| row.default != Some(**attr))?;
    Some(format!("has the attribute `{}`", row.name))
}
