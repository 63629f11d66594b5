//! The walk over a module and the table of what each op becomes.

use mind_core::ops::fused::Fused;
use mind_diag::Diagnostic;
use mind_ir::builder::Builder;
use mind_ir::opdef::{Op, OpDef, Trait};
use mind_ir::{BlockId, Graph};
use mind_tensor::ops::group::Group;

use crate::emit::Lower;
use crate::replace::replace;
use crate::{contract, elementwise, join, movement, normalize, reduce, reshape};

/// What each op becomes that does not just apply a scalar function.
const FAMILIES: [&[(&OpDef, Lower)]; 6] = [
    contract::ROWS,
    reduce::ROWS,
    reshape::ROWS,
    movement::ROWS,
    join::ROWS,
    normalize::ROWS,
];

/// Whether an op of this kind is lowered.
pub fn lowers(def: &'static OpDef) -> bool {
    std::ptr::eq(def, Fused::DEF) || conversion(def).is_some()
}

fn conversion(def: &'static OpDef) -> Option<Lower> {
    if def.has(Trait::Elementwise) {
        return Some(elementwise::lower);
    }
    let mut rows = FAMILIES.iter().copied().flatten();
    rows.find(|(own, _)| std::ptr::eq(*own, def))
        .map(|&(_, lower)| lower)
}

/// Lowers every core op of a verified module; the count of those. Ops of other dialects, constants and
/// inputs stay.
///
/// # Errors
///
/// An op whose lowering does not verify, with its place. The module is then not to be used.
pub fn lower(g: &mut Graph) -> Result<usize, Box<Diagnostic>> {
    let body = g.body();
    lower_block(g, body)
}

fn lower_block(g: &mut Graph, block: BlockId) -> Result<usize, Box<Diagnostic>> {
    let mut lowered = 0;
    let mut next = g.ops(block).next();
    while let Some(op) = next {
        next = g.next(op);
        if g.is::<Fused>(op) {
            g.set_def(op, Group::DEF);
            lowered += 1;
        }
        if let Some(group) = g.view::<Group>(op) {
            let body = group.body(g);
            lowered += lower_block(g, body)?;
        } else if let Some(lower) = conversion(g.def(op)) {
            let bound = g.value_bound();
            let value = lower(op, &mut Builder::before(g, op)).map_err(|why| {
                let mut found = why.at(g.span(op));
                let name = g.def(op).name;
                found.message = format!("lowering `{name}` failed: {}", found.message);
                Box::new(found)
            })?;
            replace(g, op, value, value.index() >= bound);
            lowered += 1;
        }
    }
    Ok(lowered)
}
