//! Which general values live on the stack, where there are too few registers for all of them.
//!
//! A value that is spilled is stored where it is defined and loaded where it is read. Those are chosen that are read
//! least for how long they live, and none that an innermost loop reads.

use regalloc2::{
    Block, Function as _, Inst, Operand, OperandConstraint, OperandKind, OperandPos, RegClass,
    SpillSlot, VReg,
};

use super::super::machine::Machine;
use super::liveness::{Liveness, VRegs};

/// How many times as often the blocks of a loop run as what is around it, as far as weights are concerned.
const ROUNDS: u64 = 8;

/// The values that live on the stack.
#[derive(Debug)]
pub(super) struct Spills {
    slots: Vec<Option<SpillSlot>>,
    /// How many there are.
    pub count: usize,
}

impl Spills {
    /// Enough values on the stack that at most `limit` general ones are in registers; `None` where an innermost loop
    /// needs more. They no longer count as living.
    pub fn of(machine: &Machine, limit: usize, liveness: &mut Liveness) -> Option<Spills> {
        let loops = Loops::of(machine);
        let mut choice = Choice::of(machine, limit, &loops);
        let mut order: Vec<usize> = (0..machine.num_blocks()).collect();
        // What an inner loop leaves no room for, its surroundings need not look for.
        order.sort_by_key(|&block| std::cmp::Reverse(loops.depths[block]));
        for block in order {
            choice.block(Block::new(block), liveness)?;
        }
        liveness.forget(&choice.spilled);
        Some(choice.spills)
    }

    /// Where `vreg` lives on the stack.
    pub fn slot(&self, vreg: VReg) -> Option<SpillSlot> {
        self.slots[vreg.vreg()]
    }
}

/// The loops around each block.
struct Loops {
    /// How many there are.
    depths: Vec<u32>,
    /// Whether the one around it has none within.
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

/// What is known of a value.
#[derive(Clone, Copy, Default)]
struct Life {
    /// How often it is read and written, a loop being gone round [`ROUNDS`] times.
    accesses: u64,
    /// From the first to the last instruction that names it.
    length: u64,
    start: Option<usize>,
    /// Whether an innermost loop names it.
    is_hot: bool,
}

/// Values while they are chosen.
struct Choice<'m> {
    machine: &'m Machine,
    limit: usize,
    lives: Vec<Life>,
    /// The general values.
    general: VRegs,
    spilled: VRegs,
    spills: Spills,
}

impl<'m> Choice<'m> {
    fn of(machine: &'m Machine, limit: usize, loops: &Loops) -> Choice<'m> {
        let count = machine.num_vregs();
        let mut choice = Choice {
            machine,
            limit,
            lives: vec![Life::default(); count],
            general: VRegs::none(count),
            spilled: VRegs::none(count),
            spills: Spills {
                slots: vec![None; count],
                count: 0,
            },
        };
        for block in (0..machine.num_blocks()).map(Block::new) {
            let depth = loops.depths[block.index()];
            let is_hot = loops.is_innermost[block.index()];
            let weight = ROUNDS.saturating_pow(depth);
            let range = machine.block_insns(block);
            for &param in machine.block_params(block) {
                choice.access(param, range.first(), weight, is_hot);
            }
            for inst in range.iter() {
                for operand in machine.inst_operands(inst) {
                    choice.access(operand.vreg(), inst, weight, is_hot);
                }
            }
            for succ in 0..machine.block_succs(block).len() {
                for &arg in machine.args(block, succ) {
                    choice.access(arg, range.last(), weight, is_hot);
                }
            }
        }
        choice
    }

    fn access(&mut self, vreg: VReg, inst: Inst, weight: u64, is_hot: bool) {
        if vreg.class() == RegClass::Int {
            self.general.add(vreg);
        }
        let life = &mut self.lives[vreg.vreg()];
        let start = *life.start.get_or_insert(inst.index());
        life.accesses = life.accesses.saturating_add(weight);
        life.length = (inst.index() - start) as u64;
        life.is_hot |= is_hot;
    }

    /// Spills until the instructions of a block have enough registers.
    fn block(&mut self, block: Block, liveness: &Liveness) -> Option<()> {
        let machine = self.machine;
        let mut live = liveness.at_end(block).clone();
        live.remove_all(&self.spilled);
        let mut held = live.count_within(&self.general);
        for inst in machine.block_insns(block).iter().rev() {
            let operands = machine.inst_operands(inst);
            let always_fits = self.limit.saturating_sub(operands.len());
            while held > always_fits && self.needed(operands, &live, held) > self.limit {
                let victim = self.victim(operands, &live)?;
                self.spill(victim);
                live.remove(victim);
                held -= 1;
            }
            held = self.step_back(operands, &mut live, held);
        }
        Some(())
    }

    /// From what lives in registers behind an instruction to what does before it. `held` general values are among the
    /// former; returns how many are among the latter.
    fn step_back(&self, operands: &[Operand], live: &mut VRegs, mut held: usize) -> usize {
        let of = |kind: OperandKind| operands.iter().filter(move |own| own.kind() == kind);
        let weight = |vreg: VReg| usize::from(self.general.contains(vreg));
        for vreg in of(OperandKind::Def).map(|own| own.vreg()) {
            if live.contains(vreg) {
                live.remove(vreg);
                held -= weight(vreg);
            }
        }
        for vreg in of(OperandKind::Use).map(|own| own.vreg()) {
            if !live.contains(vreg) && !self.spilled.contains(vreg) {
                live.add(vreg);
                held += weight(vreg);
            }
        }
        held
    }

    /// How many general registers an instruction needs, behind which `live` lives, `held` general values among it.
    fn needed(&self, operands: &[Operand], live: &VRegs, held: usize) -> usize {
        let general = |own: &&Operand| own.class() == RegClass::Int;
        let defs = || {
            operands
                .iter()
                .filter(|own| own.kind() == OperandKind::Def)
                .filter(general)
        };
        let uses = || {
            operands
                .iter()
                .filter(|own| own.kind() == OperandKind::Use)
                .filter(general)
        };
        let others = |all: &mut dyn Iterator<Item = &Operand>| {
            let mut others: Vec<VReg> = all.map(|own| own.vreg()).collect();
            others.retain(|&vreg| !live.contains(vreg));
            others.sort_unstable();
            others.dedup();
            others.len()
        };
        let late = uses().filter(|own| own.pos() == OperandPos::Late);
        let after = held + others(&mut defs().chain(late));
        let defined = defs().filter(|own| live.contains(own.vreg())).count();
        let copies = defs().filter(|own| match own.constraint() {
            OperandConstraint::Reuse(input) => live.contains(operands[input].vreg()),
            OperandConstraint::Any
            | OperandConstraint::Reg
            | OperandConstraint::Stack
            | OperandConstraint::FixedReg(_)
            | OperandConstraint::Limit(_) => false,
        });
        let before = held - defined + others(&mut uses()) + copies.count();
        after.max(before)
    }

    /// The value to spill at an instruction, which does not name it; `None` if all are read in innermost loops.
    fn victim(&self, operands: &[Operand], live: &VRegs) -> Option<VReg> {
        let mut best: Option<(VReg, Life)> = None;
        for number in live.numbers() {
            let vreg = VReg::new(number, RegClass::Int);
            let life = self.lives[number];
            let is_named = operands.iter().any(|own| own.vreg().vreg() == number);
            if !self.general.contains(vreg) || life.is_hot || is_named {
                continue;
            }
            let is_better = |(_, best): &(VReg, Life)| {
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
