//! Vectors that are computed only if some lane needs them.

use regalloc2::{Operand, VReg};

use crate::ir::{IfAny, Merged};

use super::super::machine::{Node, Test};
use super::Select;

impl Select<'_> {
    /// Branches around the body if no lane of the mask is set.
    ///
    /// Critical edges are split, because the allocator places its moves on edges.
    pub(super) fn if_any(&mut self, node: &IfAny) {
        let merged = node.merged.iter().copied();
        let merged: Vec<Merged> = merged
            .filter(|merged| self.uses.count(merged.result) > 0)
            .collect();
        if merged.is_empty() {
            return;
        }
        let mask = self.reg(node.mask);
        let otherwise: Vec<VReg> = (merged.iter())
            .map(|merged| self.reg(merged.otherwise))
            .collect();
        let lanes = self.function.lanes();
        let test = Node::Branch(Test::AnyLane(lanes));
        self.machine.push(test, &[Operand::reg_use(mask)]);
        let (guard, tails) = (self.block, self.tails.len());

        let was_rare = std::mem::replace(&mut self.machine.is_rare, true);
        let body = self.machine.new_block(&[]);
        self.machine.open(body);
        self.block = body;
        self.depth += 1;
        self.statements(&node.body);
        let computed: Vec<VReg> = (merged.iter())
            .map(|merged| {
                self.choose(merged.result, node.mask, merged.computed, merged.otherwise);
                self.reg(merged.result)
            })
            .collect();
        self.depth -= 1;
        self.tails.truncate(tails);
        let end = self.block;
        self.machine.is_rare = was_rare;

        let pass = self.machine.new_block(&[]);
        let results: Vec<VReg> = (merged.iter())
            .map(|merged| self.define(merged.result))
            .collect();
        let exit = self.machine.new_block(&results);
        self.machine.end(end, Node::Jump, &[], &[(exit, &computed)]);
        self.machine.link(guard, &[(body, &[]), (pass, &[])]);
        self.machine.open(pass);
        self.machine
            .end(pass, Node::Jump, &[], &[(exit, &otherwise)]);
        self.machine.open(exit);
        self.block = exit;
        self.uses.spend(node.mask);
        for merged in &merged {
            self.uses.spend(merged.otherwise);
            self.uses.spend(merged.computed);
        }
    }
}
