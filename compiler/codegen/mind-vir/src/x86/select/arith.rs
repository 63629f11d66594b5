//! Arithmetic, comparisons and selects.

use iced_x86::Code;
use regalloc2::{RegClass, VReg};

use crate::ir::{BinaryOp, Lane, MaskOp, Predicate, ShiftOp, UnaryOp, Value};
use crate::mach::MovedByte;

use super::super::codes::{self, FmaForm, InstructionForms};
use super::super::encoding::Encoding;
use super::super::machine::Mem;
use super::super::view::View;
use super::{Rm, Select};

/// The predicate of float comparisons that holds if either operand is NaN.
pub(super) const UNORDERED: u8 = 0x03;

impl Select<'_> {
    /// A vector with `bits` in every lane, in the pool.
    pub(super) fn pooled(&mut self, lane: Lane, bits: u64) -> Rm {
        let bytes = &bits.to_le_bytes()[..lane.bytes() as usize];
        Rm::Mem(Mem::pool(self.pool.repeated(bytes)))
    }

    /// Emits the instruction of `row` on two vectors.
    ///
    /// # Panics
    ///
    /// Panics if the target has no such instruction.
    pub(super) fn two(&mut self, row: InstructionForms, a: VReg, b: Rm) -> VReg {
        let code = row.code(self.encoding).expect("a form for the target");
        self.coded(code, a, b)
    }

    pub(super) fn coded(&mut self, code: Code, a: VReg, b: Rm) -> VReg {
        let (result, view) = (self.new_vector(), self.full());
        self.emit(code)
            .def(result, view)
            .reg(a, view)
            .rm(b, view)
            .done();
        result
    }

    /// `a` shifted by a constant, by an instruction of the target.
    pub(super) fn shifted(&mut self, op: ShiftOp, lane: Lane, a: VReg, n: u32) -> VReg {
        let row = codes::shift(op, lane).and_then(|row| row.code(self.encoding));
        let (code, view) = (row.expect("a form for the target"), self.full());
        let result = self.new_vector();
        self.emit(code)
            .def(result, view)
            .reg(a, view)
            .imm8(n as u8)
            .done();
        result
    }

    /// Makes `vreg` the register of `value`.
    pub(super) fn bind(&mut self, value: Value, vreg: VReg) {
        self.values[value.index()] = Some(vreg);
        self.depths[value.index()] = self.depth;
    }

    /// An instruction of one vector that both encodings have, with its immediate if it takes one.
    fn one(&mut self, row: codes::InstructionForms, x: VReg, immediate: Option<u8>) -> VReg {
        let code = row.code(self.encoding).expect("a form for each target");
        let (result, view) = (self.new_vector(), self.full());
        let mut instruction = self.emit(code).def(result, view).reg(x, view);
        if let Some(immediate) = immediate {
            instruction = instruction.imm8(immediate);
        }
        instruction.done();
        result
    }

    pub(super) fn unary(&mut self, value: Value, op: UnaryOp, a: Value) {
        let lane = self.function.lane(a);
        let x = self.reg(a);
        let result = match op {
            UnaryOp::Neg => {
                let sign = self.pooled(lane, lane.sign());
                self.two(codes::XOR, x, sign)
            }
            UnaryOp::Abs => {
                let magnitude = self.pooled(lane, lane.mask() ^ lane.sign());
                self.two(codes::AND, x, magnitude)
            }
            UnaryOp::Sqrt => self.one(codes::sqrt(lane), x, None),
            UnaryOp::Round => self.one(codes::round(lane), x, Some(0)),
            UnaryOp::Floor => self.one(codes::round(lane), x, Some(1)),
            UnaryOp::Ceil => self.one(codes::round(lane), x, Some(2)),
            UnaryOp::Trunc => self.one(codes::round(lane), x, Some(3)),
        };
        self.bind(value, result);
    }

    /// Returns whether `value` is a constant without a register.
    fn is_pooled(&self, value: Value) -> bool {
        matches!(self.rm(value), Rm::Mem(_))
    }

    pub(super) fn binary(&mut self, value: Value, op: BinaryOp, a: Value, b: Value) {
        if let Some(moved) = self.uses.moved_byte(value) {
            return self.move_byte(value, moved);
        }
        let lane = self.function.lane(a);
        let swap = op.is_commutative(lane) && self.is_pooled(a);
        let (a, b) = if swap { (b, a) } else { (a, b) };
        let x = self.reg(a);
        let code = codes::binary(op, lane).and_then(|row| row.code(self.encoding));
        let result = match code {
            Some(code) => {
                let y = self.rm(b);
                self.coded(code, x, y)
            }
            None => {
                let y = self.reg(b);
                self.expanded(op, lane, x, y)
            }
        };
        self.bind(value, result);
    }

    fn move_byte(&mut self, value: Value, moved: MovedByte) {
        // Indices are relative to a 16-byte block; one with the highest bit set zeroes the byte.
        let places = (0..self.full_bytes()).map(|at| {
            if at % 4 == moved.to {
                (at % 16 - moved.to + moved.from) as u8
            } else {
                0x80
            }
        });
        let places = Rm::Mem(Mem::pool(self.pool.vector(places.collect())));
        let word = self.reg(moved.word);
        let result = self.two(codes::PERMUTE_BYTES, word, places);
        self.bind(value, result);
    }

    /// A binary operation that takes several instructions.
    fn expanded(&mut self, op: BinaryOp, lane: Lane, x: VReg, y: VReg) -> VReg {
        match op {
            BinaryOp::Mul if lane == Lane::I8 => self.multiply_bytes(x, y),
            BinaryOp::Mul => self.multiply_quads(x, y),
            BinaryOp::Min => {
                let less = self.greater(lane, y, x);
                self.blend(lane, less, x, y)
            }
            BinaryOp::Max => {
                let less = self.greater(lane, y, x);
                self.blend(lane, less, y, x)
            }
            BinaryOp::UMin => {
                let less = self.greater_unsigned(lane, y, x);
                self.blend(lane, less, x, y)
            }
            BinaryOp::UMax => {
                let less = self.greater_unsigned(lane, y, x);
                self.blend(lane, less, y, x)
            }
            BinaryOp::Maximum => self.maximum(lane, x, y),
            BinaryOp::Scale => self.scale(lane, x, y),
            BinaryOp::ScaleSum => self.scale_sum(lane, x, y),
            BinaryOp::Shift(ShiftOp::Sra) => self.shift_quads(x, y),
            BinaryOp::Shift(ShiftOp::Shl | ShiftOp::Shr)
            | BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::MulHalves
            | BinaryOp::MulBytes
            | BinaryOp::AddHalves
            | BinaryOp::Div
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor => unreachable!("{op:?} of {lane} is one instruction"),
        }
    }

    /// Arithmetic right shifts of 64-bit lanes, which AVX2 lacks: logical shifts, with the bits of negative numbers
    /// inverted before and after.
    fn shift_quads(&mut self, x: VReg, by: VReg) -> VReg {
        let zero = self.two(codes::XOR, x, Rm::Reg(x));
        let sign = self.greater(Lane::I64, zero, x);
        let magnitude = self.two(codes::XOR, x, Rm::Reg(sign));
        let logical = codes::binary(BinaryOp::Shift(ShiftOp::Shr), Lane::I64).expect("a row");
        let shifted = self.two(logical, magnitude, Rm::Reg(by));
        self.two(codes::XOR, shifted, Rm::Reg(sign))
    }

    /// Products of the even and of the odd bytes, in 16 bits each.
    fn multiply_bytes(&mut self, x: VReg, y: VReg) -> VReg {
        let multiply = codes::binary(BinaryOp::Mul, Lane::I16).expect("a row");
        let even = self.two(multiply, x, Rm::Reg(y));
        let low = self.pooled(Lane::I16, 0x00ff);
        let even = self.two(codes::AND, even, low);
        let x = self.shifted(ShiftOp::Shr, Lane::I16, x, 8);
        let high = self.pooled(Lane::I16, 0xff00);
        let y = self.two(codes::AND, y, high);
        let odd = self.two(multiply, x, Rm::Reg(y));
        self.two(codes::OR, even, Rm::Reg(odd))
    }

    /// `low * low + ((high * low + low * high) << 32)`, of halves of 32 bits.
    fn multiply_quads(&mut self, x: VReg, y: VReg) -> VReg {
        let add = codes::binary(BinaryOp::Add, Lane::I64).expect("a row");
        let low = self.two(codes::MULTIPLY_LOW_HALVES, x, Rm::Reg(y));
        let x_high = self.shifted(ShiftOp::Shr, Lane::I64, x, 32);
        let y_high = self.shifted(ShiftOp::Shr, Lane::I64, y, 32);
        let first = self.two(codes::MULTIPLY_LOW_HALVES, x_high, Rm::Reg(y));
        let second = self.two(codes::MULTIPLY_LOW_HALVES, y_high, Rm::Reg(x));
        let cross = self.two(add, first, Rm::Reg(second));
        let cross = self.shifted(ShiftOp::Shl, Lane::I64, cross, 32);
        self.two(add, low, Rm::Reg(cross))
    }

    /// `x > y` as a vector, of signed numbers.
    fn greater(&mut self, lane: Lane, x: VReg, y: VReg) -> VReg {
        self.coded(codes::compare_vex(lane, false), x, Rm::Reg(y))
    }

    /// Unsigned `x > y` as a vector: a signed comparison after flipping the sign bits.
    fn greater_unsigned(&mut self, lane: Lane, x: VReg, y: VReg) -> VReg {
        let sign = self.pooled(lane, lane.sign());
        let x = self.two(codes::XOR, x, sign);
        let y = self.two(codes::XOR, y, sign);
        self.greater(lane, x, y)
    }

    /// A select by a mask in a vector.
    fn blend(&mut self, lane: Lane, mask: VReg, a: VReg, b: VReg) -> VReg {
        let result = self.new_vector();
        let blend = self
            .emit(codes::select(lane, Encoding::Vex))
            .def(result, View::Ymm);
        let blend = blend
            .reg(b, View::Ymm)
            .reg(a, View::Ymm)
            .reg(mask, View::Ymm);
        blend.done();
        result
    }

    /// A fused multiply-add overwrites one of its operands, preferably one that is dead after it.
    pub(super) fn fma(&mut self, value: Value, a: Value, b: Value, c: Value) {
        let fused = self.uses.fused(a, b, c);
        let (mut a, mut b, c) = (fused.a, fused.b, fused.c);
        let lane = self.function.lane(a);
        let (a_dies, b_dies) = (self.dies(a), self.dies(b));
        let c_dies = self.dies(c);
        if self.is_pooled(a) || (b_dies && !a_dies && !self.is_pooled(b)) {
            (a, b) = (b, a);
        }
        let either_dies = a_dies || b_dies;
        if !either_dies && self.is_pooled(b) && self.is_pooled(c) {
            // The factor must be loaded anyway; loading it to the result's register saves a copy of the other one.
            (a, b) = (b, a);
        }
        let replaces_addend = !self.is_pooled(c) && (c_dies || !either_dies || self.is_pooled(b));
        let form = FmaForm {
            negate_product: fused.negate_product,
            subtract: fused.subtract,
            replaces_addend,
        };
        let code = codes::fma(form, lane)
            .code(self.encoding)
            .expect("a form for each target");
        let view = self.full();
        let x = self.reg(a);
        let (target, middle, last) = if replaces_addend {
            (self.reg(c), x, self.rm(b))
        } else {
            let y = self.reg(b);
            (x, y, self.rm(c))
        };
        let result = self.new_vector();
        self.emit(code)
            .replace(result, target, view)
            .reg(middle, view)
            .rm(last, view)
            .done();
        self.bind(value, result);
    }

    pub(super) fn shift(&mut self, value: Value, op: ShiftOp, a: Value, n: u32) {
        let lane = self.function.lane(a);
        let x = self.reg(a);
        let has_form = codes::shift(op, lane).is_some_and(|row| row.code(self.encoding).is_some());
        let result = match op {
            _ if has_form => self.shifted(op, lane, x, n),
            ShiftOp::Shl => self.shift_bytes(op, x, n, 0xff << n),
            ShiftOp::Shr => self.shift_bytes(op, x, n, 0xff >> n),
            ShiftOp::Sra => {
                let logical = match lane {
                    Lane::I8 => self.shift_bytes(ShiftOp::Shr, x, n, 0xff >> n),
                    _ => self.shifted(ShiftOp::Shr, lane, x, n),
                };
                // Flipping and subtracting the shifted sign bit sign-extends it.
                let sign = self.pooled(lane, lane.sign() >> n);
                let flipped = self.two(codes::XOR, logical, sign);
                let subtract = codes::binary(BinaryOp::Sub, lane).expect("a row");
                self.two(subtract, flipped, sign)
            }
        };
        self.bind(value, result);
    }

    /// A shift of 16-bit lanes, with the bits from the neighbouring byte masked.
    fn shift_bytes(&mut self, op: ShiftOp, x: VReg, n: u32, keep: u64) -> VReg {
        let shifted = self.shifted(op, Lane::I16, x, n);
        let keep = self.pooled(Lane::I8, keep & 0xff);
        self.two(codes::AND, shifted, keep)
    }

    pub(super) fn compare(&mut self, value: Value, predicate: Predicate, a: Value, b: Value) {
        let lane = self.function.lane(a);
        let (x, y) = (self.reg(a), self.rm(b));
        if lane.is_float() {
            let how = match predicate {
                Predicate::Eq => 0x00,
                Predicate::Lt => 0x11,
                Predicate::Le => 0x12,
                Predicate::Unordered => UNORDERED,
                Predicate::ULt => unreachable!("verified lanes are integers"),
            };
            let code = codes::compare_float(lane, self.encoding);
            return self.compare_by(value, code, x, y, how);
        }
        if self.encoding.has_masks() {
            let how = match predicate {
                Predicate::Eq => 0,
                Predicate::Lt | Predicate::ULt => 1,
                Predicate::Le => 2,
                Predicate::Unordered => unreachable!("verified lanes are floats"),
            };
            let code = codes::compare_evex(lane, predicate == Predicate::ULt);
            return self.compare_by(value, code, x, y, how);
        }
        let result = match predicate {
            Predicate::Eq => self.coded(codes::compare_vex(lane, true), x, y),
            Predicate::Lt | Predicate::ULt => {
                let y = self.reg(b);
                match predicate {
                    Predicate::Lt => self.greater(lane, y, x),
                    _ => self.greater_unsigned(lane, y, x),
                }
            }
            Predicate::Le => {
                let greater = self.coded(codes::compare_vex(lane, false), x, y);
                let ones = self.pooled(Lane::I8, 0xff);
                self.two(codes::XOR, greater, ones)
            }
            Predicate::Unordered => unreachable!("verified lanes are floats"),
        };
        self.bind(value, result);
    }

    /// A comparison whose predicate is an immediate.
    fn compare_by(&mut self, value: Value, code: Code, x: VReg, y: Rm, how: u8) {
        let result = self.define(value);
        let (full, view) = match result.class() {
            RegClass::Vector => (self.full(), View::Mask),
            _ => (self.full(), self.full()),
        };
        self.emit(code)
            .def(result, view)
            .reg(x, full)
            .rm(y, full)
            .imm8(how)
            .done();
    }

    pub(super) fn mask_op(&mut self, value: Value, op: MaskOp, a: Value, b: Value) {
        let (x, y) = (self.reg(a), self.reg(b));
        let (wide, narrow) = match op {
            MaskOp::And => (Code::VEX_Kandq_kr_kr_kr, Code::VEX_Vpand_ymm_ymm_ymmm256),
            MaskOp::Or => (Code::VEX_Korq_kr_kr_kr, Code::VEX_Vpor_ymm_ymm_ymmm256),
            MaskOp::AndNot => (Code::VEX_Kandnq_kr_kr_kr, Code::VEX_Vpandn_ymm_ymm_ymmm256),
        };
        // The instruction complements its first operand.
        let (x, y) = if op == MaskOp::AndNot { (y, x) } else { (x, y) };
        let result = self.define(value);
        let (code, view) = if self.encoding.has_masks() {
            (wide, View::Mask)
        } else {
            (narrow, View::Ymm)
        };
        self.emit(code)
            .def(result, view)
            .reg(x, view)
            .reg(y, view)
            .done();
    }

    pub(super) fn choose(&mut self, value: Value, mask: Value, a: Value, b: Value) {
        let lane = self.function.lane(a);
        let (mask, x, y) = (self.reg(mask), self.rm(a), self.reg(b));
        let (result, view) = (self.define(value), self.full());
        let blend = self
            .emit(codes::select(lane, self.encoding))
            .def(result, view);
        let blend = blend.reg(y, view).rm(x, view);
        if mask.class() == RegClass::Vector {
            blend.masked(mask).done();
        } else {
            blend.reg(mask, view).done();
        }
    }
}
