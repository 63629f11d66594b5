//! Lowers regions to MIL blocks, which may read values of the enclosing blocks.

use mind_convert::Refusal;
use mind_core::ops::control::{If, While, block};
use mind_diag::Span;
use mind_ir::builder::Builder;
use mind_ir::builtin::Yield;
use mind_ir::graph::{Graph, InsertPoint, NewOp};
use mind_ir::opdef::Op;
use mind_ir::types::{Dim, Shape, TensorType};
use mind_ir::verify::infer_op;
use mind_ir::{BlockId, OpId, Ty, ValueId};
use mind_mil::ops::control::{COND, WHILE_LOOP};
use mind_mil::ops::movement::SQUEEZE;
use mind_mil::{Attributes, MilOp};

/// A MIL op with blocks whose regions are still to be lowered.
pub(crate) struct Opened {
    row: &'static MilOp,
    /// The operands of the new op.
    operands: Vec<ValueId>,
    /// The number of arguments of each block.
    carried: usize,
}

/// Returns the MIL op for an op with closed regions; `None` if MIL does not have one.
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
    /// Inserts the MIL op before `anchor`, with loop variables as block arguments. The ops in the regions of `op` stay
    /// there until they are lowered, and now read these arguments and the captured outer values.
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
        // The predicate is not passed to the blocks.
        let inputs = g.operands(op)[self.operands.len() - self.carried..].to_vec();
        for region in 0..self.row.def.regions {
            let (from, to) = (block(g, op, region), block(g, new, region));
            let variables = g.add_arguments(to, self.carried);
            let types: Vec<Ty> = (0..self.carried)
                .map(|at| self.variable_type(g, op, at))
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

impl Opened {
    /// Returns the type of a loop variable: that of its initial value, with extents unknown that are unknown in the
    /// regions of `op`.
    fn variable_type(&self, g: &mut Graph, op: OpId, at: usize) -> Ty {
        let first = self.operands[at];
        let declared = g.arguments(block(g, op, 1)).get(at);
        let (ty, open) = (g.ty(first), g.ty(declared).shape);
        if ty.rank() != open.len() {
            return g.type_id(first).expect("a lowered value has a type");
        }
        let dims = ty.shape.iter().zip(open);
        let shape: Shape = dims
            .map(|(&dim, open)| match open {
                Dim::Fixed(_) => dim,
                Dim::Symbol(_) | Dim::Dynamic => Dim::Dynamic,
            })
            .collect();
        let ty = TensorType::new(ty.dtype, shape);
        g.intern_type(ty.view())
    }
}

/// Moves the lowered ops from the regions of `op` to the blocks of `new`, and infers the result types of `new`.
///
/// # Errors
///
/// If a block yields values that MIL does not accept.
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

/// Removes a `squeeze` of the yielded condition, because MIL takes a truth value of any rank.
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
