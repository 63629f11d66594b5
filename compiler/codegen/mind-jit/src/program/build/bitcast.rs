//! Bitcasts.

use mind_ir::opdef::Op;
use mind_loops::ops::bitcast::Bitcast;
use mind_vir::program::{Step, Transfer};

use super::ProgramBuilder;
use crate::program::error::ProgramError;

impl ProgramBuilder<'_> {
    /// Copies the bytes unless the result shares the buffer of the operand, because elements are little-endian in
    /// memory.
    pub(super) fn bitcast(&mut self, op: Bitcast) -> Result<(), ProgramError> {
        let (g, input) = (self.g, op.input(self.g));
        self.check_dense(op.id(), &[input])?;
        let from = self.region(op.id(), input)?;
        let to = self.region(op.id(), op.result(g))?;
        if from != to {
            self.push(op.id(), Step::Transfer(Transfer { from, to }));
        }
        Ok(())
    }
}
