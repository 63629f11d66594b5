//! Specialisation of modules to known extents.

use mind_diag::Diagnostics;
use mind_ir::attr::Attr;
use mind_ir::graph::Graph;
use mind_ir::opdef::Trait;
use mind_ir::types::{Dim, Shape, TensorType};
use mind_ir::verify::{VerifyConfig, verify};
use mind_ir::{OpId, Sym, Ty, ValueId};
use rustc_hash::FxHashMap;

use crate::ops::control::broken_promises;

/// The known extents.
pub struct Known<'k> {
    /// Returns the extent of a symbol, if known.
    pub symbol: &'k dyn Fn(Sym) -> Option<i64>,
    /// Returns the extent of a `?` dimension of an input, if known.
    pub input: &'k dyn Fn(OpId, usize) -> Option<i64>,
}

/// Replaces symbols and the `?` of inputs by known extents and infers all types again. Returns the number of types and
/// attributes that changed. A carried value of a loop keeps each open extent that its steps change.
///
/// # Errors
///
/// The diagnostics of verification after specialisation, for example for extents that contradict each other.
pub fn specialize(
    g: &mut Graph,
    known: &Known<'_>,
    config: &VerifyConfig,
) -> Result<usize, Diagnostics> {
    let ops: Vec<OpId> = g.walk().collect();
    let mut open = open_arguments(g, &ops);
    let mut changed = 0;
    for &op in &ops {
        keep_settled(g, op);
        changed += specialize_attrs(g, op, known);
        for value in g.results(op).into_iter().collect::<Vec<_>>() {
            changed += usize::from(specialize_type(g, op, value, known));
        }
        for region in g.regions(op).to_vec() {
            let arguments: Vec<ValueId> = g.arguments(g.block(region)).into_iter().collect();
            for argument in arguments {
                changed += usize::from(specialize_type(g, op, argument, known));
            }
        }
    }
    loop {
        let found = verify(g, config);
        if !found.has_errors() {
            return Ok(changed);
        }
        // Dead ops are not run, so that they may contradict the known extents.
        if erase_unread(g) {
            continue;
        }
        if open.is_empty() {
            return Err(found);
        }
        open_broken(g, &mut open, known);
    }
}

/// Erases dead ops; returns whether there were any.
fn erase_unread(g: &mut Graph) -> bool {
    let ops: Vec<OpId> = g.walk().collect();
    let mut erased = false;
    // In reverse order, because erasing a user may make its operands dead.
    for op in ops.into_iter().rev() {
        let def = g.def(op);
        let is_kept =
            def.has(Trait::Interface) || def.has(Trait::Terminator) || !def.has(Trait::Pure);
        let is_read = |value: ValueId| !g.uses(value).is_empty();
        if !is_kept && !g.results(op).into_iter().any(is_read) {
            g.erase(op);
            erased = true;
        }
    }
    erased
}

/// Returns the arguments of control flow with open extents and without a declared type; their types are inferred from
/// the operands.
fn open_arguments(g: &Graph, ops: &[OpId]) -> FxHashMap<ValueId, (OpId, Ty)> {
    let control = ops.iter().filter(|&&op| g.def(op).arguments.is_some());
    let arguments = control.flat_map(|&op| {
        let blocks = g.regions(op).iter().map(|&region| g.block(region));
        blocks.flat_map(move |block| g.arguments(block).into_iter().map(move |own| (own, op)))
    });
    let open = arguments.filter_map(|(own, op)| {
        let ty = g.type_id(own).filter(|_| g.declared(own).is_none())?;
        let is_open = g.types().get(ty).static_shape().is_none();
        is_open.then_some((own, (op, ty)))
    });
    open.collect()
}

/// Declares open extents for carried values whose extents change now that those of their operands are known. If no
/// carried value is at fault, a region contradicts the extents that it receives. Since the region may never run, that
/// is left to the run: the extents of all remaining arguments are declared open.
fn open_broken(g: &mut Graph, open: &mut FxHashMap<ValueId, (OpId, Ty)>, known: &Known<'_>) {
    let broken = g.walk().flat_map(|op| broken_promises(g, op));
    let mut broken: Vec<ValueId> = broken.filter(|own| open.contains_key(own)).collect();
    if broken.is_empty() {
        broken = open.keys().copied().collect();
    }
    for argument in broken {
        if let Some((op, ty)) = open.remove(&argument) {
            g.declare(argument, ty);
            specialize_type(g, op, argument, known);
        }
    }
}

fn specialize_attrs(g: &mut Graph, op: OpId, known: &Known<'_>) -> usize {
    let mut changed = 0;
    for index in 0..g.attrs(op).len() {
        let Attr::Dims(dims) = g.attr(op, index) else {
            continue;
        };
        let new: Shape = dims.iter().map(|&dim| fixed(dim, known)).collect();
        if new[..] != *dims {
            g.set_attr(op, index, Attr::Dims(&new));
            changed += 1;
        }
    }
    changed
}

/// Declares the result type of an op with an open extent in an attribute, because the number of elements no longer
/// determines that extent once another extent is 0.
fn keep_settled(g: &mut Graph, op: OpId) {
    let is_open = |attr: &Attr<'_>| match attr {
        Attr::Dims(dims) => (dims.iter()).any(|dim| matches!(dim, Dim::Dynamic | Dim::Fixed(..0))),
        _ => false,
    };
    if g.attrs(op).iter().any(is_open) {
        for value in g.results(op) {
            if let Some(ty) = g.type_id(value) {
                g.declare(value, ty);
            }
        }
    }
}

fn fixed(dim: Dim, known: &Known<'_>) -> Dim {
    match dim {
        Dim::Symbol(sym) => (known.symbol)(sym).map_or(dim, Dim::Fixed),
        other => other,
    }
}

/// Specialises the declared type of `value`, which `op` defines; returns whether it changed.
fn specialize_type(g: &mut Graph, op: OpId, value: ValueId, known: &Known<'_>) -> bool {
    let Some(old) = g.declared(value) else {
        return false;
    };
    let is_input = g.def(op).has(Trait::Interface);
    let ty = g.types().get(old);
    let dims = ty.shape.iter().enumerate().map(|(axis, &dim)| match dim {
        Dim::Dynamic if is_input => (known.input)(op, axis).map_or(dim, Dim::Fixed),
        dim => fixed(dim, known),
    });
    let new = TensorType::new(ty.dtype, dims);
    let new: Ty = g.intern_type(new.view());
    if new != old {
        g.declare(value, new);
        g.set_type(value, new);
    }
    new != old
}
