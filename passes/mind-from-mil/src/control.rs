//! Imports conditionals and loops.
//!
//! Values that a MIL block captures become operands and arguments, because regions of core are closed.

use mind_convert::{EmitCore, RegionOp};
use mind_core::ops::control::{If, While};
use mind_core::ops::shape::Reshape;
use mind_ir::graph::Graph;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::{BlockId, OpId, ValueId};

use crate::emit::{Emit, Many};

/// Imports `cond`: the first block if the predicate is true, else the second one.
pub(crate) fn cond(op: OpId, e: &mut Emit<'_>) -> Many {
    let predicate = e.argument(op, "pred")?;
    let predicate = e.reshape_to(predicate, &[])?;
    let captured = e.g().captures(op);
    let operands = [&[predicate], &captured[..]].concat();
    let new = RegionOp {
        def: If::DEF,
        attrs: &[],
        operands: &operands,
        results: e.g().results(op).len(),
    };
    closed(op, e, new, &captured)
}

/// Imports `while_loop`: the second block is repeated while the first one yields true.
pub(crate) fn while_loop(op: OpId, e: &mut Emit<'_>) -> Many {
    let variables = e.arguments(op, "loop_vars")?;
    let captured = e.g().captures(op);
    let operands = [&variables[..], &captured].concat();
    let attrs = While::attrs(variables.len() as i64);
    let new = RegionOp {
        def: While::DEF,
        attrs: &attrs,
        operands: &operands,
        results: e.g().results(op).len(),
    };
    closed(op, e, new, &captured)
}

fn block(g: &Graph, op: OpId, region: usize) -> BlockId {
    g.block(g.regions(op)[region])
}

/// Gives the arguments the unknown extents of the MIL block's arguments, because the loop changes these extents. Core
/// reads them from the arguments of the last region.
fn open_extents(g: &mut Graph, from: BlockId, arguments: &[ValueId], is_last: bool) {
    let olds: Vec<ValueId> = g.arguments(from).into_iter().collect();
    for (old, &new) in olds.into_iter().zip(arguments) {
        let (Some(wanted), Some(own)) = (g.type_id(old), g.type_id(new)) else {
            continue;
        };
        if wanted != own && g.ty(new).meet(g.ty(old)).is_some() {
            g.set_type(new, wanted);
            if is_last {
                g.declare(new, wanted);
            }
        }
    }
}

/// Emits `new` with the blocks of `op`, whose arguments come first; those for `captured` come last.
fn closed(op: OpId, e: &mut Emit<'_>, new: RegionOp<'_>, captured: &[ValueId]) -> Many {
    let is_loop = std::ptr::eq(new.def, While::DEF as &OpDef);
    new.create(&mut e.b, |region, b, arguments| {
        let from = block(b.graph, op, region);
        let own = b.graph.arguments(from).into_iter();
        let outside = arguments.len() - captured.len();
        let is_last = region + 1 == new.def.regions;
        open_extents(b.graph, from, &arguments[..outside], is_last);
        let own = own.zip(&arguments[..outside]);
        let captures = captured.iter().zip(&arguments[outside..]);
        let values = own
            .map(|(old, &new)| (old, new))
            .chain(captures.map(|(&old, &new)| (old, new)));
        let mut yielded = b.copy_block(from, values.collect());
        if let [go] = yielded[..]
            && is_loop
            && region == 0
            && b.graph.ty(go).rank() != 0
        {
            // MIL accepts a single truth value of any rank.
            yielded[0] = Reshape::with(&[]).build(b, go)?;
        }
        Ok(yielded)
    })
}
