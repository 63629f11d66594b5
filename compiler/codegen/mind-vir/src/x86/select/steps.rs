//! Steps of math functions that one of the encodings does in fewer instructions.

use mind_ir::scalar::math;
use regalloc2::VReg;

use crate::ir::{BinaryOp, Lane, ShiftOp};

use super::super::codes::{self, FmaForm};
use super::super::encoding::Encoding;
use super::super::view::View;
use super::arith::UNORDERED;
use super::{Rm, Select};

impl Select<'_> {
    /// The maximum, NaN if either operand is NaN, with +0 above -0.
    ///
    /// `vmaxps` depends on the operand order only for NaN, where it returns its second operand, and for zeros.
    /// Combining both orders, the sign bit is that of +0 if either is +0, and the other bits are a NaN if either is a
    /// NaN.
    pub(super) fn maximum(&mut self, lane: Lane, x: VReg, y: VReg) -> VReg {
        /// For each bit: both of the first two operands where the third is set, either of them elsewhere.
        const BOTH_OR_EITHER: u8 = 0b1101_0100;
        let max = codes::binary(BinaryOp::Max, lane).expect("a row");
        let first = self.two(max, x, Rm::Reg(y));
        let second = self.two(max, y, Rm::Reg(x));
        match self.encoding {
            Encoding::Evex => {
                let sign = self.pooled(lane, lane.sign());
                let (result, view) = (self.new_vector(), self.full());
                self.emit(codes::TERNARY)
                    .replace(result, first, view)
                    .reg(second, view)
                    .rm(sign, view)
                    .imm8(BOTH_OR_EITHER)
                    .done();
                result
            }
            Encoding::Vex => {
                let larger = self.two(codes::AND, first, Rm::Reg(second));
                let is_nan = self.new_vector();
                self.emit(codes::compare_float(lane, Encoding::Vex))
                    .def(is_nan, View::Ymm)
                    .reg(x, View::Ymm)
                    .reg(y, View::Ymm)
                    .imm8(UNORDERED)
                    .done();
                // All ones, where the comparison holds, is a NaN.
                self.two(codes::OR, larger, Rm::Reg(is_nan))
            }
        }
    }

    /// `x` 2^n, where `k` is n + `round_twice`.
    pub(super) fn scale(&mut self, lane: Lane, x: VReg, k: VReg) -> VReg {
        if self.encoding == Encoding::Evex {
            let n = self.exponent(lane, k);
            return self.coded(codes::scale(lane), x, Rm::Reg(n));
        }
        let multiply = codes::binary(BinaryOp::Mul, lane).expect("a row");
        let [first, second] = self.factors(lane, k);
        let scaled = self.two(multiply, x, Rm::Reg(first));
        self.two(multiply, scaled, Rm::Reg(second))
    }

    /// (1 + `q`) 2^n, where `k` is n + `round_twice`.
    pub(super) fn scale_sum(&mut self, lane: Lane, q: VReg, k: VReg) -> VReg {
        if self.encoding == Encoding::Evex {
            let one = self.pooled(lane, one(lane));
            let add = codes::binary(BinaryOp::Add, lane).expect("a row");
            let (sum, n) = (self.two(add, q, one), self.exponent(lane, k));
            return self.coded(codes::scale(lane), sum, Rm::Reg(n));
        }
        let [first, second] = self.factors(lane, k);
        let form = FmaForm {
            negate_product: false,
            subtract: false,
            replaces_addend: false,
        };
        let code = codes::fma(form, lane).code(self.encoding);
        let (sum, view) = (self.new_vector(), self.full());
        self.emit(code.expect("a form for each target"))
            .replace(sum, q, view)
            .reg(first, view)
            .reg(first, view)
            .done();
        let multiply = codes::binary(BinaryOp::Mul, lane).expect("a row");
        self.two(multiply, sum, Rm::Reg(second))
    }

    /// n of `k`, which is n + `round_twice`.
    fn exponent(&mut self, lane: Lane, k: VReg) -> VReg {
        let round = match lane {
            Lane::F64 => <f64 as math::Lane>::EXP.round_twice.to_bits(),
            Lane::F32 => <f32 as math::Lane>::EXP.round_twice.to_bits().into(),
            Lane::I8 | Lane::I16 | Lane::I32 | Lane::I64 => unreachable!("{FLOATS}"),
        };
        let round = self.pooled(lane, round);
        let subtract = codes::binary(BinaryOp::Sub, lane).expect("a row");
        self.two(subtract, k, round)
    }

    /// 2^floor(n/2) and 2^ceil(n/2), where `k` is n + `round_twice`.
    fn factors(&mut self, lane: Lane, k: VReg) -> [VReg; 2] {
        let int = lane.int();
        let floor = self.shifted(ShiftOp::Shr, int, k, 1);
        let subtract = codes::binary(BinaryOp::Sub, int).expect("a row");
        let ceil = self.two(subtract, k, Rm::Reg(floor));
        [floor, ceil].map(|half| self.shifted(ShiftOp::Shl, int, half, lane.fraction_bits()))
    }
}

/// An invariant of the verifier.
const FLOATS: &str = "verified lanes are floats";

/// The bits of 1.
fn one(lane: Lane) -> u64 {
    match lane {
        Lane::F64 => 1f64.to_bits(),
        Lane::F32 => 1f32.to_bits().into(),
        Lane::I8 | Lane::I16 | Lane::I32 | Lane::I64 => unreachable!("{FLOATS}"),
    }
}
