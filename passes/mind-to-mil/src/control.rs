//! Regions as blocks of MIL, which read what comes from outside where it stands.

use mind_convert::Refusal;
use mind_core::ops::control::{If, While, block};
use mind_diag::Span;
use mind_ir::builder::Builder;
use mind_ir::builtin::Yield;
use mind_ir::graph::{Graph, InsertPoint, NewOp};
use mind_ir::opdef::Op;
use mind_ir::verify::infer_op;
use mind_ir::{BlockId, OpId, Ty, ValueId};
use mind_mil::ops::control::{COND, WHILE_LOOP};
use mind_mil::ops::movement::SQUEEZE;
use mind_mil::{Attributes, MilOp};

/// An op of MIL with blocks that has no results yet, and for each region of the op of core what its block is.
pub(crate) struct Opened {
    row: &'static MilOp,
    /// The operands of the new op.
    operands: Vec<ValueId>,
    /// How many arguments each block has.
    carried: usize,
}

/// What an op with closed regions becomes; `None` for one that MIL has not.
pub(crate) fn opened(g: &Graph, op: OpId) -> Option<Opened> {
    if let Some(own) = g.view::<If>(op) {
        return Some(Opened {
            row: &COND,
            operands: vec![own.predicate(g)],
            carried: 0,
        });
    }
    let own = g.view::<While>(op)?;
    Some(Opened {
        row: &WHILE_LOOP,
        operands: own.initial(g).to_vec(),
        carried: own.initial(g).len(),
    })
}

impl Opened {
    /// Puts the op before `anchor`, with blocks that have its variables as arguments; the ops in the regions of `op`, which
    /// stay there, read these and what stands outside.
    pub(crate) fn place(&self, g: &mut Graph, op: OpId, anchor: OpId) -> OpId {
        let results = g.results(op).len();
        let mut segments = vec![0i64; self.row.params.len()];
        segments[0] = self.operands.len() as i64;
        let unnamed = g.intern("");
        let new = NewOp {
            def: &self.row.def,
            operands: &self.operands,
            attrs: &Attributes::list(&segments, [unnamed; 2]),
            results,
            span: g.span(op),
        };
        let new = g.insert(InsertPoint::Before(anchor), new);
        // The predicate is none of the arguments.
        let inputs = g.operands(op)[self.operands.len() - self.carried..].to_vec();
        for region in 0..self.row.def.regions {
            let (from, to) = (block(g, op, region), block(g, new, region));
            let variables = g.add_arguments(to, self.carried);
            let types: Vec<Ty> = self.operands[..self.carried]
                .iter()
                .map(|&own| g.type_id(own).expect("a lowered value has a type"))
                .collect();
            for (variable, ty) in variables.into_iter().zip(types) {
                g.set_type(variable, ty);
                g.declare(variable, ty);
            }
            for (at, argument) in g.arguments(from).into_iter().enumerate() {
                let outer = if at < self.carried {
                    g.arguments(to).get(at)
                } else {
                    inputs[at]
                };
                g.replace_all_uses(argument, outer);
            }
        }
        new
    }
}

/// Moves the ops of the regions of `op`, which have been lowered, to the blocks of `new`, whose results get their types.
///
/// # Errors
///
/// Blocks that do not yield what MIL takes.
pub(crate) fn fill(g: &mut Graph, op: OpId, new: OpId) -> Result<(), Refusal> {
    for region in 0..g.regions(op).len() {
        move_ops(g, block(g, op, region), block(g, new, region));
    }
    if std::ptr::eq(g.def(new), &raw const WHILE_LOOP.def) {
        let condition = block(g, new, 0);
        unsqueeze(g, condition);
    }
    let types = infer_op(g, new)?;
    g.set_types(new, &types);
    Ok(())
}

/// Makes a condition yield a list of one truth value as it is: MIL takes it of any rank.
fn unsqueeze(g: &mut Graph, condition: BlockId) {
    let Some(end) = g.terminator(condition) else {
        return;
    };
    let squeeze = g.defining_op(g.operands(end)[0]);
    if let Some(squeeze) = squeeze.filter(|&op| g.def(op).short_name() == SQUEEZE.name) {
        let list = g.operands(squeeze)[0];
        g.set_operand(end, 0, list);
    }
}

/// Moves the ops of a block to the end of another one.
fn move_ops(g: &mut Graph, from: BlockId, to: BlockId) {
    let ops: Vec<OpId> = g.ops(from).collect();
    let mut b = Builder::new(g, InsertPoint::End(to), Span::FILE);
    let anchor = b.create_typed(Yield::DEF, &[], &[], &[]);
    for op in ops {
        g.move_before(op, anchor);
    }
    g.erase(anchor);
}
