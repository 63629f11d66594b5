//! Which values live where blocks begin and end.

use regalloc2::{Block, Function as _, Operand, OperandKind, VReg};

use super::super::machine::Machine;

/// A set of virtual registers.
#[derive(Clone, Debug)]
pub(super) struct VRegs(Vec<u64>);

impl VRegs {
    /// None of `count` registers.
    pub fn none(count: usize) -> VRegs {
        VRegs(vec![0; count.div_ceil(64)])
    }

    pub fn contains(&self, vreg: VReg) -> bool {
        self.0[vreg.vreg() / 64] >> (vreg.vreg() % 64) & 1 == 1
    }

    pub fn add(&mut self, vreg: VReg) {
        self.0[vreg.vreg() / 64] |= 1 << (vreg.vreg() % 64);
    }

    pub fn remove(&mut self, vreg: VReg) {
        self.0[vreg.vreg() / 64] &= !(1 << (vreg.vreg() % 64));
    }

    fn add_all(&mut self, others: &VRegs) {
        for (own, other) in self.0.iter_mut().zip(&others.0) {
            *own |= other;
        }
    }

    /// Removes those of `others`.
    pub fn remove_all(&mut self, others: &VRegs) {
        for (own, other) in self.0.iter_mut().zip(&others.0) {
            *own &= !other;
        }
    }

    /// How many there are that are in `others` too.
    pub fn count_within(&self, others: &VRegs) -> usize {
        let pairs = self.0.iter().zip(&others.0);
        let counts = pairs.map(|(own, other)| (own & other).count_ones());
        counts.sum::<u32>() as usize
    }

    /// The numbers of the registers.
    pub fn numbers(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().flat_map(|(at, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros() as usize;
                left &= left.wrapping_sub(1);
                (bit < 64).then_some(64 * at + bit)
            })
        })
    }
}

/// The values that live at the ends of blocks.
#[derive(Debug)]
pub(super) struct Liveness {
    ins: Vec<VRegs>,
    outs: Vec<VRegs>,
}

impl Liveness {
    /// That of every block, from the last to the first. What lives where a loop begins lives throughout the loop, whose
    /// blocks follow each other.
    pub fn of(machine: &Machine) -> Liveness {
        let count = machine.num_blocks();
        let none = VRegs::none(machine.num_vregs());
        let mut all = Liveness {
            ins: vec![none.clone(); count],
            outs: vec![none.clone(); count],
        };
        for block in (0..count).rev().map(Block::new) {
            let mut live = none.clone();
            for (nth, succ) in machine.block_succs(block).iter().enumerate() {
                live.add_all(&all.ins[succ.index()]);
                machine
                    .args(block, nth)
                    .iter()
                    .for_each(|&arg| live.add(arg));
            }
            all.outs[block.index()] = live.clone();
            for inst in machine.block_insns(block).iter().rev() {
                step_back(machine.inst_operands(inst), &mut live);
            }
            for &param in machine.block_params(block) {
                live.remove(param);
            }
            if let Some(last) = machine.last_of_loop(block) {
                for within in block.index()..=last.index() {
                    all.ins[within].add_all(&live);
                    all.outs[within].add_all(&live);
                }
            }
            all.ins[block.index()] = live;
        }
        all
    }

    /// Leaves out `vregs`, which live elsewhere.
    pub fn forget(&mut self, vregs: &VRegs) {
        let all = self.ins.iter_mut().chain(&mut self.outs);
        all.for_each(|own| own.remove_all(vregs));
    }

    /// What lives where `block` begins, besides its parameters.
    pub fn at_start(&self, block: Block) -> &VRegs {
        &self.ins[block.index()]
    }

    /// What lives where `block` ends, and what it gives to parameters.
    pub fn at_end(&self, block: Block) -> &VRegs {
        &self.outs[block.index()]
    }
}

/// From what lives behind an instruction to what lives before it.
pub(super) fn step_back(operands: &[Operand], live: &mut VRegs) {
    let of = |kind: OperandKind| operands.iter().filter(move |own| own.kind() == kind);
    of(OperandKind::Def).for_each(|own| live.remove(own.vreg()));
    of(OperandKind::Use).for_each(|own| live.add(own.vreg()));
}
