//! The worklist of the greedy driver.

use mind_ir::OpId;

/// A stack of ops without duplicates.
#[derive(Default)]
pub(crate) struct Worklist {
    stack: Vec<OpId>,
    queued: Vec<bool>,
}

impl Worklist {
    pub(crate) fn push(&mut self, op: OpId) {
        if self.queued.len() <= op.index() {
            self.queued.resize(op.index() + 1, false);
        }
        if !std::mem::replace(&mut self.queued[op.index()], true) {
            self.stack.push(op);
        }
    }

    pub(crate) fn extend(&mut self, ops: impl IntoIterator<Item = OpId>) {
        ops.into_iter().for_each(|op| self.push(op));
    }

    pub(crate) fn pop(&mut self) -> Option<OpId> {
        let op = self.stack.pop()?;
        self.queued[op.index()] = false;
        Some(op)
    }
}
