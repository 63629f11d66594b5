//! The conversion driver: the walk over a module and the table of lowerings.

use mind_core::ops::control::Scan;
use mind_core::ops::fused::Fused;
use mind_diag::Diagnostic;
use mind_ir::builder::Builder;
use mind_ir::opdef::{Op, OpDef, Trait};
use mind_ir::{BlockId, Graph};
use mind_tensor::ops::group::Group;

use crate::emit::{Lower, LowerKnown};
use crate::replace::replace;
use crate::scan::along_first_axes;
use crate::{
    argmax, argmax_window, contract, convolve, dynamic, elementwise, gather, join, known, movement,
    normalize, pad, product, quantize, reduce, reshape, resize, window,
};

/// Lowerings of ops that are not elementwise.
const FAMILIES: [&[(&OpDef, Lower)]; 7] = [
    contract::ROWS,
    product::ROWS,
    reduce::ROWS,
    reshape::ROWS,
    movement::ROWS,
    join::ROWS,
    normalize::ROWS,
];

/// Lowerings that apply only if the extents are known.
const KNOWN: [&[(&OpDef, LowerKnown)]; 10] = [
    known::ROWS,
    pad::ROWS,
    argmax::ROWS,
    argmax_window::ROWS,
    window::ROWS,
    resize::ROWS,
    convolve::ROWS,
    gather::ROWS,
    dynamic::ROWS,
    quantize::ROWS,
];

/// The lowering of an op.
#[derive(Clone, Copy)]
enum Conversion {
    /// For any extents.
    Always(Lower),
    /// If the relevant extents are known.
    Known(LowerKnown),
}

/// Options that depend on the target.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Whether products of 8-bit integers use dot products of four bytes, which is faster on targets with an
    /// instruction for them (e.g. VNNI); otherwise dot products of two integers, widened to 16 bits.
    pub dots_bytes: bool,
}

impl Options {
    fn conversion(&self, def: &'static OpDef) -> Option<Conversion> {
        if !self.dots_bytes {
            return conversion(def);
        }
        let is = |own: &OpDef| std::ptr::eq(own, def);
        let products = product::ROWS_OF_BYTES.iter().find(|(own, _)| is(own));
        let windows = convolve::ROWS_OF_BYTES.iter().find(|(own, _)| is(own));
        let product = products.map(|&(_, lower)| Conversion::Always(lower));
        product
            .or_else(|| windows.map(|&(_, lower)| Conversion::Known(lower)))
            .or_else(|| conversion(def))
    }
}

/// Returns whether an op is lowered for any extents.
pub fn lowers(def: &'static OpDef) -> bool {
    let always = |conversion| matches!(conversion, Conversion::Always(_));
    std::ptr::eq(def, Fused::DEF) || conversion(def).is_some_and(always)
}

/// Returns whether an op is lowered only if its extents are known.
pub fn lowers_if_known(def: &'static OpDef) -> bool {
    matches!(conversion(def), Some(Conversion::Known(_)))
}

fn conversion(def: &'static OpDef) -> Option<Conversion> {
    if def.has(Trait::Elementwise) {
        return Some(Conversion::Always(elementwise::lower));
    }
    let is = |own: &OpDef| std::ptr::eq(own, def);
    let mut known = KNOWN.iter().copied().flatten();
    if let Some(&(_, lower)) = known.find(|(own, _)| is(own)) {
        return Some(Conversion::Known(lower));
    }
    let mut rows = FAMILIES.iter().copied().flatten();
    rows.find(|(own, _)| is(own))
        .map(|&(_, lower)| Conversion::Always(lower))
}

/// Lowers every core op of a verified module and returns their number. Ops of other dialects, constants and inputs are
/// kept.
///
/// # Errors
///
/// An op whose lowering does not verify, with its location. The module is then in an unspecified state.
pub fn lower(g: &mut Graph, options: &Options) -> Result<usize, Box<Diagnostic>> {
    let body = g.body();
    lower_block(g, body, options)
}

fn lower_block(g: &mut Graph, block: BlockId, options: &Options) -> Result<usize, Box<Diagnostic>> {
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
            lowered += lower_block(g, body, options)?;
        } else if let Some(scan) = g.view::<Scan>(op) {
            let transposed = along_first_axes(g, scan);
            lowered += transposed.map_err(|why| Box::new(why.at(g.span(op))))?;
        } else if let Some(conversion) = options.conversion(g.def(op)) {
            let bound = g.value_bound();
            let b = &mut Builder::before(g, op);
            let value = match conversion {
                Conversion::Always(lower) => lower(op, b).map(Some),
                Conversion::Known(lower) => lower(op, b),
            };
            let value = value.map_err(|why| {
                let mut found = why.at(g.span(op));
                let name = g.def(op).name;
                found.message = format!("lowering `{name}` failed: {}", found.message);
                Box::new(found)
            })?;
            let Some(value) = value else { continue };
            replace(g, op, value, value.index() >= bound);
            lowered += 1;
        }
    }
    Ok(lowered)
}
