//! Stores that go past the caches.

use iced_x86::{Code, IcedError, Instruction, MemoryOperand};
use regalloc2::PReg;

use super::codes;
use super::encoder::Encoder;
use super::encoding::Encoding;
use super::registers;
use super::view::View;

/// A store of a whole vector, past the caches if its address is a multiple of its size.
///
/// The instruction for that faults on other addresses, so the address is tested. Operands: vector, pointer.
#[derive(Clone, Copy, Debug)]
pub(super) struct NonTemporalStore {
    /// Bytes of the vector, 16 to 64.
    pub size: u32,
    pub encoding: Encoding,
}

impl NonTemporalStore {
    /// Encodes the test and both stores, the one for other addresses after all other code.
    pub fn emit(&self, encoder: &mut Encoder, regs: &[PReg]) -> Result<(), IcedError> {
        let view = match self.size {
            64 => View::Zmm,
            32 => View::Ymm,
            _ => View::Xmm,
        };
        let vector = registers::named(regs[0], view);
        let pointer = registers::named(regs[1], View::Gpr64);
        let to = MemoryOperand::with_base(pointer);
        let past = match (self.size, self.encoding) {
            (64, _) => Code::EVEX_Vmovntps_m512_zmm,
            (32, Encoding::Evex) => Code::EVEX_Vmovntps_m256_ymm,
            (32, Encoding::Vex) => Code::VEX_Vmovntps_m256_ymm,
            (_, Encoding::Evex) => Code::EVEX_Vmovntps_m128_xmm,
            (_, Encoding::Vex) => Code::VEX_Vmovntps_m128_xmm,
        };
        let (_, plain) = codes::moves(self.size, self.encoding);
        let (unaligned, done) = (encoder.new_label(), encoder.new_label());
        let low = self.size - 1;
        let low_of = registers::sized(pointer, 4);
        encoder.put(&Instruction::with2(Code::Test_rm32_imm32, low_of, low)?);
        encoder.jump(Code::Jne_rel32_64, unaligned);
        encoder.put(&Instruction::with2(past, to, vector)?);
        encoder.bind(done);
        encoder.detour(unaligned, Instruction::with2(plain, to, vector)?, done);
        Ok(())
    }
}
