//! Encodes machine code with assigned registers.

use iced_x86::{Code, Instruction, MemoryOperand, OpKind, Register};
use regalloc2::{Allocation, Block, Edit, Function as _, Inst, InstOrEdit, Output, PReg, RegClass};
use smallvec::SmallVec;

use super::CompileError;
use super::codes;
use super::encoder::{Encoder, Label};
use super::encoding::Encoding;
use super::lanewise::{self, Lanewise};
use super::machine::{Arg, Base, Condition, Machine, Mem, Node, Plain, Test};
use super::pool::Pool;
use super::registers;
use super::view::View;

/// Returns the bytes of a function, including constants, and the offset of the constants.
pub(super) fn emit(
    machine: &Machine,
    output: &Output,
    pool: &Pool,
    encoding: Encoding,
) -> Result<(Vec<u8>, usize), CompileError> {
    let mut encoder = Encoder::new();
    let blocks = || (0..machine.num_blocks()).map(Block::new);
    let labels = blocks().map(|_| encoder.new_label()).collect();
    let passing = blocks()
        .map(|block| passes_on(machine, output, block))
        .collect();
    let mut emit = Emit {
        machine,
        output,
        encoder,
        labels,
        passing,
        frame: Frame::of(machine, output),
        encoding,
    };
    emit.function().map_err(|error| CompileError::Encoding {
        instruction: "a general instruction".to_owned(),
        reason: error.to_string(),
    })?;
    emit.encoder.finish(pool)
}

/// Size of a page. Windows requires that the pages of a growing stack are touched in order.
const PAGE: i32 = 4096;

/// The stack frame of a function.
struct Frame {
    saved: Vec<PReg>,
    spill_bytes: u32,
    has_lanewise: bool,
    sets_status: bool,
    /// Whether there are non-temporal stores, which must be fenced before the function returns.
    streams: bool,
    /// Whether tile registers hold data; they must be released, because the system would save them at each context
    /// switch.
    has_tiles: bool,
}

impl Frame {
    fn of(machine: &Machine, output: &Output) -> Frame {
        let edits = output.edits.iter().map(|(_, Edit::Move { to, .. })| *to);
        let written = output.allocs.iter().copied().chain(edits);
        let mut saved: Vec<PReg> = (written.filter_map(Allocation::as_reg))
            .filter(|&preg| registers::is_callee_saved(preg))
            .collect();
        saved.sort_unstable();
        saved.dedup();
        let mut lanewise = machine.nodes.iter().filter_map(|node| match node {
            Node::Lanewise(node) => Some(node),
            _ => None,
        });
        let streams = machine
            .nodes
            .iter()
            .any(|node| matches!(node, Node::NonTemporalStore(_)));
        let has_tiles = machine
            .nodes
            .iter()
            .any(|node| matches!(node, Node::TileProduct(_)));
        let sets_status = lanewise.clone().any(Lanewise::sets_status);
        Frame {
            saved,
            spill_bytes: (8 * output.num_spillslots as u32).next_multiple_of(64),
            has_lanewise: lanewise.next().is_some(),
            sets_status,
            streams,
            has_tiles,
        }
    }

    fn bytes(&self) -> u32 {
        let lanewise = if self.has_lanewise {
            lanewise::FRAME_BYTES
        } else {
            0
        };
        self.spill_bytes + lanewise
    }
}

struct Emit<'a> {
    machine: &'a Machine,
    output: &'a Output,
    encoder: Encoder,
    labels: Vec<Label>,
    /// The target of each block that only jumps.
    passing: Vec<Option<Block>>,
    frame: Frame,
    encoding: Encoding,
}

type Encoded = Result<(), iced_x86::IcedError>;

impl Emit<'_> {
    fn function(&mut self) -> Encoded {
        self.prologue()?;
        // Hot blocks are contiguous.
        let order = self.machine.usual_first().into_iter();
        let stands = |block: &Block| self.passing[block.index()].is_none();
        let blocks: Vec<Block> = order.filter(stands).collect();
        for (position, &block) in blocks.iter().enumerate() {
            if self.machine.is_header[block.index()] {
                self.encoder.align(32);
            }
            self.encoder.bind(self.labels[block.index()]);
            self.block(block, blocks.get(position + 1).copied())?;
        }
        // Nothing is emitted for a block that only jumps, but its label must be bound.
        for block in (0..self.machine.num_blocks()).map(Block::new) {
            if self.passing[block.index()].is_some() {
                self.encoder.bind(self.labels[block.index()]);
            }
        }
        Ok(())
    }

    fn target(&self, mut block: Block) -> Block {
        while let Some(next) = self.passing[block.index()] {
            block = next;
        }
        block
    }

    fn block(&mut self, block: Block, next: Option<Block>) -> Encoded {
        let output = self.output;
        for step in output.block_insts_and_edits(self.machine, block) {
            match step {
                InstOrEdit::Edit(Edit::Move { from, to }) => self.relocate(*from, *to)?,
                InstOrEdit::Inst(inst) => self.node(inst, block, next)?,
            }
        }
        Ok(())
    }

    fn node(&mut self, inst: Inst, block: Block, next: Option<Block>) -> Encoded {
        let machine = self.machine;
        let pregs: SmallVec<[PReg; 8]> = (self.output.inst_allocs(inst).iter())
            .map(|allocation| allocation.as_reg().expect("operands are in registers"))
            .collect();
        match &machine.nodes[inst.index()] {
            Node::Entry => {}
            Node::Plain(plain) => self.plain(plain, &pregs),
            Node::Lanewise(node) => {
                let frame = i64::from(self.frame.spill_bytes);
                node.emit(&mut self.encoder, &pregs, frame)?;
            }
            Node::NonTemporalStore(node) => node.emit(&mut self.encoder, &pregs)?,
            Node::TileProduct(node) => node.emit(&mut self.encoder, &pregs)?,
            Node::Jump => self.go(machine.block_succs(block)[0], next),
            Node::Branch(test) => {
                let (holds, fails) = self.test(*test, &pregs)?;
                let succs = machine.block_succs(block);
                let [taken, other] = [0, 1].map(|place| self.target(succs[place]));
                if Some(taken) == next {
                    self.encoder.jump(fails, self.labels[other.index()]);
                } else {
                    self.encoder.jump(holds, self.labels[taken.index()]);
                    self.go(other, next);
                }
            }
            Node::Return => self.epilogue()?,
        }
        Ok(())
    }

    /// Sets the flags, and returns the jumps for a test that holds and one that fails.
    fn test(&mut self, test: Test, pregs: &[PReg]) -> Result<(Code, Code), iced_x86::IcedError> {
        let name = |place: usize, view: View| registers::named(pregs[place], view);
        let (instruction, jumps) = match test {
            Test::Compare(condition, number) => {
                let first = name(0, View::Gpr64);
                let compare = match number {
                    Some(number) => Instruction::with2(Code::Cmp_rm64_imm32, first, number)?,
                    None => Instruction::with2(Code::Cmp_r64_rm64, first, name(1, View::Gpr64))?,
                };
                let jumps = match condition {
                    Condition::Less => (Code::Jl_rel32_64, Code::Jge_rel32_64),
                    Condition::LessOrEqual => (Code::Jle_rel32_64, Code::Jg_rel32_64),
                };
                (compare, jumps)
            }
            Test::AnyLane(lanes) => {
                let code = codes::test_mask(lanes, self.encoding);
                let view = match self.encoding {
                    Encoding::Evex => View::Mask,
                    Encoding::Vex => View::Ymm,
                };
                let mask = name(0, view);
                let any = Instruction::with2(code, mask, mask)?;
                (any, (Code::Jne_rel32_64, Code::Je_rel32_64))
            }
        };
        self.encoder.put(&instruction);
        Ok(jumps)
    }

    /// Jumps to a block, unless it follows.
    fn go(&mut self, to: Block, next: Option<Block>) {
        let to = self.target(to);
        if Some(to) != next {
            self.encoder
                .jump(Code::Jmp_rel32_64, self.labels[to.index()]);
        }
    }

    fn plain(&mut self, plain: &Plain, pregs: &[PReg]) {
        let mut instruction = Instruction::default();
        instruction.set_code(plain.code);
        let mut constant = None;
        for (place, arg) in plain.args.iter().flatten().enumerate() {
            let place = place as u32;
            match *arg {
                Arg::Reg(operand, view) => {
                    let register = registers::named(pregs[operand as usize], view);
                    instruction.set_op_kind(place, OpKind::Register);
                    instruction.set_op_register(place, register);
                }
                Arg::Mem => {
                    instruction.set_op_kind(place, OpKind::Memory);
                    if let Some(mem) = &plain.mem {
                        constant = set_memory(&mut instruction, mem, pregs);
                    }
                }
                Arg::Imm8 => {
                    instruction.set_op_kind(place, OpKind::Immediate8);
                    instruction.set_immediate8(plain.imm as u8);
                }
                Arg::Imm32 => {
                    // The immediate of a 64-bit instruction is sign-extended, that of a 32-bit one is not.
                    let kind = match plain.code {
                        Code::Mov_r32_imm32 => OpKind::Immediate32,
                        _ => OpKind::Immediate32to64,
                    };
                    instruction.set_op_kind(place, kind);
                    instruction.set_immediate32(plain.imm as u32);
                }
                Arg::Imm64 => {
                    instruction.set_op_kind(place, OpKind::Immediate64);
                    instruction.set_immediate64(plain.imm as u64);
                }
            }
        }
        if let Some(mask) = plain.mask {
            instruction.set_op_mask(registers::named(pregs[mask as usize], View::Mask));
            instruction.set_zeroing_masking(plain.is_zeroing);
        }
        match constant {
            Some(offset) => self.encoder.put_with_constant(&instruction, offset),
            None => self.encoder.put(&instruction),
        }
    }

    fn slot(&self, allocation: Allocation) -> Option<MemoryOperand> {
        let slot = allocation.as_stack()?;
        let displ = 8 * slot.index() as i64;
        Some(MemoryOperand::with_base_displ(Register::RSP, displ))
    }

    /// A move inserted by the allocator: between registers, or a spill or reload.
    fn relocate(&mut self, from: Allocation, to: Allocation) -> Encoded {
        let preg = from
            .as_reg()
            .or(to.as_reg())
            .expect("no move from stack to stack");
        let view = match (preg.class(), self.encoding) {
            (RegClass::Int, _) => View::Gpr64,
            (RegClass::Vector, _) => View::Mask,
            (RegClass::Float, Encoding::Evex) => View::Zmm,
            (RegClass::Float, Encoding::Vex) => View::Ymm,
        };
        let (load, store) = match view {
            View::Gpr64 => (Code::Mov_r64_rm64, Code::Mov_rm64_r64),
            View::Mask => (Code::VEX_Kmovq_kr_km64, Code::VEX_Kmovq_m64_kr),
            View::Zmm => codes::moves(64, Encoding::Evex),
            _ => codes::moves(32, Encoding::Vex),
        };
        let name =
            |allocation: Allocation| allocation.as_reg().map(|preg| registers::named(preg, view));
        let instruction = match (name(from), name(to)) {
            (Some(from), Some(to)) => Instruction::with2(register_move(view), to, from)?,
            (Some(from), None) => {
                let slot = self.slot(to).expect("a register or a slot");
                Instruction::with2(store, slot, from)?
            }
            (None, Some(to)) => {
                let slot = self.slot(from).expect("a register or a slot");
                Instruction::with2(load, to, slot)?
            }
            (None, None) => unreachable!("a register is on one side"),
        };
        self.encoder.put(&instruction);
        Ok(())
    }

    /// Saves registers and allocates the frame, aligned to 64 bytes.
    fn prologue(&mut self) -> Encoded {
        let saved = self.frame.saved.clone();
        if self.frame.bytes() > 0 || !saved.is_empty() {
            self.encoder
                .put(&Instruction::with1(Code::Push_r64, Register::RBP)?);
        }
        for preg in saved {
            let register = registers::named(preg, View::Gpr64);
            self.encoder
                .put(&Instruction::with1(Code::Push_r64, register)?);
        }
        let bytes = self.frame.bytes() as i32;
        if bytes == 0 {
            return Ok(());
        }
        let take = |bytes: i32| Instruction::with2(Code::Sub_rm64_imm32, Register::RSP, bytes);
        let frame = Instruction::with2(Code::Mov_r64_rm64, Register::RBP, Register::RSP)?;
        self.encoder.put(&frame);
        let mut left = bytes;
        while left > PAGE {
            let top = MemoryOperand::with_base(Register::RSP);
            let touch = Instruction::with2(Code::Test_rm32_r32, top, Register::EAX)?;
            self.encoder.put(&take(PAGE)?);
            self.encoder.put(&touch);
            left -= PAGE;
        }
        for instruction in [
            take(left)?,
            Instruction::with2(Code::And_rm64_imm8, Register::RSP, -64)?,
        ] {
            self.encoder.put(&instruction);
        }
        if self.frame.sets_status {
            let status = self.status();
            self.encoder
                .put(&Instruction::with2(Code::Mov_rm32_imm32, status, 0)?);
        }
        Ok(())
    }

    fn status(&self) -> MemoryOperand {
        let displ = i64::from(self.frame.spill_bytes) + lanewise::STATUS;
        MemoryOperand::with_base_displ(Register::RSP, displ)
    }

    /// Returns the status; clears the upper halves of vector registers (`vzeroupper`), as the calling convention
    /// requires.
    fn epilogue(&mut self) -> Encoded {
        if self.frame.streams {
            self.encoder.put(&Instruction::with(Code::Sfence));
        }
        if self.frame.has_tiles {
            self.encoder.put(&Instruction::with(Code::VEX_Tilerelease));
        }
        let result = if self.frame.sets_status {
            Instruction::with2(Code::Mov_r32_rm32, Register::EAX, self.status())?
        } else {
            Instruction::with2(Code::Xor_r32_rm32, Register::EAX, Register::EAX)?
        };
        self.encoder.put(&result);
        if self.frame.bytes() > 0 {
            let restore = Instruction::with2(Code::Mov_r64_rm64, Register::RSP, Register::RBP)?;
            self.encoder.put(&restore);
        }
        for preg in self.frame.saved.clone().into_iter().rev() {
            let register = registers::named(preg, View::Gpr64);
            self.encoder
                .put(&Instruction::with1(Code::Pop_r64, register)?);
        }
        if self.frame.bytes() > 0 || !self.frame.saved.is_empty() {
            self.encoder
                .put(&Instruction::with1(Code::Pop_r64, Register::RBP)?);
        }
        self.encoder.put(&Instruction::with(Code::VEX_Vzeroupper));
        self.encoder.put(&Instruction::with(Code::Retnq));
        Ok(())
    }
}

/// Returns the target of a block that only jumps; `None` for other blocks.
fn passes_on(machine: &Machine, output: &Output, block: Block) -> Option<Block> {
    let range = machine.block_insns(block);
    let is_jump = matches!(machine.nodes[range.first().index()], Node::Jump);
    if range.len() != 1 || !is_jump {
        return None;
    }
    let mut steps = output.block_insts_and_edits(machine, block);
    let has_edit = steps.any(|step| matches!(step, InstOrEdit::Edit(_)));
    (!has_edit).then(|| machine.block_succs(block)[0])
}

/// Sets the memory operand; returns its pool offset if it is a constant.
fn set_memory(instruction: &mut Instruction, mem: &Mem<u8>, pregs: &[PReg]) -> Option<u32> {
    let name = |operand: u8| registers::named(pregs[operand as usize], View::Gpr64);
    match mem.base {
        Base::Pool(offset) => {
            instruction.set_memory_base(Register::RIP);
            instruction.set_memory_displ_size(8);
            Some(offset)
        }
        Base::Reg(base) => {
            instruction.set_memory_base(name(base));
            if let Some(index) = mem.index {
                instruction.set_memory_index(name(index));
                instruction.set_memory_index_scale(mem.scale.into());
            }
            instruction.set_memory_displ_size(u32::from(mem.disp != 0));
            instruction.set_memory_displacement64(i64::from(mem.disp) as u64);
            None
        }
    }
}

fn register_move(view: View) -> Code {
    match view {
        View::Gpr64 | View::Gpr32 => Code::Mov_r64_rm64,
        View::Mask => Code::VEX_Kmovq_kr_km64,
        View::Zmm => Code::EVEX_Vmovaps_zmm_k1z_zmmm512,
        View::Ymm | View::Xmm => Code::VEX_Vmovaps_ymm_ymmm256,
    }
}
