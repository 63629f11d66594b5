//! Kernels in a row.

use mind_ir::ValueId;
use mind_ir::opdef::{Op, Trait};
use mind_loops::memory::{bytes, is_kernel};
use mind_loops::ops::block::Block;

use super::Unit;
use crate::program::error::ProgramError;

impl Unit<'_> {
    /// The kernels of a block, one after the other; what goes between them stands in the workspace.
    pub(super) fn block(&mut self, op: Block) -> Result<(), ProgramError> {
        let g = self.g;
        let body = op.body(g);
        for (argument, &operand) in g.arguments(body).into_iter().zip(op.inputs(g)) {
            self.layout.alias(g, argument, operand);
            if let Some(&panels) = self.panels.get(&operand) {
                self.panels.insert(argument, panels);
            }
        }
        let end = g
            .ops(body)
            .find(|&inner| g.def(inner).has(Trait::Terminator));
        let yielded: &[ValueId] = end.map_or(&[], |end| g.operands(end));
        for (&value, result) in yielded.iter().zip(g.results(op.id())) {
            self.layout.alias(g, value, result);
        }
        self.owner = Some(op.id());
        for inner in g.ops(body).filter(|&inner| is_kernel(g, inner)) {
            for value in g.results(inner) {
                self.layout.reserve_workspace(value, bytes(g, value));
            }
            self.kernel(inner)?;
        }
        self.owner = None;
        Ok(())
    }
}
