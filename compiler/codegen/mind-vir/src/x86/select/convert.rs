//! Conversions and moves between lanes.

use iced_x86::Code;
use regalloc2::VReg;

use crate::ir::{ConvertOp, Lane, Value};

use super::super::codes;
use super::super::machine::Mem;
use super::super::view::View;
use super::{Rm, Select, bytes};

impl Select<'_> {
    pub(super) fn convert(&mut self, value: Value, op: ConvertOp, to: Lane, a: Value) {
        let from = self.function.lane(a);
        if op == ConvertOp::Bits {
            return self.rename(value, a);
        }
        if let Some(lookup) = self.uses.lookup(value) {
            return self.look_up(value, lookup);
        }
        let x = self.reg(a);
        let code = codes::convert(op, from, to).and_then(|row| row.code(self.encoding));
        let result = match code {
            Some(code) => {
                let result = self.new_vector();
                let (source, target) = (self.part(from, to), self.part(to, from));
                self.emit(code).def(result, target).reg(x, source).done();
                result
            }
            None if op == ConvertOp::F32ToHalf => self.halves(x),
            None => self.truncate(from, to, x),
        };
        self.bind(value, result);
    }

    /// Binds the register, or constant, of `a` to another value.
    fn rename(&mut self, value: Value, a: Value) {
        match self.values[a.index()] {
            Some(vreg) => {
                self.values[value.index()] = Some(vreg);
                self.depths[value.index()] = self.depths[a.index()];
            }
            None => {
                let offset = self.constants[&a];
                self.constants.insert(value, offset);
            }
        }
    }

    /// Returns the part of a register that a vector of `lane` fills if one of `other` fills it, or more than it.
    fn part(&self, lane: Lane, other: Lane) -> View {
        let half = if self.encoding.has_masks() {
            View::Ymm
        } else {
            View::Xmm
        };
        match other.bits().max(lane.bits()) / lane.bits() {
            1 => self.full(),
            2 => half,
            _ => View::Xmm,
        }
    }

    fn halves(&mut self, x: VReg) -> VReg {
        let (code, half) = if self.encoding.has_masks() {
            (Code::EVEX_Vcvtps2ph_ymmm256_k1z_zmm_imm8_sae, View::Ymm)
        } else {
            (Code::VEX_Vcvtps2ph_xmmm128_ymm_imm8, View::Xmm)
        };
        let (result, full) = (self.new_vector(), self.full());
        const TO_NEAREST_EVEN: u8 = 0;
        self.emit(code)
            .def(result, half)
            .reg(x, full)
            .imm8(TO_NEAREST_EVEN)
            .done();
        result
    }

    /// Truncates lanes with AVX2, which only halves lanes, and within 128 bits.
    fn truncate(&mut self, from: Lane, to: Lane, x: VReg) -> VReg {
        let (half, packed) = match from {
            Lane::I64 => (Lane::I32, self.even_quarters(x)),
            Lane::I32 => {
                let low = self.pooled(Lane::I32, 0xffff);
                let low = self.two(codes::AND, x, low);
                (Lane::I16, self.packed(codes::PACK_I32, low))
            }
            _ => {
                let low = self.pooled(Lane::I16, 0xff);
                let low = self.two(codes::AND, x, low);
                (Lane::I8, self.packed(codes::PACK_I16, low))
            }
        };
        if half == to {
            packed
        } else {
            self.truncate(half, to, packed)
        }
    }

    /// The low 32 bits of each 64-bit lane, contiguous.
    fn even_quarters(&mut self, x: VReg) -> VReg {
        let order: Vec<u8> = [0u32, 2, 4, 6]
            .iter()
            .flat_map(|place| place.to_le_bytes())
            .collect();
        let order = self.pool.vector(order);
        let places = self.new_vector();
        self.load_constant(places, order);
        self.two(codes::PERMUTE_I32, places, Rm::Reg(x))
    }

    /// Packs each half of `x`, and concatenates the results.
    fn packed(&mut self, pack: codes::InstructionForms, x: VReg) -> VReg {
        let packed = self.two(pack, x, Rm::Reg(x));
        let result = self.new_vector();
        const EVEN_QUARTERS: u8 = 0b00_00_10_00;
        let permute = self
            .emit(Code::VEX_Vpermq_ymm_ymmm256_imm8)
            .def(result, View::Ymm);
        permute.reg(packed, View::Ymm).imm8(EVEN_QUARTERS).done();
        result
    }

    /// Broadcasts the first lane.
    pub(super) fn splat(&mut self, value: Value, a: Value) {
        let code = codes::splat_register(self.function.lane(a), self.encoding);
        let (x, full) = (self.reg(a), self.full());
        let result = self.define(value);
        self.emit(code).def(result, full).reg(x, View::Xmm).done();
    }

    /// Shifts the whole register down, after zeroing bytes beyond the last lane.
    pub(super) fn lanes_down(&mut self, value: Value, a: Value, n: u32) {
        let lane = self.function.lane(a);
        let (size, distance) = (bytes(self.function, lane), n * lane.bytes());
        let mut x = self.reg(a);
        if size < self.full_bytes() {
            let inside = self.pool.vector(vec![0xff; size as usize]);
            x = self.two(codes::AND, x, Rm::Mem(Mem::pool(inside)));
        }
        let result = if self.encoding.has_masks() {
            self.down_512(x, distance)
        } else {
            self.down_256(x, distance)
        };
        self.bind(value, result);
    }

    /// Bytes `distance..` of 32, followed by zeros.
    fn down_256(&mut self, x: VReg, distance: u32) -> VReg {
        /// The high half in the low one, zero in the high one.
        const HIGH_HALF: u8 = 0x81;
        let high = self.new_vector();
        let swap = self
            .emit(Code::VEX_Vperm2i128_ymm_ymm_ymmm256_imm8)
            .def(high, View::Ymm);
        swap.reg(x, View::Ymm)
            .reg(x, View::Ymm)
            .imm8(HIGH_HALF)
            .done();
        if distance == 16 {
            return high;
        }
        let result = self.new_vector();
        let join = self
            .emit(Code::VEX_Vpalignr_ymm_ymm_ymmm256_imm8)
            .def(result, View::Ymm);
        join.reg(high, View::Ymm)
            .reg(x, View::Ymm)
            .imm8(distance as u8)
            .done();
        result
    }

    /// Bytes `distance..` of 64, followed by zeros.
    fn down_512(&mut self, x: VReg, distance: u32) -> VReg {
        let zero = self.pool.repeated(&[0]);
        let zeros = self.new_vector();
        self.load_constant(zeros, zero);
        let words = if distance < 4 { 4 } else { distance / 4 };
        let down = self.new_vector();
        let code = Code::EVEX_Valignd_zmm_k1z_zmm_zmmm512b32_imm8;
        let join = self.emit(code).def(down, View::Zmm).reg(zeros, View::Zmm);
        join.reg(x, View::Zmm).imm8(words as u8).done();
        if distance >= 4 {
            return down;
        }
        let result = self.new_vector();
        let code = Code::EVEX_Vpalignr_zmm_k1z_zmm_zmmm512_imm8;
        let join = self.emit(code).def(result, View::Zmm).reg(down, View::Zmm);
        join.reg(x, View::Zmm).imm8(distance as u8).done();
        result
    }
}
