//! In-place changes of a graph.

use super::Graph;
use crate::entity::{BlockId, OpId, UseId, ValueId};
use crate::opdef::OpDef;

impl Graph {
    /// Sets operand `index` of `op` to `value`.
    pub fn set_operand(&mut self, op: OpId, index: usize, value: ValueId) {
        let slot = self.slot(op, index);
        self.unlink(slot, self.operands(op)[index]);
        self.operands[slot.index()] = value;
        self.link(slot, value);
    }

    /// Swaps two operands of `op`.
    pub fn swap_operands(&mut self, op: OpId, a: usize, b: usize) {
        let (x, y) = (self.operands(op)[a], self.operands(op)[b]);
        self.set_operand(op, a, y);
        self.set_operand(op, b, x);
    }

    /// Replaces all operands of `op`. Their number may change.
    pub fn set_operands(&mut self, op: OpId, values: &[ValueId]) {
        self.drop_uses(op);
        self.add_operands(op, values);
    }

    /// Replaces every use of `old` by `new`.
    pub fn replace_all_uses(&mut self, old: ValueId, new: ValueId) {
        if old == new {
            return;
        }
        while let Some((user, index)) = self.uses(old).next() {
            self.set_operand(user, index, new);
        }
    }

    /// Removes `op` and the ops of its regions from the module. Their ids are not reused.
    ///
    /// # Panics
    ///
    /// If a result has uses.
    pub fn erase(&mut self, op: OpId) {
        for result in self.results(op) {
            assert!(self.uses(result).is_empty(), "an erased op has no readers");
        }
        for index in 0..self.regions(op).len() {
            let block = self.block(self.regions(op)[index]);
            while let Some(inner) = self.ops(block).next_back() {
                self.erase(inner);
            }
        }
        self.drop_uses(op);
        self.detach(op);
    }

    /// Moves `op` before `anchor`.
    pub fn move_before(&mut self, op: OpId, anchor: OpId) {
        if op == anchor {
            return;
        }
        self.detach(op);
        self.attach_before(op, anchor);
    }

    /// Replaces the table entry of `op`, which keeps its operands, attributes, results and regions. The new entry must
    /// have attributes of the same kinds in the same order, which is not checked.
    ///
    /// # Panics
    ///
    /// If the entries have different numbers of attributes or regions.
    pub fn set_def(&mut self, op: OpId, def: &'static OpDef) {
        let own = self.def(op);
        assert_eq!(
            (own.attrs.len(), own.regions),
            (def.attrs.len(), def.regions)
        );
        self.ops[op.index()].def = def;
    }

    /// Moves the ops of the body of `op`, which has one region, before `op` and erases it. Returns the moved ops and
    /// the values that replace the results of `op`. A replacement that the body defines takes the label and declared
    /// type of the result.
    pub fn inline(&mut self, op: OpId) -> (Vec<OpId>, Vec<ValueId>) {
        let block = self.block(self.regions(op)[0]);
        for (index, argument) in self.arguments(block).into_iter().enumerate() {
            let operand = self.operands(op)[index];
            self.replace_all_uses(argument, operand);
        }
        let end = self.terminator(block).expect("a verified body ends");
        let results: Vec<ValueId> = self.operands(end).to_vec();
        let ops: Vec<OpId> = self.ops(block).filter(|&inner| inner != end).collect();
        ops.iter().for_each(|&inner| self.move_before(inner, op));
        for (index, outer) in self.results(op).into_iter().enumerate() {
            let inner = results[index];
            let own = (self.defining_op(inner)).is_some_and(|op| ops.contains(&op));
            if own && !results[..index].contains(&inner) {
                let label = self.label(outer);
                self.set_label(inner, label);
                if let Some(declared) = self.declared(outer) {
                    self.declare(inner, declared);
                }
            }
            self.replace_all_uses(outer, inner);
        }
        self.erase(op);
        (ops, results)
    }

    /// Sets attribute `index` of `op`.
    ///
    /// # Panics
    ///
    /// If the op has fewer attributes. The kind of the value is not checked.
    pub fn set_attr(&mut self, op: OpId, index: usize, value: crate::attr::Attr<'_>) {
        assert!(index < self.attrs(op).len());
        let slot = self.ops[op.index()].first_attr as usize + index;
        self.attrs[slot] = self.store_attr(value);
    }

    /// Gives `op` new operand slots that read `values`. The old slots must not be linked.
    pub(super) fn add_operands(&mut self, op: OpId, values: &[ValueId]) {
        let data = &mut self.ops[op.index()];
        (data.first_use, data.operand_count) = (self.uses.len() as u32, values.len() as u32);
        self.push_operands(op, values);
    }

    /// Appends operand slots of `op` that read `values`. The first slot of `op` must be the end of the table.
    #[inline(always)]
    pub(super) fn push_operands(&mut self, op: OpId, values: &[ValueId]) {
        for &value in values {
            let slot = UseId::new(self.uses.len());
            let next = self.values[value.index()].first_use.replace(slot);
            if let Some(next) = next {
                self.uses[next.index()].prev = Some(slot);
            }
            self.operands.push(value);
            self.uses.push(super::UseData {
                user: op,
                prev: None,
                next,
            });
        }
    }

    fn drop_uses(&mut self, op: OpId) {
        for index in 0..self.operands(op).len() {
            self.unlink(self.slot(op, index), self.operands(op)[index]);
        }
    }

    fn link(&mut self, slot: UseId, value: ValueId) {
        let head = self.values[value.index()].first_use.replace(slot);
        self.uses[slot.index()].prev = None;
        self.uses[slot.index()].next = head;
        if let Some(head) = head {
            self.uses[head.index()].prev = Some(slot);
        }
    }

    fn unlink(&mut self, slot: UseId, value: ValueId) {
        let (prev, next) = (self.uses[slot.index()].prev, self.uses[slot.index()].next);
        match prev {
            Some(prev) => self.uses[prev.index()].next = next,
            None => self.values[value.index()].first_use = next,
        }
        if let Some(next) = next {
            self.uses[next.index()].prev = prev;
        }
    }

    fn attach_before(&mut self, op: OpId, anchor: OpId) {
        let block = self.parent(anchor).expect("an anchor is in a block");
        let prev = self.prev(anchor);
        let data = &mut self.ops[op.index()];
        (data.parent, data.prev, data.next) = (Some(block), prev, Some(anchor));
        self.link_neighbours(op, block, prev, Some(anchor));
    }

    /// Links the ops before and after `op`, or the ends of `block`, to it.
    #[inline(always)]
    pub(super) fn link_neighbours(
        &mut self,
        op: OpId,
        block: BlockId,
        prev: Option<OpId>,
        next: Option<OpId>,
    ) {
        match prev {
            Some(prev) => self.ops[prev.index()].next = Some(op),
            None => self.blocks[block.index()].first = Some(op),
        }
        match next {
            Some(next) => self.ops[next.index()].prev = Some(op),
            None => self.blocks[block.index()].last = Some(op),
        }
    }

    fn detach(&mut self, op: OpId) {
        let data = &mut self.ops[op.index()];
        let Some(block) = data.parent.take() else {
            return;
        };
        let (prev, next) = (data.prev.take(), data.next.take());
        match prev {
            Some(prev) => self.ops[prev.index()].next = next,
            None => self.blocks[block.index()].first = next,
        }
        match next {
            Some(next) => self.ops[next.index()].prev = prev,
            None => self.blocks[block.index()].last = prev,
        }
    }
}
