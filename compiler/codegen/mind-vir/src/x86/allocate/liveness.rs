//! Liveness at the ends of blocks.

use regalloc2::{Block, Function as _, Operand, OperandKind, VReg};

use super::super::machine::Machine;

/// A bit set of virtual registers; it owns its bits, or borrows them from a [`Table`].
#[derive(Clone, Copy, Debug)]
pub(super) struct VRegs<B = Vec<u64>>(B);

impl VRegs {
    /// Returns an empty set for `count` registers.
    pub fn none(count: usize) -> VRegs {
        VRegs(vec![0; count.div_ceil(64)])
    }
}

impl<B: AsRef<[u64]>> VRegs<B> {
    #[inline]
    pub fn contains(&self, vreg: VReg) -> bool {
        self.0.as_ref()[vreg.vreg() / 64] >> (vreg.vreg() % 64) & 1 == 1
    }

    /// Returns the size of the intersection with `others`.
    pub fn count_within(&self, others: &VRegs) -> usize {
        let own = self.0.as_ref().iter().enumerate();
        let counts = own.map(|(at, own)| (own & others.0[at]).count_ones());
        counts.sum::<u32>() as usize
    }

    /// Returns the numbers of the registers.
    pub fn numbers(&self) -> impl Iterator<Item = usize> {
        self.0.as_ref().iter().enumerate().flat_map(|(at, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros() as usize;
                left &= left.wrapping_sub(1);
                (bit < 64).then_some(64 * at + bit)
            })
        })
    }
}

impl<B: AsMut<[u64]>> VRegs<B> {
    #[inline]
    pub fn add(&mut self, vreg: VReg) {
        self.0.as_mut()[vreg.vreg() / 64] |= 1 << (vreg.vreg() % 64);
    }

    #[inline]
    pub fn remove(&mut self, vreg: VReg) {
        self.0.as_mut()[vreg.vreg() / 64] &= !(1 << (vreg.vreg() % 64));
    }

    /// Copies `others`.
    pub fn copy_from(&mut self, others: &VRegs<impl AsRef<[u64]>>) {
        self.0.as_mut().copy_from_slice(others.0.as_ref());
    }

    fn add_all(&mut self, others: &VRegs<impl AsRef<[u64]>>) {
        let others = others.0.as_ref();
        for (at, own) in self.0.as_mut().iter_mut().enumerate() {
            *own |= others[at];
        }
    }

    /// Removes the registers of `others`.
    pub fn remove_all(&mut self, others: &VRegs) {
        for (at, own) in self.0.as_mut().iter_mut().enumerate() {
            *own &= !others.0[at];
        }
    }

    fn clear(&mut self) {
        self.0.as_mut().fill(0);
    }
}

/// A set of virtual registers for each block.
#[derive(Debug)]
struct Table {
    /// The words of each set.
    words: usize,
    bits: Vec<u64>,
}

impl Table {
    fn none(blocks: usize, vregs: usize) -> Table {
        let words = vregs.div_ceil(64);
        Table {
            words,
            bits: vec![0; words * blocks],
        }
    }

    fn of(&self, block: Block) -> VRegs<&[u64]> {
        let start = block.index() * self.words;
        VRegs(&self.bits[start..start + self.words])
    }

    fn of_mut(&mut self, block: Block) -> VRegs<&mut [u64]> {
        let start = block.index() * self.words;
        VRegs(&mut self.bits[start..start + self.words])
    }
}

/// Live values at the ends of blocks.
#[derive(Debug)]
pub(super) struct Liveness {
    blocks: usize,
    ins: Table,
    outs: Table,
}

impl Liveness {
    /// Computes liveness from the last block to the first. One pass suffices, because loops are contiguous and a value
    /// that is live at a header is live throughout the loop.
    pub fn of(machine: &Machine) -> Liveness {
        let (blocks, vregs) = (machine.num_blocks(), machine.num_vregs());
        let mut all = Liveness {
            blocks,
            ins: Table::none(blocks, vregs),
            outs: Table::none(blocks, vregs),
        };
        let mut live = VRegs::none(vregs);
        for block in (0..blocks).rev().map(Block::new) {
            live.clear();
            for (nth, &succ) in machine.block_succs(block).iter().enumerate() {
                live.add_all(&all.ins.of(succ));
                machine
                    .args(block, nth)
                    .iter()
                    .for_each(|&arg| live.add(arg));
            }
            all.outs.of_mut(block).copy_from(&live);
            for inst in machine.block_insns(block).iter().rev() {
                step_back(machine.inst_operands(inst), &mut live);
            }
            for &param in machine.block_params(block) {
                live.remove(param);
            }
            all.ins.of_mut(block).copy_from(&live);
            if let Some(last) = machine.last_of_loop(block) {
                for within in (block.index()..=last.index()).map(Block::new) {
                    all.ins.of_mut(within).add_all(&live);
                    all.outs.of_mut(within).add_all(&live);
                }
            }
        }
        all
    }

    /// Removes `vregs`, which are spilled.
    pub fn forget(&mut self, vregs: &VRegs) {
        for block in (0..self.blocks).map(Block::new) {
            self.ins.of_mut(block).remove_all(vregs);
            self.outs.of_mut(block).remove_all(vregs);
        }
    }

    /// Returns the values live at the start of `block`, without its parameters.
    pub fn at_start(&self, block: Block) -> VRegs<&[u64]> {
        self.ins.of(block)
    }

    /// Returns the values live at the end of `block`, including block arguments.
    pub fn at_end(&self, block: Block) -> VRegs<&[u64]> {
        self.outs.of(block)
    }
}

/// Updates `live` from after an instruction to before it. No instruction reads a value that it defines.
#[inline]
pub(super) fn step_back(operands: &[Operand], live: &mut VRegs) {
    for operand in operands {
        match operand.kind() {
            OperandKind::Def => live.remove(operand.vreg()),
            OperandKind::Use => live.add(operand.vreg()),
        }
    }
}
