//! Blocks that run on a condition, and again and again.
//!
//! What a block of MIL reads from outside becomes an operand and an argument, since regions of core are closed.

use mind_convert::{EmitCore, Refusal, RegionOp};
use mind_core::ops::control::{If, While};
use mind_core::ops::shape::Reshape;
use mind_ir::graph::Graph;
use mind_ir::opdef::{Op, OpDef};
use mind_ir::{BlockId, OpId, ValueId};

use crate::emit::{Emit, Many};

/// The first block where the predicate is true, else the second.
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

/// The second block over the variables, while the first one yields true.
pub(crate) fn while_loop(op: OpId, e: &mut Emit<'_>) -> Many {
    let variables = e.arguments(op, "loop_vars")?;
    let body = block(e.g(), op, 1);
    for (&variable, argument) in variables.iter().zip(e.g().arguments(body)) {
        if e.g().type_id(variable) != e.g().type_id(argument) {
            let (found, wanted) = (e.g().type_text(variable), e.g().type_text(argument));
            return Err(Refusal::declared("a loop variable", found, wanted));
        }
    }
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

/// Emits `new` with the blocks of `op`, whose arguments come first; those for `captured` come last.
fn closed(op: OpId, e: &mut Emit<'_>, new: RegionOp<'_>, captured: &[ValueId]) -> Many {
    let is_loop = std::ptr::eq(new.def, While::DEF as &OpDef);
    new.create(&mut e.b, |region, b, arguments| {
        let from = block(b.graph, op, region);
        let own = b.graph.arguments(from).into_iter();
        let outside = arguments.len() - captured.len();
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
            // MIL takes one truth value of any rank.
            yielded[0] = Reshape::with(&[]).build(b, go)?;
        }
        Ok(yielded)
    })
}
