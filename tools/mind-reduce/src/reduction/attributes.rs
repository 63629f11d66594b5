//! Simpler attributes.

use mind_ir::attr::{Attr, Padding};
use mind_ir::opdef::Trait;
use mind_ir::{Graph, OpId};

use super::edit::{Edit, edit};

/// Proposes the default of each attribute, or a smaller value of its kind.
pub(crate) fn simplify(g: &Graph) -> Vec<Edit> {
    let mut edits = Vec::new();
    for op in g.walk().filter(|&op| !g.def(op).has(Trait::Constant)) {
        for (index, (attr, row)) in g.attrs(op).iter().zip(g.def(op).attrs).enumerate() {
            let default = row.default.filter(|default| default != attr);
            edits.extend(default.map(|default| edit(move |g| g.set_attr(op, index, default))));
            smaller(op, index, attr, &mut edits);
        }
    }
    edits
}

fn smaller(op: OpId, index: usize, attr: &Attr<'_>, edits: &mut Vec<Edit>) {
    match *attr {
        Attr::Int(value) => {
            let values = [0, 1, value / 2]
                .into_iter()
                .filter(|&other| other != value);
            edits
                .extend(values.map(|value| edit(move |g| g.set_attr(op, index, Attr::Int(value)))));
        }
        Attr::Bool(true) => edits.push(edit(move |g| g.set_attr(op, index, Attr::Bool(false)))),
        Attr::Float(_) => {
            let values = [0.0, 1.0].map(Attr::float);
            edits.extend(values.map(|value| edit(move |g| g.set_attr(op, index, value))));
        }
        Attr::Ints(list) => {
            for (at, &value) in list.iter().enumerate() {
                for target in [0, 1, value / 2]
                    .into_iter()
                    .filter(|&target| target != value)
                {
                    let mut list = list.to_vec();
                    list[at] = target;
                    edits.push(edit(move |g| g.set_attr(op, index, Attr::Ints(&list))));
                }
            }
        }
        Attr::Padding(padding) if padding != Padding::Valid => {
            edits.push(edit(move |g| {
                g.set_attr(op, index, Attr::Padding(Padding::Valid))
            }));
        }
        Attr::Bool(false)
        | Attr::Str(_)
        | Attr::Dims(_)
        | Attr::Literal(_)
        | Attr::Padding(_)
        | Attr::DType(_)
        | Attr::Word(_) => {}
    }
}
