//! A register for each value, where it is defined.

use std::ops::BitOr as _;

use regalloc2::{
    Allocation, Block, Edit, Function as _, Inst, Operand, OperandConstraint, OperandKind,
    OperandPos, PReg, ProgPoint, RegClass, VReg,
};
use smallvec::SmallVec;

use super::super::machine::Machine;
use super::liveness::{Liveness, VRegs, step_back};
use super::moves::{Move, in_order};
use super::pregs::Pregs;
use super::spills::Spills;

/// Registers of values, and what follows for instructions.
pub(super) struct Assignment<'m> {
    machine: &'m Machine,
    liveness: &'m Liveness,
    spills: &'m Spills,
    /// The registers to assign, and those of them that are taken first.
    usable: Pregs,
    preferred: Pregs,
    /// The register of each value that has one.
    places: Vec<Option<PReg>>,
    /// The value whose register each value had best share, since one becomes the other.
    wishes: Vec<Option<VReg>>,
    /// The values that something reads.
    read: VRegs,
    /// What lives at the instruction at hand, while the last reads of a block are found.
    live: VRegs,
    /// The registers that no value holds.
    free: Pregs,
    /// The loops around the block at hand: their last blocks, and the registers of their parameters.
    loops: Vec<(Block, Pregs)>,
    /// The registers of the parameters of all of them, which others are to leave for what the parameters become.
    homes: Pregs,
    /// Whether each operand is the last to read its value, or a result that nothing reads.
    dies: Vec<bool>,
    /// The register of each operand.
    pub allocs: Vec<Allocation>,
    /// Moves, by where they stand.
    pub edits: Vec<(ProgPoint, Edit)>,
}

impl<'m> Assignment<'m> {
    /// Registers among `usable`, rather among `preferred`, of all values of `machine` that are not spilled; `None` where
    /// these do not suffice.
    pub fn of(
        machine: &'m Machine,
        (usable, preferred): (Pregs, Pregs),
        liveness: &'m Liveness,
        spills: &'m Spills,
    ) -> Option<Assignment<'m>> {
        let mut assignment = Assignment {
            machine,
            liveness,
            spills,
            usable,
            preferred,
            places: vec![None; machine.num_vregs()],
            wishes: vec![None; machine.num_vregs()],
            read: VRegs::none(machine.num_vregs()),
            live: VRegs::none(machine.num_vregs()),
            free: Pregs::default(),
            loops: Vec::new(),
            homes: Pregs::default(),
            dies: vec![false; machine.num_operands()],
            allocs: vec![Allocation::none(); machine.num_operands()],
            edits: Vec::new(),
        };
        let blocks = || (0..machine.num_blocks()).map(Block::new);
        blocks().rev().for_each(|block| assignment.wish(block));
        for block in blocks() {
            assignment.block(block)?;
        }
        for block in blocks() {
            assignment.edges(block)?;
        }
        assignment.edits.sort_by_key(|&(point, _)| point);
        Some(assignment)
    }

    /// Notes what a block reads, and what its values become: parameters of the next block, and results that replace
    /// operands.
    fn wish(&mut self, block: Block) {
        let machine = self.machine;
        for (nth, &succ) in machine.block_succs(block).iter().enumerate() {
            let params = machine.block_params(succ);
            for (&arg, &param) in machine.args(block, nth).iter().zip(params) {
                self.wishes[arg.vreg()] = Some(param);
                self.read.add(arg);
            }
        }
        for inst in machine.block_insns(block).iter().rev() {
            let operands = machine.inst_operands(inst);
            for operand in operands {
                if operand.kind() == OperandKind::Use {
                    self.read.add(operand.vreg());
                }
                if let OperandConstraint::Reuse(input) = operand.constraint() {
                    let wish = self.wishes[operand.vreg().vreg()];
                    let own = &mut self.wishes[operands[input].vreg().vreg()];
                    *own = own.or(wish);
                }
            }
        }
    }

    fn block(&mut self, block: Block) -> Option<()> {
        let (machine, liveness) = (self.machine, self.liveness);
        self.loops.retain(|&(last, _)| block <= last);
        let homes = self.loops.iter().map(|&(_, homes)| homes);
        self.homes = homes.fold(Pregs::default(), Pregs::bitor);
        self.free = self.usable;
        for number in liveness.at_start(block).numbers() {
            self.free.remove(self.places[number]?);
        }
        self.ends(block);
        self.parameters(block)?;
        for inst in machine.block_insns(block).iter() {
            self.inst(inst)?;
        }
        Some(())
    }

    /// Finds the last reads of a block.
    fn ends(&mut self, block: Block) {
        let machine = self.machine;
        self.live.copy_from(&self.liveness.at_end(block));
        for inst in machine.block_insns(block).iter().rev() {
            let operands = machine.inst_operands(inst);
            let dies = &mut self.dies[machine.first_operand(inst)..];
            for (operand, dies) in operands.iter().zip(dies) {
                // What lives on the stack is in a register only while an instruction names it.
                let vreg = operand.vreg();
                *dies = self.spills.slot(vreg).is_some() || !self.live.contains(vreg);
            }
            step_back(operands, &mut self.live);
        }
    }

    /// Gives the parameters of a block registers, those of values that become them where these are free. A parameter
    /// that nothing reads has none.
    fn parameters(&mut self, block: Block) -> Option<()> {
        let machine = self.machine;
        let mut own = Pregs::default();
        for (at, &param) in machine.block_params(block).iter().enumerate() {
            if self.spills.slot(param).is_some() || !self.read.contains(param) {
                continue;
            }
            let given = machine.block_preds(block).iter().find_map(|&pred| {
                let nth = machine
                    .block_succs(pred)
                    .iter()
                    .position(|&succ| succ == block)?;
                let place = self.places[machine.args(pred, nth)[at].vreg()]?;
                self.free.contains(place).then_some(place)
            });
            let place = match given {
                Some(place) => place,
                None => self.pick(param, self.free)?,
            };
            self.define(param, place);
            own.add(place);
        }
        if let Some(last) = machine.last_of_loop(block) {
            self.loops.push((last, own));
            self.homes = self.homes | own;
        }
        Some(())
    }

    fn inst(&mut self, inst: Inst) -> Option<()> {
        let machine = self.machine;
        let operands = machine.inst_operands(inst);
        let first = machine.first_operand(inst);
        self.reads(inst, operands, first)?;
        let before = self.free;
        for (own, at) in uses(operands, first) {
            let stays = || {
                uses(operands, first).any(|(other, _)| other.vreg() == own.vreg() && is_late(other))
            };
            if self.dies[at] && !stays() {
                self.release(own.vreg());
            }
        }
        for (own, at) in defs(operands, first) {
            let OperandConstraint::Reuse(input) = own.constraint() else {
                continue;
            };
            let from = self.allocs[first + input].as_reg()?;
            let to = match self.free.contains(from) {
                true => from,
                // The operand is copied while the instruction's other operands are still to be read.
                false => {
                    let to = self.pick(own.vreg(), before & self.free)?;
                    self.edit(
                        ProgPoint::before(inst),
                        Allocation::reg(from),
                        Allocation::reg(to),
                    );
                    self.allocs[first + input] = Allocation::reg(to);
                    to
                }
            };
            self.write(inst, own.vreg(), to);
            self.allocs[at] = Allocation::reg(to);
        }
        for (own, at) in defs(operands, first) {
            let among = if is_late(own) {
                self.free
            } else {
                before & self.free
            };
            let to = match own.constraint() {
                OperandConstraint::Reuse(_) => continue,
                OperandConstraint::Reg => self.pick(own.vreg(), among)?,
                OperandConstraint::FixedReg(preg) => among.contains(preg).then_some(preg)?,
                OperandConstraint::Any | OperandConstraint::Stack | OperandConstraint::Limit(_) => {
                    return None;
                }
            };
            self.write(inst, own.vreg(), to);
            self.allocs[at] = Allocation::reg(to);
        }
        let late = uses(operands, first).filter(|(own, _)| is_late(own));
        for (own, at) in late.chain(defs(operands, first)) {
            if self.dies[at] {
                self.release(own.vreg());
            }
        }
        Some(())
    }

    /// The registers of what an instruction reads; what is on the stack is loaded into others, that die with it.
    fn reads(&mut self, inst: Inst, operands: &[Operand], first: usize) -> Option<()> {
        for (own, at) in uses(operands, first) {
            let vreg = own.vreg();
            if own.constraint() != OperandConstraint::Reg {
                return None;
            }
            if let Some(slot) = self.spills.slot(vreg) {
                let mut earlier = uses(operands, first).take_while(|&(_, other)| other < at);
                if !earlier.any(|(other, _)| other.vreg() == vreg) {
                    let place = self.pick(vreg, self.free)?;
                    self.define(vreg, place);
                    let (from, to) = (Allocation::stack(slot), Allocation::reg(place));
                    self.edit(ProgPoint::before(inst), from, to);
                }
            }
            self.allocs[at] = Allocation::reg(self.places[vreg.vreg()]?);
        }
        Some(())
    }

    /// Gives a result its register, and stores it where it lives on the stack.
    fn write(&mut self, inst: Inst, vreg: VReg, place: PReg) {
        self.define(vreg, place);
        if let Some(slot) = self.spills.slot(vreg) {
            let (from, to) = (Allocation::reg(place), Allocation::stack(slot));
            self.edit(ProgPoint::after(inst), from, to);
        }
    }

    /// A register among some for `vreg`: that of the value that it becomes if it can be, else rather one that no loop
    /// needs for its parameters, and one that need not be saved.
    fn pick(&self, vreg: VReg, among: Pregs) -> Option<PReg> {
        let wish = self.wishes[vreg.vreg()].and_then(|other| self.places[other.vreg()]);
        if let Some(wish) = wish.filter(|&wish| among.contains(wish)) {
            return Some(wish);
        }
        let others = among.without(self.homes);
        let class = vreg.class();
        [
            others & self.preferred,
            others,
            among & self.preferred,
            among,
        ]
        .into_iter()
        .find_map(|pregs| pregs.first(class))
    }

    fn define(&mut self, vreg: VReg, place: PReg) {
        self.free.remove(place);
        self.places[vreg.vreg()] = Some(place);
    }

    fn release(&mut self, vreg: VReg) {
        if let Some(place) = self.places[vreg.vreg()] {
            self.free.add(place);
        }
    }

    fn edit(&mut self, at: ProgPoint, from: Allocation, to: Allocation) {
        self.edits.push((at, Edit::Move { from, to }));
    }

    /// Moves what a block gives to the parameters of its only successor.
    fn edges(&mut self, block: Block) -> Option<()> {
        let machine = self.machine;
        let [succ] = *machine.block_succs(block) else {
            return Some(());
        };
        let place = |vreg: VReg| match self.spills.slot(vreg) {
            Some(slot) => Some(Allocation::stack(slot)),
            None => self.places[vreg.vreg()].map(Allocation::reg),
        };
        let pairs = machine
            .args(block, 0)
            .iter()
            .zip(machine.block_params(succ));
        let moves = pairs.filter_map(|(&arg, &param)| Some((place(arg)?, place(param)?)));
        let moves: SmallVec<[Move; 8]> = moves.collect();
        let spare = |class: RegClass, nth: usize| {
            let live = self.liveness.at_end(block);
            let held = live.numbers().filter_map(|number| self.places[number]);
            let ends = moves.iter().filter_map(|(_, to)| to.as_reg());
            let mut spare = self.usable;
            held.chain(ends).for_each(|preg| spare.remove(preg));
            spare.all(class).nth(nth)
        };
        let end = ProgPoint::before(machine.block_insns(block).last());
        for (from, to) in in_order(&moves, spare)? {
            self.edit(end, from, to);
        }
        Some(())
    }
}

fn is_late(operand: &Operand) -> bool {
    operand.pos() == OperandPos::Late
}

/// What an instruction reads, each with its number among the operands of all, whose first is `first`.
fn uses(operands: &[Operand], first: usize) -> impl Iterator<Item = (&Operand, usize)> {
    let all = operands.iter().zip(first..);
    all.filter(|(own, _)| own.kind() == OperandKind::Use)
}

/// What an instruction writes, as [`uses`].
fn defs(operands: &[Operand], first: usize) -> impl Iterator<Item = (&Operand, usize)> {
    let all = operands.iter().zip(first..);
    all.filter(|(own, _)| own.kind() == OperandKind::Def)
}
