//! Conversions of 16-bit floats by operations that every vector unit has.

use cranelift_codegen::ir::{self, InstBuilder};

use crate::ir::{Lane, Predicate};

use super::translate::Translate;

/// The additional fraction bits of f32 over f16.
const EXTRA: i64 = 13;

impl Translate<'_, '_> {
    fn i32s(&mut self, bits: u32) -> ir::Value {
        self.splat_bits(Lane::I32, bits.into())
    }

    /// `f16` in the low `I16` lanes to `F32`.
    ///
    /// With its fraction shifted into place, an f16 differs from the f32 by a constant power of two, even if it is
    /// subnormal.
    pub(super) fn half_to_f32(&mut self, x: ir::Value) -> ir::Value {
        let wide = self.zero_extend(Lane::I16, Lane::I32, x);
        let (magnitude, sign) = (self.i32s(0x7fff), self.i32s(0x8000));
        let magnitude = self.builder.ins().band(wide, magnitude);
        let sign = self.builder.ins().band(wide, sign);
        let sign = self.builder.ins().ishl_imm(sign, 16);
        let placed = self.builder.ins().ishl_imm(magnitude, EXTRA);
        let placed = self.cast(Lane::F32, placed);
        let power = self.splat_bits(Lane::F32, 2f32.powi(112).to_bits().into());
        let scaled = self.builder.ins().fmul(placed, power);
        let scaled = self.cast(Lane::I32, scaled);
        let largest = self.i32s(0x7bff);
        let is_special = self.compared(Predicate::Lt, Lane::I32, largest, magnitude);
        let exponent = self.i32s(0x7f80_0000);
        let exponent = self.builder.ins().band(is_special, exponent);
        let bits = self.builder.ins().bor(scaled, exponent);
        let bits = self.builder.ins().bor(bits, sign);
        self.cast(Lane::F32, bits)
    }

    /// `F32` to the nearest `f16` in the low `I16` lanes, ties to even.
    pub(super) fn f32_to_half(&mut self, x: ir::Value) -> ir::Value {
        let bits = self.cast(Lane::I32, x);
        let (magnitude, sign) = (self.i32s(0x7fff_ffff), self.i32s(0x8000_0000));
        let magnitude = self.builder.ins().band(bits, magnitude);
        let sign = self.builder.ins().band(bits, sign);
        let sign = self.builder.ins().ushr_imm(sign, 16);

        // Normal numbers: half a unit less one, and one more where the last bit kept is set.
        let one = self.i32s(1);
        let odd = self.builder.ins().ushr_imm(magnitude, EXTRA);
        let odd = self.builder.ins().band(odd, one);
        let rebias = self.i32s(((15 - 127) << 23) as u32 + 0xfff);
        let normal = self.builder.ins().iadd(magnitude, rebias);
        let normal = self.builder.ins().iadd(normal, odd);
        let normal = self.builder.ins().ushr_imm(normal, EXTRA);

        // Subnormal numbers: adding a number whose ulp is the smallest f16 rounds to it.
        let unit = ((127 - 15) + (23 - 10) + 1) << 23;
        let (unit_bits, unit) = (self.i32s(unit), self.splat_bits(Lane::F32, unit.into()));
        let small = self.cast(Lane::F32, magnitude);
        let small = self.builder.ins().fadd(small, unit);
        let small = self.cast(Lane::I32, small);
        let small = self.builder.ins().isub(small, unit_bits);

        let (lowest_normal, overflow) = (self.i32s(113 << 23), self.i32s(143 << 23));
        let (infinity, infinite_f16, nan) =
            (self.i32s(0x7f80_0000), self.i32s(0x7c00), self.i32s(0x7e00));
        let is_small = self.compared(Predicate::Lt, Lane::I32, magnitude, lowest_normal);
        let is_finite = self.compared(Predicate::Lt, Lane::I32, magnitude, overflow);
        let is_nan = self.compared(Predicate::Lt, Lane::I32, infinity, magnitude);
        let finite = self.select(Lane::I32, is_small, small, normal);
        let special = self.select(Lane::I32, is_nan, nan, infinite_f16);
        let result = self.select(Lane::I32, is_finite, finite, special);
        let result = self.builder.ins().bor(result, sign);
        self.truncate(Lane::I32, Lane::I16, result)
    }
}
