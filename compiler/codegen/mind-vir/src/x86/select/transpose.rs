//! Interleaving of blocks of lanes.

use iced_x86::Code;
use regalloc2::VReg;

use crate::ir::{Lane, ShiftOp, Value};

use super::super::codes;
use super::super::machine::Mem;
use super::super::view::View;
use super::{Rm, Select};

impl Select<'_> {
    pub(super) fn transpose(
        &mut self,
        value: Value,
        odd: bool,
        block: u32,
        first: Value,
        second: Value,
    ) {
        let bytes = block * self.function.lane(first).bytes();
        let (x, y) = (self.reg(first), self.reg(second));
        let result = match bytes {
            1 => self.transpose_bytes(odd, x, y),
            _ if self.encoding.has_masks() => self.transpose_512(odd, bytes, x, y),
            2 | 4 => self.transpose_by_shift(odd, bytes, x, y),
            8 => {
                let code = if odd {
                    Code::VEX_Vpunpckhqdq_ymm_ymm_ymmm256
                } else {
                    Code::VEX_Vpunpcklqdq_ymm_ymm_ymmm256
                };
                self.coded(code, x, Rm::Reg(y))
            }
            _ => {
                /// The low halves of both, and the high ones.
                const LOW_HALVES: u8 = 0x20;
                const HIGH_HALVES: u8 = 0x31;
                let halves = if odd { HIGH_HALVES } else { LOW_HALVES };
                self.joined(Code::VEX_Vperm2i128_ymm_ymm_ymmm256_imm8, x, y, halves)
            }
        };
        self.bind(value, result);
    }

    fn joined(&mut self, code: Code, x: VReg, y: VReg, how: u8) -> VReg {
        let result = self.new_vector();
        let join = self.emit(code).def(result, View::Ymm);
        let join = join.reg(x, View::Ymm).reg(y, View::Ymm);
        join.imm8(how).done();
        result
    }

    /// Bytes are moved within 16-bit lanes, then each pair is combined from halves.
    fn transpose_bytes(&mut self, odd: bool, x: VReg, y: VReg) -> VReg {
        let (low, high) = (
            self.pooled(Lane::I16, 0x00ff),
            self.pooled(Lane::I16, 0xff00),
        );
        let (x, y) = if odd {
            let x = self.shifted(ShiftOp::Shr, Lane::I16, x, 8);
            (x, self.two(codes::AND, y, high))
        } else {
            let y = self.shifted(ShiftOp::Shl, Lane::I16, y, 8);
            (self.two(codes::AND, x, low), y)
        };
        self.two(codes::OR, x, Rm::Reg(y))
    }

    /// Blocks of 2 or 4 bytes are shifted within lanes of twice the size, then blended.
    fn transpose_by_shift(&mut self, odd: bool, bytes: u32, x: VReg, y: VReg) -> VReg {
        let (lane, blend) = match bytes {
            2 => (Lane::I32, Code::VEX_Vpblendw_ymm_ymm_ymmm256_imm8),
            _ => (Lane::I64, Code::VEX_Vpblendd_ymm_ymm_ymmm256_imm8),
        };
        const IN_TURN: u8 = 0b1010_1010;
        let (x, y) = if odd {
            (self.shifted(ShiftOp::Shr, lane, x, 8 * bytes), y)
        } else {
            (x, self.shifted(ShiftOp::Shl, lane, y, 8 * bytes))
        };
        self.joined(blend, x, y, IN_TURN)
    }

    /// Two-source permutation with constant indices; those of the second vector follow the first's.
    fn transpose_512(&mut self, odd: bool, bytes: u32, x: VReg, y: VReg) -> VReg {
        const PAIRS: u32 = 32;
        let block = bytes / 2;
        let places = (0..PAIRS).flat_map(|place| {
            let pair = place / (2 * block) * (2 * block);
            let inside = pair + place % block + if odd { block } else { 0 };
            let of_second = place - pair >= block;
            let from = if of_second { inside + PAIRS } else { inside };
            (from as u16).to_le_bytes()
        });
        let order = self.pool.vector(places.collect());
        let order_at = self.new_vector();
        let load = self.emit(Code::EVEX_Vmovdqu16_zmm_k1z_zmmm512);
        load.def(order_at, View::Zmm).mem(Mem::pool(order)).done();
        let result = self.new_vector();
        let permute = self.emit(Code::EVEX_Vpermt2w_zmm_k1z_zmm_zmmm512);
        let permute = permute.replace(result, x, View::Zmm);
        permute.reg(order_at, View::Zmm).reg(y, View::Zmm).done();
        result
    }
}
