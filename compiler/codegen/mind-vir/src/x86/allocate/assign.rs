//! Assigns a register to each value at its definition.

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

/// Registers of values, and the allocations of operands.
pub(super) struct Assignment<'m> {
    machine: &'m Machine,
    liveness: &'m Liveness,
    spills: &'m Spills,
    /// The allocatable registers, and the preferred ones among them.
    usable: Pregs,
    preferred: Pregs,
    /// The register of each value, if it has one.
    places: Vec<Option<PReg>>,
    /// For coalescing: the value whose register each value should share.
    wishes: Vec<Option<VReg>>,
    /// Values with a use.
    read: VRegs,
    /// Live values at the current instruction, while last uses are computed.
    live: VRegs,
    /// The free registers.
    free: Pregs,
    /// The loops around the current block: their last blocks, and the registers of their parameters.
    loops: Vec<(Block, Pregs)>,
    /// The union of the latter, which other values should avoid because the next iteration's values are moved there.
    homes: Pregs,
    /// Whether each operand is the last use of its value, or a dead definition.
    dies: Vec<bool>,
    /// The register of each operand.
    pub allocs: Vec<Allocation>,
    /// Inserted moves, by program point.
    pub edits: Vec<(ProgPoint, Edit)>,
}

impl<'m> Assignment<'m> {
    /// Assigns registers of `usable`, preferably of `preferred`, to all values of `machine` that are not spilled;
    /// returns `None` if they do not suffice.
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

    /// Records the uses of a block, and its coalescing candidates: block arguments with parameters, and results with
    /// tied operands.
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

    /// Computes the last uses of a block.
    fn ends(&mut self, block: Block) {
        let machine = self.machine;
        self.live.copy_from(&self.liveness.at_end(block));
        for inst in machine.block_insns(block).iter().rev() {
            let operands = machine.inst_operands(inst);
            let dies = &mut self.dies[machine.first_operand(inst)..];
            for (operand, dies) in operands.iter().zip(dies) {
                // A spilled value is in a register only during an instruction that names it.
                let vreg = operand.vreg();
                *dies = self.spills.slot(vreg).is_some() || !self.live.contains(vreg);
            }
            step_back(operands, &mut self.live);
        }
    }

    /// Assigns registers to the parameters of a block, preferably those of their arguments. A dead parameter gets none.
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
                // The operand is copied before the instruction reads its other operands.
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

    /// Assigns the registers of uses; spilled values are reloaded into registers that die with the instruction.
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

    /// Assigns the register of a result, and stores it if it is spilled.
    fn write(&mut self, inst: Inst, vreg: VReg, place: PReg) {
        self.define(vreg, place);
        if let Some(slot) = self.spills.slot(vreg) {
            let (from, to) = (Allocation::reg(place), Allocation::stack(slot));
            self.edit(ProgPoint::after(inst), from, to);
        }
    }

    /// Picks a register for `vreg`: that of its coalescing candidate if it is free, else preferably one that is not the
    /// register of a loop parameter and is caller-saved.
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

    /// Emits the moves of block arguments to the parameters of the only successor.
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

/// Returns the uses of an instruction with their indices among all operands; `first` is the index of its first one.
fn uses(operands: &[Operand], first: usize) -> impl Iterator<Item = (&Operand, usize)> {
    let all = operands.iter().zip(first..);
    all.filter(|(own, _)| own.kind() == OperandKind::Use)
}

/// Returns the definitions of an instruction, as [`uses`] does.
fn defs(operands: &[Operand], first: usize) -> impl Iterator<Item = (&Operand, usize)> {
    let all = operands.iter().zip(first..);
    all.filter(|(own, _)| own.kind() == OperandKind::Def)
}
