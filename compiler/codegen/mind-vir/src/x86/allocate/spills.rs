//! Chooses general values to spill if there are too few registers.
//!
//! A spilled value is stored at its definition and reloaded at each use. Values with few uses for the length of their
//! live range are preferred; uses in an innermost loop are spilled only if the loop alone needs more registers than
//! there are.

use regalloc2::{
    Block, Function as _, Inst, Operand, OperandConstraint, OperandKind, OperandPos, RegClass,
    SpillSlot, VReg,
};

use super::super::machine::Machine;
use super::liveness::{Liveness, VRegs};

/// Assumed trip count of a loop, for spill weights.
const ROUNDS: u64 = 8;

/// The spilled values.
#[derive(Debug)]
pub(super) struct Spills {
    slots: Vec<Option<SpillSlot>>,
    /// The number of stack slots.
    pub count: usize,
}

impl Spills {
    /// Spills enough values that at most `limit` general ones are in registers at any point, and removes them from
    /// `liveness`. Returns `None` if an instruction needs more registers.
    pub fn of(machine: &Machine, limit: usize, liveness: &mut Liveness) -> Option<Spills> {
        let mut choice = Choice::of(machine, limit);
        let mut blocks = (0..machine.num_blocks()).map(Block::new);
        if blocks.all(|block| choice.fits(block, liveness)) {
            return Some(choice.spills);
        }
        let loops = Loops::of(machine);
        choice.weigh(&loops);
        let mut order: Vec<usize> = (0..machine.num_blocks()).collect();
        // Inner loops first, because their spills reduce the pressure of the enclosing code.
        order.sort_by_key(|&block| std::cmp::Reverse(loops.depths[block]));
        for block in order {
            choice.block(Block::new(block), liveness)?;
        }
        liveness.forget(&choice.spilled);
        Some(choice.spills)
    }

    /// Returns the stack slot of `vreg`, if it is spilled.
    pub fn slot(&self, vreg: VReg) -> Option<SpillSlot> {
        self.slots[vreg.vreg()]
    }
}

/// The loop nest of each block.
struct Loops {
    /// Nesting depths.
    depths: Vec<u32>,
    /// Whether the innermost loop around the block contains no other loop.
    is_innermost: Vec<bool>,
}

impl Loops {
    fn of(machine: &Machine) -> Loops {
        let count = machine.num_blocks();
        let (mut depths, mut is_innermost) = (vec![0; count], vec![false; count]);
        for header in 0..count {
            let Some(last) = machine.last_of_loop(Block::new(header)) else {
                continue;
            };
            let blocks = header..=last.index();
            depths[blocks.clone()]
                .iter_mut()
                .for_each(|depth| *depth += 1);
            let mut inner = (header + 1..=last.index()).map(Block::new);
            let has_inner = inner.any(|block| machine.last_of_loop(block).is_some());
            is_innermost[blocks].fill(!has_inner);
        }
        Loops {
            depths,
            is_innermost,
        }
    }
}

/// Properties of a value's live range.
#[derive(Clone, Copy, Default)]
struct Life {
    /// Number of reads and writes, weighted with a trip count of [`ROUNDS`] for each loop.
    accesses: u64,
    /// Length from the first to the last instruction that names it.
    length: u64,
    start: Option<usize>,
    /// Whether an innermost loop reads or writes it.
    is_hot: bool,
}

/// State of the selection.
struct Choice<'m> {
    machine: &'m Machine,
    limit: usize,
    lives: Vec<Life>,
    /// The general values.
    general: VRegs,
    /// Live values at the current instruction.
    live: VRegs,
    spilled: VRegs,
    spills: Spills,
}

impl<'m> Choice<'m> {
    /// Returns the initial state, without spills and weights.
    fn of(machine: &'m Machine, limit: usize) -> Choice<'m> {
        let count = machine.num_vregs();
        let mut general = VRegs::none(count);
        for (number, &class) in machine.classes().iter().enumerate() {
            if class == RegClass::Int {
                general.add(VReg::new(number, class));
            }
        }
        Choice {
            machine,
            limit,
            lives: Vec::new(),
            general,
            live: VRegs::none(count),
            spilled: VRegs::none(count),
            spills: Spills {
                slots: vec![None; count],
                count: 0,
            },
        }
    }

    /// Computes the properties of each value.
    fn weigh(&mut self, loops: &Loops) {
        let machine = self.machine;
        self.lives = vec![Life::default(); machine.num_vregs()];
        for block in (0..machine.num_blocks()).map(Block::new) {
            let depth = loops.depths[block.index()];
            let is_hot = loops.is_innermost[block.index()];
            let weight = ROUNDS.saturating_pow(depth);
            let range = machine.block_insns(block);
            for &param in machine.block_params(block) {
                self.access(param, range.first(), weight, is_hot);
            }
            for inst in range.iter() {
                for operand in machine.inst_operands(inst) {
                    self.access(operand.vreg(), inst, weight, is_hot);
                }
            }
            for succ in 0..machine.block_succs(block).len() {
                for &arg in machine.args(block, succ) {
                    self.access(arg, range.last(), weight, is_hot);
                }
            }
        }
    }

    fn access(&mut self, vreg: VReg, inst: Inst, weight: u64, is_hot: bool) {
        let life = &mut self.lives[vreg.vreg()];
        let start = *life.start.get_or_insert(inst.index());
        life.accesses = life.accesses.saturating_add(weight);
        life.length = (inst.index() - start) as u64;
        life.is_hot |= is_hot;
    }

    /// Returns whether the instructions of a block have enough registers.
    fn fits(&mut self, block: Block, liveness: &Liveness) -> bool {
        let machine = self.machine;
        let mut held = self.at_end(block, liveness);
        for inst in machine.block_insns(block).iter().rev() {
            let operands = machine.inst_operands(inst);
            if self.lacks_registers(operands, held) {
                return false;
            }
            held = self.step_back(operands, held);
        }
        true
    }

    /// Spills values until the instructions of a block have enough registers.
    fn block(&mut self, block: Block, liveness: &Liveness) -> Option<()> {
        let machine = self.machine;
        let mut held = self.at_end(block, liveness);
        for inst in machine.block_insns(block).iter().rev() {
            let operands = machine.inst_operands(inst);
            while self.lacks_registers(operands, held) {
                let victim = self.victim(operands)?;
                self.spill(victim);
                self.live.remove(victim);
                held -= 1;
            }
            held = self.step_back(operands, held);
        }
        Some(())
    }

    /// Sets the live values to those at the end of a block, and returns the number of general ones in registers.
    fn at_end(&mut self, block: Block, liveness: &Liveness) -> usize {
        self.live.copy_from(&liveness.at_end(block));
        self.live.remove_all(&self.spilled);
        self.live.count_within(&self.general)
    }

    /// Updates the live values from after an instruction to before it. `held` general values are live in registers
    /// after it; returns their number before it.
    fn step_back(&mut self, operands: &[Operand], mut held: usize) -> usize {
        for operand in operands {
            let vreg = operand.vreg();
            let weight = usize::from(vreg.class() == RegClass::Int);
            match operand.kind() {
                OperandKind::Def if self.live.contains(vreg) => {
                    self.live.remove(vreg);
                    held -= weight;
                }
                OperandKind::Use if !self.live.contains(vreg) && !self.spilled.contains(vreg) => {
                    self.live.add(vreg);
                    held += weight;
                }
                OperandKind::Def | OperandKind::Use => {}
            }
        }
        held
    }

    /// Returns whether an instruction needs more general registers than there are, if `held` general values are live
    /// after it.
    fn lacks_registers(&self, operands: &[Operand], held: usize) -> bool {
        let always_fits = self.limit.saturating_sub(operands.len());
        held > always_fits && self.needed(operands, held) > self.limit
    }

    /// Returns the number of general registers that an instruction needs, if `held` general values are live after it.
    fn needed(&self, operands: &[Operand], held: usize) -> usize {
        let live = &self.live;
        let (mut after, mut before) = (held, held);
        for (at, own) in operands.iter().enumerate() {
            if own.class() != RegClass::Int {
                continue;
            }
            let is_repeated = |counts: &dyn Fn(&Operand) -> bool| {
                let mut earlier = operands[..at].iter().filter(|other| counts(other));
                earlier.any(|other| other.vreg() == own.vreg())
            };
            let is_written = own.kind() == OperandKind::Def;
            if live.contains(own.vreg()) {
                before -= usize::from(is_written);
            } else {
                let stays =
                    |own: &Operand| own.kind() == OperandKind::Def || own.pos() == OperandPos::Late;
                after += usize::from(stays(own) && !is_repeated(&stays));
                let is_read = |own: &Operand| own.kind() == OperandKind::Use;
                before += usize::from(!is_written && !is_repeated(&is_read));
            }
            // The tied operand is live after the instruction, so it is copied.
            if let (true, OperandConstraint::Reuse(input)) = (is_written, own.constraint()) {
                before += usize::from(live.contains(operands[input].vreg()));
            }
        }
        after.max(before)
    }

    /// Returns the value to spill at an instruction, which must not name it; `None` if it names all.
    fn victim(&self, operands: &[Operand]) -> Option<VReg> {
        let mut best: Option<(VReg, Life)> = None;
        for number in self.live.numbers() {
            let vreg = VReg::new(number, RegClass::Int);
            let life = self.lives[number];
            let is_named = operands.iter().any(|own| own.vreg().vreg() == number);
            if !self.general.contains(vreg) || is_named {
                continue;
            }
            let is_better = |(_, best): &(VReg, Life)| {
                if life.is_hot != best.is_hot {
                    return best.is_hot;
                }
                let (own, other) = (life.accesses, best.accesses);
                own.saturating_mul(best.length) < other.saturating_mul(life.length)
            };
            if best.as_ref().is_none_or(is_better) {
                best = Some((vreg, life));
            }
        }
        best.map(|(vreg, _)| vreg)
    }

    fn spill(&mut self, vreg: VReg) {
        self.spilled.add(vreg);
        self.spills.slots[vreg.vreg()] = Some(SpillSlot::new(self.spills.count));
        self.spills.count += 1;
    }
}
