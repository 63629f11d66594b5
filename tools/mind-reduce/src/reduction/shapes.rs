//! Smaller shapes.
//!
//! Types are declared by inputs and constants, and inferred everywhere else. Therefore other declarations are dropped,
//! and shapes in attributes change together with those of the leaves.

use mind_ir::attr::{Attr, Literal};
use mind_ir::opdef::Trait;
use mind_ir::types::{Dim, Shape};
use mind_ir::{Graph, OpId, ValueId};

use super::edit::{Edit, edit};

/// Which attributes change with an extent.
#[derive(Clone, Copy)]
enum Follow {
    /// Attributes with extents.
    Dims,
    /// Also attributes with integers.
    Ints,
}

/// Proposes a number for a symbolic or unknown extent.
pub(crate) fn symbols(g: &Graph) -> Vec<Edit> {
    let mut open: Vec<Dim> = leaf_dims(g).filter(|dim| dim.fixed().is_none()).collect();
    open.sort();
    open.dedup();
    let targets = |dim: Dim| [1, 2, 3].map(|extent| everywhere(dim, extent, Follow::Dims));
    open.into_iter().flat_map(targets).collect()
}

/// Proposes a smaller extent, everywhere or at one leaf.
pub(crate) fn extents(g: &Graph) -> Vec<Edit> {
    let mut extents: Vec<i64> = leaf_dims(g)
        .filter_map(Dim::fixed)
        .filter(|&extent| extent > 1)
        .collect();
    extents.sort_unstable();
    extents.dedup();
    let mut edits = Vec::new();
    for &extent in extents.iter().rev() {
        for target in smaller(extent) {
            for follow in [Follow::Dims, Follow::Ints] {
                edits.push(everywhere(Dim::Fixed(extent), target, follow));
            }
        }
    }
    for (op, value) in leaves(g) {
        for (axis, dim) in shape(g, value).iter().enumerate() {
            let targets = dim.fixed().into_iter().flat_map(smaller);
            edits.extend(targets.map(|target| {
                edit(move |g| reshape(g, op, value, |shape| shape[axis] = Dim::Fixed(target)))
            }));
        }
    }
    edits
}

/// Proposes to remove a dimension: of all leaves with the same rank or of one, with or without shortening attribute
/// lists.
pub(crate) fn ranks(g: &Graph) -> Vec<Edit> {
    let mut ranks: Vec<usize> = leaves(g).map(|(_, value)| shape(g, value).len()).collect();
    ranks.sort_unstable();
    ranks.dedup();
    let all = ranks.into_iter().rev().map(|rank| (rank, None));
    let one = leaves(g).map(|(_, value)| (shape(g, value).len(), Some(value)));
    let dropped = all.chain(one).filter(|&(rank, _)| rank > 0);
    let edits = dropped.flat_map(|(rank, only)| {
        let drop = move |g: &mut Graph| {
            for (op, value) in leaves(g).collect::<Vec<_>>() {
                if only.map_or(shape(g, value).len() == rank, |own| own == value) {
                    drop_dimension(g, op, value);
                }
            }
        };
        let with_lists = move |g: &mut Graph| {
            drop(g);
            shorten_lists(g, rank);
        };
        [edit(drop), edit(with_lists)]
    });
    edits.collect()
}

/// Removes the first item of each list of `rank` items.
fn shorten_lists(g: &mut Graph, rank: usize) {
    for op in g.walk().collect::<Vec<_>>() {
        for index in 0..g.attrs(op).len() {
            if let Attr::Ints(list) = g.attr(op, index)
                && list.len() == rank
            {
                let list = list[1..].to_vec();
                g.set_attr(op, index, Attr::Ints(&list));
            }
        }
    }
}

/// Returns the smaller extents to try, smallest first.
fn smaller(extent: i64) -> impl Iterator<Item = i64> {
    let mut targets = vec![1, 2, 3, extent / 2, extent - 1];
    targets.retain(|&target| target >= 1 && target < extent);
    targets.dedup();
    targets.into_iter()
}

fn drop_dimension(g: &mut Graph, op: OpId, value: ValueId) {
    reshape(g, op, value, |shape| {
        shape.remove(0);
    });
}

/// Returns the leaves: ops that declare the type of a result, with the result.
pub(crate) fn leaves(g: &Graph) -> impl Iterator<Item = (OpId, ValueId)> {
    let declaring = g.walk().filter(|&op| g.def(op).has(Trait::DeclaresType));
    declaring.flat_map(|op| g.results(op).into_iter().map(move |value| (op, value)))
}

fn leaf_dims(g: &Graph) -> impl Iterator<Item = Dim> {
    leaves(g).flat_map(|(_, value)| shape(g, value))
}

fn shape(g: &Graph, value: ValueId) -> Shape {
    let ty = g.declared(value).or(g.type_id(value));
    ty.map(|ty| g.types().get(ty).shape.iter().copied().collect())
        .unwrap_or_default()
}

/// Replaces `from` by `to` in all declared types and in attributes.
fn everywhere(from: Dim, to: i64, follow: Follow) -> Edit {
    edit(move |g| {
        let replace = |shape: &mut Shape| {
            for dim in shape.iter_mut().filter(|dim| **dim == from) {
                *dim = Dim::Fixed(to);
            }
        };
        for (op, value) in leaves(g).collect::<Vec<_>>() {
            reshape(g, op, value, replace);
        }
        for op in g.walk().collect::<Vec<_>>() {
            for index in 0..g.attrs(op).len() {
                follow_attr(g, op, index, from, to, follow);
            }
        }
        forget_types(g);
    })
}

fn follow_attr(g: &mut Graph, op: OpId, index: usize, from: Dim, to: i64, follow: Follow) {
    match (g.attr(op, index), follow) {
        (Attr::Dims(list), _) if list.contains(&from) => {
            let list: Vec<Dim> = list
                .iter()
                .map(|&dim| if dim == from { Dim::Fixed(to) } else { dim })
                .collect();
            g.set_attr(op, index, Attr::Dims(&list));
        }
        (Attr::Ints(list), Follow::Ints) => {
            let list: Vec<i64> = list
                .iter()
                .map(|&value| if Dim::Fixed(value) == from { to } else { value })
                .collect();
            g.set_attr(op, index, Attr::Ints(&list));
        }
        _ => {}
    }
}

/// Drops declared types that can be inferred.
pub(crate) fn forget_types(g: &mut Graph) {
    for op in g.walk().collect::<Vec<_>>() {
        if !g.def(op).has(Trait::DeclaresType) {
            g.results(op)
                .into_iter()
                .for_each(|value| g.undeclare(value));
        }
    }
}

/// Changes the shape of a leaf; a constant keeps its first elements.
fn reshape(g: &mut Graph, op: OpId, value: ValueId, change: impl FnOnce(&mut Shape)) {
    let Some(ty) = g.declared(value).or(g.type_id(value)) else {
        return;
    };
    let mut ty = g.types().get(ty).to_owned();
    change(&mut ty.shape);
    let count = ty.view().count();
    let interned = g.intern_type(ty.view());
    g.declare(value, interned);
    for index in 0..g.attrs(op).len() {
        let Attr::Literal(literal) = g.attr(op, index) else {
            continue;
        };
        let (Some(_), Some(count)) = (
            literal.count,
            count.and_then(|count| usize::try_from(count).ok()),
        ) else {
            continue;
        };
        let Some(bytes) = literal
            .bytes
            .get(..count.saturating_mul(literal.dtype.size()))
        else {
            continue;
        };
        let bytes = bytes.to_vec();
        let fewer = Literal {
            dtype: literal.dtype,
            count: Some(count),
            bytes: &bytes,
        };
        g.set_attr(op, index, Attr::Literal(&fewer));
    }
    forget_types(g);
}
