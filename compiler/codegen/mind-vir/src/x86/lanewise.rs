//! Operations without a vector instruction: loops over the lanes of vectors in the stack frame.

use iced_x86::{Code, IcedError, Instruction, MemoryOperand, Register};
use regalloc2::{PReg, PRegSet};

use crate::ir::{Lane, Status};

use super::codes;
use super::encoder::Encoder;
use super::encoding::Encoding;
use super::registers::{self, RAX, RDX};
use super::view::View;

/// A loop over lanes.
///
/// The allocator's operands are those listed for the kind, then the count if there is one, then two temporary general
/// registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lanewise {
    pub kind: LanewiseOp,
    pub lane: Lane,
    pub lanes: u32,
    pub has_count: bool,
    pub encoding: Encoding,
}

/// The operation on each lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LanewiseOp {
    /// Loads consecutive elements. Operands: result, pointer.
    Load,
    /// Stores consecutive elements. Operands: vector, pointer.
    Store,
    /// Loads elements at a stride. Operands: result, pointer, stride in bytes, and a third temporary at the end.
    LoadStrided,
    /// Loads elements at indices in a vector of `I32`. Operands: result, base, indices.
    Gather,
    /// Divides integers. Operands: result, dividend, divisor.
    Divide { is_signed: bool },
}

/// Bytes of the frame that loops over lanes use: the result, two operands, the status.
pub(super) const FRAME_BYTES: u32 = 256;
const RESULT: i64 = 0;
const FIRST: i64 = 64;
const SECOND: i64 = 128;
/// Offset of the call's status in that part of the frame.
pub(super) const STATUS: i64 = 192;

impl Lanewise {
    /// Returns the number of operands before the count.
    fn inputs(&self) -> usize {
        match self.kind {
            LanewiseOp::Load | LanewiseOp::Store => 2,
            LanewiseOp::LoadStrided | LanewiseOp::Gather | LanewiseOp::Divide { .. } => 3,
        }
    }

    /// Returns the registers that the loop clobbers.
    pub fn clobbers(&self) -> PRegSet {
        match self.kind {
            LanewiseOp::Divide { .. } => PRegSet::empty().with(RAX).with(RDX),
            _ => PRegSet::empty(),
        }
    }

    /// Whether the loop may set the status.
    pub fn sets_status(&self) -> bool {
        matches!(self.kind, LanewiseOp::Divide { .. })
    }

    /// Encodes the loop. `frame` is the distance from the stack pointer to its part of the frame.
    pub fn emit(&self, encoder: &mut Encoder, regs: &[PReg], frame: i64) -> Result<(), IcedError> {
        let mut body = Body {
            node: self,
            encoder,
            regs,
            frame,
            counter: registers::named(
                regs[self.inputs() + usize::from(self.has_count)],
                View::Gpr64,
            ),
        };
        body.prepare()?;
        body.counted(|body| body.one_lane())?;
        body.complete()
    }
}

struct Body<'a, 'e> {
    node: &'a Lanewise,
    encoder: &'e mut Encoder,
    regs: &'a [PReg],
    frame: i64,
    counter: Register,
}

impl Body<'_, '_> {
    fn put(&mut self, instruction: Result<Instruction, IcedError>) -> Result<(), IcedError> {
        self.encoder.put(&instruction?);
        Ok(())
    }

    fn gpr(&self, operand: usize) -> Register {
        registers::named(self.regs[operand], View::Gpr64)
    }

    /// Returns a temporary register after the counter.
    fn temporary(&self, nth: usize) -> Register {
        self.gpr(self.node.inputs() + usize::from(self.node.has_count) + 1 + nth)
    }

    fn slot(&self, offset: i64) -> MemoryOperand {
        MemoryOperand::with_base_displ(Register::RSP, self.frame + offset)
    }

    /// Returns the stack slot of the lane given by the counter.
    fn lane_slot(&self, offset: i64, lane: Lane) -> MemoryOperand {
        let displ = self.frame + offset;
        MemoryOperand::with_base_index_scale_displ_size(
            Register::RSP,
            self.counter,
            lane.bytes(),
            displ,
            1,
        )
    }

    fn vector(&self, operand: usize) -> Register {
        let view = self.node.encoding.full();
        registers::named(self.regs[operand], view)
    }

    fn save(&mut self, operand: usize, offset: i64) -> Result<(), IcedError> {
        let (_, store) = codes::moves(self.node.encoding.vector_bytes(), self.node.encoding);
        let (slot, vector) = (self.slot(offset), self.vector(operand));
        self.put(Instruction::with2(store, slot, vector))
    }

    /// Stores operands, and zeros for the result, to the frame.
    fn prepare(&mut self) -> Result<(), IcedError> {
        match self.node.kind {
            LanewiseOp::Store => return self.save(0, FIRST),
            LanewiseOp::Load => {}
            LanewiseOp::Gather => self.save(2, FIRST)?,
            LanewiseOp::Divide { .. } => {
                self.save(1, FIRST)?;
                self.save(2, SECOND)?;
            }
            LanewiseOp::LoadStrided => {
                let (walk, start) = (self.temporary(1), self.gpr(1));
                self.put(Instruction::with2(Code::Mov_r64_rm64, walk, start))?;
            }
        }
        let result = self.vector(0);
        let zero = if self.node.encoding.has_masks() {
            Code::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32
        } else {
            Code::VEX_Vpxor_ymm_ymm_ymmm256
        };
        self.put(Instruction::with3(zero, result, result, result))?;
        self.save(0, RESULT)
    }

    /// Emits a loop over the active lanes.
    fn counted(
        &mut self,
        body: impl FnOnce(&mut Self) -> Result<(), IcedError>,
    ) -> Result<(), IcedError> {
        let counter = self.counter;
        let counter32 = counter.full_register32();
        self.put(Instruction::with2(Code::Xor_r32_rm32, counter32, counter32))?;
        let (head, end) = (self.encoder.new_label(), self.encoder.new_label());
        self.encoder.bind(head);
        if self.node.has_count {
            let count = self.gpr(self.node.inputs());
            self.put(Instruction::with2(Code::Cmp_r64_rm64, counter, count))?;
        } else {
            let lanes = self.node.lanes as i32;
            self.put(Instruction::with2(Code::Cmp_rm64_imm8, counter, lanes))?;
        }
        self.encoder.jump(Code::Jge_rel32_64, end);
        body(self)?;
        self.put(Instruction::with1(Code::Inc_rm64, counter))?;
        self.encoder.jump(Code::Jmp_rel32_64, head);
        self.encoder.bind(end);
        Ok(())
    }

    /// Copies an element through the first temporary.
    fn copy(&mut self, from: MemoryOperand, to: MemoryOperand) -> Result<(), IcedError> {
        let lane = self.node.lane;
        let element = self.temporary(0);
        self.load(element, from, lane, false)?;
        self.store(element, to)
    }

    fn load(
        &mut self,
        register: Register,
        from: MemoryOperand,
        lane: Lane,
        is_signed: bool,
    ) -> Result<(), IcedError> {
        let low = register.full_register32();
        let (code, target) = match (lane.bytes(), is_signed) {
            (1, false) => (Code::Movzx_r32_rm8, low),
            (2, false) => (Code::Movzx_r32_rm16, low),
            (4, false) => (Code::Mov_r32_rm32, low),
            (1, true) => (Code::Movsx_r64_rm8, register),
            (2, true) => (Code::Movsx_r64_rm16, register),
            (4, true) => (Code::Movsxd_r64_rm32, register),
            _ => (Code::Mov_r64_rm64, register),
        };
        self.put(Instruction::with2(code, target, from))
    }

    fn store(&mut self, register: Register, to: MemoryOperand) -> Result<(), IcedError> {
        let bytes = self.node.lane.bytes();
        let code = match bytes {
            1 => Code::Mov_rm8_r8,
            2 => Code::Mov_rm16_r16,
            4 => Code::Mov_rm32_r32,
            _ => Code::Mov_rm64_r64,
        };
        self.put(Instruction::with2(
            code,
            to,
            registers::sized(register, bytes),
        ))
    }

    fn one_lane(&mut self) -> Result<(), IcedError> {
        let lane = self.node.lane;
        let memory = |base: Register, index: Register| {
            MemoryOperand::with_base_index_scale(base, index, lane.bytes())
        };
        match self.node.kind {
            LanewiseOp::Load => {
                let from = memory(self.gpr(1), self.counter);
                self.copy(from, self.lane_slot(RESULT, lane))
            }
            LanewiseOp::Store => {
                let to = memory(self.gpr(1), self.counter);
                self.copy(self.lane_slot(FIRST, lane), to)
            }
            LanewiseOp::LoadStrided => {
                let (walk, stride) = (self.temporary(1), self.gpr(2));
                let from = MemoryOperand::with_base(walk);
                self.copy(from, self.lane_slot(RESULT, lane))?;
                self.put(Instruction::with2(Code::Add_r64_rm64, walk, stride))
            }
            LanewiseOp::Gather => {
                let place = self.temporary(0);
                self.load(place, self.lane_slot(FIRST, Lane::I32), Lane::I32, true)?;
                let from = memory(self.gpr(1), place);
                self.copy(from, self.lane_slot(RESULT, lane))
            }
            LanewiseOp::Divide { is_signed } => self.divide(is_signed),
        }
    }

    fn divide(&mut self, is_signed: bool) -> Result<(), IcedError> {
        let lane = self.node.lane;
        let divisor = self.temporary(0);
        let [zero, minus_one, negate, put] = std::array::from_fn(|_| self.encoder.new_label());
        self.load(divisor, self.lane_slot(SECOND, lane), lane, is_signed)?;
        self.load(Register::RAX, self.lane_slot(FIRST, lane), lane, is_signed)?;
        self.put(Instruction::with2(Code::Test_rm64_r64, divisor, divisor))?;
        self.encoder.jump(Code::Je_rel32_64, zero);
        if is_signed {
            self.put(Instruction::with2(Code::Cmp_rm64_imm8, divisor, -1))?;
            self.encoder.jump(Code::Je_rel32_64, minus_one);
            self.encoder.put(&Instruction::with(Code::Cqo));
            self.put(Instruction::with1(Code::Idiv_rm64, divisor))?;
        } else {
            self.put(Instruction::with2(
                Code::Xor_r32_rm32,
                Register::EDX,
                Register::EDX,
            ))?;
            self.put(Instruction::with1(Code::Div_rm64, divisor))?;
        }
        self.encoder.jump(Code::Jmp_rel32_64, put);
        if is_signed {
            // The quotient of the smallest number overflows, for which a 64-bit `idiv` traps.
            self.encoder.bind(minus_one);
            let smallest = i64::MIN >> (64 - lane.bits());
            self.put(Instruction::with2(
                Code::Mov_r64_imm64,
                Register::RDX,
                smallest,
            ))?;
            self.put(Instruction::with2(
                Code::Cmp_r64_rm64,
                Register::RAX,
                Register::RDX,
            ))?;
            self.encoder.jump(Code::Jne_rel32_64, negate);
            self.report(Status::QUOTIENT_OVERFLOW)?;
            self.encoder.bind(negate);
            self.put(Instruction::with1(Code::Neg_rm64, Register::RAX))?;
            self.encoder.jump(Code::Jmp_rel32_64, put);
        } else {
            self.encoder.bind(minus_one);
            self.encoder.bind(negate);
        }
        self.encoder.bind(zero);
        self.report(Status::ZERO_DIVISOR)?;
        self.put(Instruction::with2(
            Code::Xor_r32_rm32,
            Register::EAX,
            Register::EAX,
        ))?;
        self.encoder.bind(put);
        self.store(Register::RAX, self.lane_slot(RESULT, lane))
    }

    fn report(&mut self, status: Status) -> Result<(), IcedError> {
        let slot = self.slot(STATUS);
        self.put(Instruction::with2(
            Code::Or_rm32_imm8,
            slot,
            status.0 as i32,
        ))
    }

    /// Loads the result from the frame.
    fn complete(&mut self) -> Result<(), IcedError> {
        if self.node.kind == LanewiseOp::Store {
            return Ok(());
        }
        let (load, _) = codes::moves(self.node.encoding.vector_bytes(), self.node.encoding);
        let (vector, slot) = (self.vector(0), self.slot(RESULT));
        self.put(Instruction::with2(load, vector, slot))
    }
}
