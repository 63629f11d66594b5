//! Imports conditionals and loops.
//!
//! Values that a MIL block captures become operands and arguments, because regions of core are closed.

use mind_core::ops::control::{If, While};
use mind_core::ops::shape::Reshape;
use mind_ir::attr::Attr;
use mind_ir::builder::Builder;
use mind_ir::graph::Graph;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::{BlockId, OpId, ValueId};

use crate::emit::Emit;
use crate::refuse::Refused;

type Several = Result<Vec<ValueId>, Box<Refused>>;

/// Imports `cond`: the first block if the predicate is true, else the second one.
pub(crate) fn cond(op: OpId, e: &mut Emit<'_>) -> Several {
    let predicate = e.argument(op, "pred")?;
    let predicate = e.reshape(predicate, &[])?;
    let captured = e.g().captures(op);
    let operands = [&[predicate], &captured[..]].concat();
    closed(op, e, If::DEF, &[], &operands, &captured)
}

/// Imports `while_loop`: the second block is repeated while the first one yields true.
pub(crate) fn while_loop(op: OpId, e: &mut Emit<'_>) -> Several {
    let variables = e.arguments(op, "loop_vars")?;
    let captured = e.g().captures(op);
    let operands = [&variables[..], &captured].concat();
    let attrs = While::attrs(variables.len() as i64);
    closed(op, e, While::DEF, &attrs, &operands, &captured)
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

/// Returns a core op with the blocks of `op`. The arguments for the values in `captured` come last.
fn closed(
    op: OpId,
    e: &mut Emit<'_>,
    def: &'static OpDef,
    attrs: &[Attr<'_>],
    operands: &[ValueId],
    captured: &[ValueId],
) -> Several {
    let results = e.g().results(op).len();
    let fill = |region: usize, b: &mut Builder<'_>, arguments: &[ValueId]| {
        let from = block(b.graph, op, region);
        let own = b.graph.arguments(from).into_iter();
        let outside = arguments.len() - captured.len();
        let is_last = region + 1 == def.regions;
        open_extents(b.graph, from, &arguments[..outside], is_last);
        let own = own.zip(&arguments[..outside]);
        let captures = captured.iter().zip(&arguments[outside..]);
        let values = own
            .map(|(old, &new)| (old, new))
            .chain(captures.map(|(&old, &new)| (old, new)));
        let mut yielded = b.copy_block(from, values.collect());
        let is_condition = std::ptr::eq(def, While::DEF as &OpDef) && region == 0;
        if let [go] = yielded[..]
            && is_condition
            && b.graph.ty(go).rank() != 0
        {
            // MIL accepts a single truth value of any rank.
            yielded[0] = Reshape::with(&[]).build(b, go)?;
        }
        Ok(yielded)
    };
    let new =
        e.b.create_with_bodies(def, operands, attrs, results, fill)?;
    Ok(e.g().results(new).into_iter().collect())
}
