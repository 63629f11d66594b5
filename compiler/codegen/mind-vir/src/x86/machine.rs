//! Machine code over virtual registers.

use iced_x86::Code;
use regalloc2::{
    Block, Function, Inst, InstRange, Operand, OperandConstraint, OperandKind, OperandPos, PReg,
    PRegSet, RegClass, VReg,
};
use smallvec::SmallVec;

use super::lanewise::Lanewise;
use super::non_temporal::NonTemporalStore;
use super::tiles::TileProduct;
use super::view::View;

/// An operand of an instruction, in encoding order.
#[derive(Clone, Copy, Debug)]
pub(super) enum Arg {
    /// A register: the index among the allocator's operands.
    Reg(u8, View),
    /// The memory operand.
    Mem,
    /// The immediate, in 8, 32 or 64 bits.
    Imm8,
    Imm32,
    Imm64,
}

/// The base of an address.
#[derive(Clone, Copy, Debug)]
pub(super) enum Base<R> {
    Reg(R),
    /// A constant, by its offset in the pool.
    Pool(u32),
}

/// A memory operand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mem<R> {
    pub base: Base<R>,
    pub index: Option<R>,
    pub scale: u8,
    pub disp: i32,
}

impl<R> Mem<R> {
    /// A constant of the pool.
    pub fn pool(offset: u32) -> Mem<R> {
        Mem {
            base: Base::Pool(offset),
            index: None,
            scale: 1,
            disp: 0,
        }
    }
}

/// A single instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plain {
    pub code: Code,
    pub args: [Option<Arg>; 5],
    pub mem: Option<Mem<u8>>,
    /// The immediate; an instruction has at most one.
    pub imm: i64,
    /// The mask register of the instruction.
    pub mask: Option<u8>,
    /// Whether masking zeroes inactive lanes, rather than merging them.
    pub is_zeroing: bool,
}

/// The condition of a branch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Test {
    /// A comparison of two general registers, or of one with a constant.
    Compare(Condition, Option<i32>),
    /// Whether any bit of a mask of this many lanes is set.
    AnyLane(u32),
}

/// A comparison of signed numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Condition {
    /// Signed less.
    Less,
    /// Signed less or equal.
    LessOrEqual,
}

/// An instruction, or a sequence that the allocator treats as one.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// Defines the pointer to the arguments.
    Entry,
    Plain(Plain),
    Lanewise(Lanewise),
    NonTemporalStore(NonTemporalStore),
    TileProduct(TileProduct),
    /// Jumps to the only successor.
    Jump,
    /// Branches to the first successor if the test of its operands holds, else to the second.
    Branch(Test),
    Return,
}

/// A function of machine code over virtual registers, in the form that the allocator takes.
#[derive(Debug, Default)]
pub(super) struct Machine {
    pub nodes: Vec<Node>,
    /// The end of the operands of each node.
    operand_ends: Vec<u32>,
    operands: Vec<Operand>,
    /// The start of each block; the last one ends with the nodes.
    starts: Vec<u32>,
    /// The registers of all lists.
    listed: Vec<VReg>,
    params: Vec<List>,
    /// Successors, and the block arguments for each.
    succs: Vec<SmallVec<[Block; 2]>>,
    args: Vec<SmallVec<[List; 2]>>,
    preds: Vec<SmallVec<[Block; 2]>>,
    /// Loop headers.
    pub is_header: Vec<bool>,
    /// Cold blocks.
    is_cold: Vec<bool>,
    /// Whether new blocks are cold.
    pub is_rare: bool,
    /// The class of each register.
    classes: Vec<RegClass>,
}

/// A range of the registers of all lists of a [`Machine`].
#[derive(Clone, Copy, Debug)]
struct List {
    start: u32,
    end: u32,
}

impl Machine {
    /// Returns an empty function, with capacity for the code of `values` values.
    pub fn with_room(values: usize) -> Machine {
        Machine {
            nodes: Vec::with_capacity(values),
            operand_ends: Vec::with_capacity(values),
            operands: Vec::with_capacity(3 * values),
            classes: Vec::with_capacity(values),
            ..Machine::default()
        }
    }

    pub fn new_vreg(&mut self, class: RegClass) -> VReg {
        self.classes.push(class);
        VReg::new(self.classes.len() - 1, class)
    }

    /// The class of each register.
    pub fn classes(&self) -> &[RegClass] {
        &self.classes
    }

    fn new_list(&mut self, vregs: &[VReg]) -> List {
        let start = self.listed.len() as u32;
        self.listed.extend_from_slice(vregs);
        let end = self.listed.len() as u32;
        List { start, end }
    }

    #[inline]
    fn list(&self, list: List) -> &[VReg] {
        &self.listed[list.start as usize..list.end as usize]
    }

    /// Declares a block, to be opened later.
    pub fn new_block(&mut self, params: &[VReg]) -> Block {
        self.starts.push(u32::MAX);
        let params = self.new_list(params);
        self.params.push(params);
        self.succs.push(SmallVec::new());
        self.args.push(SmallVec::new());
        self.preds.push(SmallVec::new());
        self.is_header.push(false);
        self.is_cold.push(self.is_rare);
        Block::new(self.starts.len() - 1)
    }

    /// Opens a block: nodes are appended to it. Blocks must be opened in the order of their numbers.
    pub fn open(&mut self, block: Block) {
        self.starts[block.index()] = self.nodes.len() as u32;
    }

    pub fn push(&mut self, node: Node, operands: &[Operand]) {
        self.operands.extend_from_slice(operands);
        self.push_node(node);
    }

    /// Appends an operand of the next node and returns its index among the operands of that node.
    #[inline]
    pub fn push_operand(&mut self, operand: Operand) -> u8 {
        let first = self.operand_ends.last().copied().unwrap_or(0);
        self.operands.push(operand);
        (self.operands.len() as u32 - 1 - first) as u8
    }

    /// Appends a node whose operands are those appended since the previous node.
    #[inline]
    pub fn push_node(&mut self, node: Node) {
        self.nodes.push(node);
        self.operand_ends.push(self.operands.len() as u32);
    }

    /// Closes `block` with these successors and block arguments.
    pub fn end(
        &mut self,
        block: Block,
        node: Node,
        operands: &[Operand],
        succs: &[(Block, &[VReg])],
    ) {
        self.push(node, operands);
        self.link(block, succs);
    }

    /// Returns the arguments that `block` passes to successor number `succ`.
    #[inline]
    pub fn args(&self, block: Block, succ: usize) -> &[VReg] {
        self.list(self.args[block.index()][succ])
    }

    /// Returns the last block of the loop with the header `block`. The blocks of a loop are contiguous.
    pub fn last_of_loop(&self, block: Block) -> Option<Block> {
        let preds = self.preds[block.index()].iter().copied();
        preds.filter(|&pred| pred >= block).max()
    }

    /// Returns the start of the operands of each node.
    pub fn operand_starts(&self) -> Vec<u32> {
        let ends = self.operand_ends.iter().copied();
        let starts = std::iter::once(0).chain(ends);
        starts.take(self.nodes.len()).collect()
    }

    /// Returns the start of the operands of a node.
    #[inline]
    pub fn first_operand(&self, inst: Inst) -> usize {
        match inst.index() {
            0 => 0,
            index => self.operand_ends[index - 1] as usize,
        }
    }

    /// Returns the number of operands of all nodes.
    pub fn num_operands(&self) -> usize {
        self.operands.len()
    }

    /// Sets the successors of `block`, which is closed.
    pub fn link(&mut self, block: Block, succs: &[(Block, &[VReg])]) {
        for &(succ, args) in succs {
            let args = self.new_list(args);
            self.succs[block.index()].push(succ);
            self.args[block.index()].push(args);
            self.preds[succ.index()].push(block);
        }
    }

    /// Returns all blocks, hot ones first.
    pub fn usual_first(&self) -> Vec<Block> {
        let blocks = (0..self.starts.len()).map(Block::new);
        let (cold, usual): (Vec<Block>, Vec<Block>) =
            blocks.partition(|block| self.is_cold[block.index()]);
        [usual, cold].concat()
    }

    /// Returns the same code with its blocks in the order of [`Machine::usual_first`].
    ///
    /// An allocator that splits live ranges in block order then places the spills of cold code in the cold code.
    pub fn cold_last(self) -> Machine {
        if !self.is_cold.contains(&true) {
            return self;
        }
        let order = self.usual_first();
        let mut places = vec![Block::invalid(); order.len()];
        for (place, &block) in order.iter().enumerate() {
            places[block.index()] = Block::new(place);
        }
        let moved = |blocks: &[Block]| blocks.iter().map(|block| places[block.index()]).collect();
        let mut sorted = Machine {
            classes: self.classes.clone(),
            listed: self.listed.clone(),
            ..Machine::with_room(self.nodes.len())
        };
        for &block in &order {
            let own = self.block_insns(block);
            let place = sorted.new_block(&[]);
            sorted.params[place.index()] = self.params[block.index()];
            sorted.open(place);
            for inst in own.iter() {
                let operands = self.inst_operands(inst);
                sorted.push(self.nodes[inst.index()].clone(), operands);
            }
            sorted.succs[place.index()] = moved(&self.succs[block.index()]);
            sorted.preds[place.index()] = moved(&self.preds[block.index()]);
            sorted.args[place.index()].clone_from(&self.args[block.index()]);
            sorted.is_header[place.index()] = self.is_header[block.index()];
            sorted.is_cold[place.index()] = self.is_cold[block.index()];
        }
        sorted
    }
}

impl Function for Machine {
    fn num_insts(&self) -> usize {
        self.nodes.len()
    }

    fn num_blocks(&self) -> usize {
        self.starts.len()
    }

    fn entry_block(&self) -> Block {
        Block::new(0)
    }

    #[inline]
    fn block_insns(&self, block: Block) -> InstRange {
        let start = self.starts[block.index()];
        let end = self.starts.get(block.index() + 1);
        let end = end.copied().unwrap_or(self.nodes.len() as u32);
        InstRange::new(Inst::new(start as usize), Inst::new(end as usize))
    }

    #[inline]
    fn block_succs(&self, block: Block) -> &[Block] {
        &self.succs[block.index()]
    }

    #[inline]
    fn block_preds(&self, block: Block) -> &[Block] {
        &self.preds[block.index()]
    }

    #[inline]
    fn block_params(&self, block: Block) -> &[VReg] {
        self.list(self.params[block.index()])
    }

    fn is_ret(&self, inst: Inst) -> bool {
        matches!(self.nodes[inst.index()], Node::Return)
    }

    fn is_branch(&self, inst: Inst) -> bool {
        matches!(self.nodes[inst.index()], Node::Jump | Node::Branch(..))
    }

    fn branch_blockparams(&self, block: Block, _: Inst, succ: usize) -> &[VReg] {
        self.args(block, succ)
    }

    #[inline]
    fn inst_operands(&self, inst: Inst) -> &[Operand] {
        let end = self.operand_ends[inst.index()] as usize;
        &self.operands[self.first_operand(inst)..end]
    }

    fn inst_clobbers(&self, inst: Inst) -> PRegSet {
        match &self.nodes[inst.index()] {
            Node::Lanewise(node) => node.clobbers(),
            _ => PRegSet::empty(),
        }
    }

    fn num_vregs(&self) -> usize {
        self.classes.len()
    }

    fn spillslot_size(&self, class: RegClass) -> usize {
        super::registers::spill_words(class)
    }
}

/// A definition fixed to `preg` at function entry.
pub(super) fn fixed_def(vreg: VReg, preg: PReg) -> Operand {
    Operand::new(
        vreg,
        OperandConstraint::FixedReg(preg),
        OperandKind::Def,
        OperandPos::Late,
    )
}
