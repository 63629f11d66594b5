//! Elements of any dtype in memory.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::immediates::{Ieee32, Ieee64};
use cranelift_codegen::ir::{InstBuilder, MemFlags, Type, Value, types};
use mind_ir::types::DType;

use crate::object::body::{Body, anywhere};
use crate::program::IndexType;

/// The additional fraction bits of f32 over f16.
const EXTRA: i64 = 13;

/// Returns the type of computations: for floats that of their accumulator, for integers one that holds all of them.
pub(super) const fn computed(dtype: DType) -> Type {
    match dtype {
        DType::F16 | DType::BF16 | DType::F32 => types::F32,
        DType::F64 => types::F64,
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => types::I64,
        DType::U8 | DType::U16 | DType::U32 | DType::U64 | DType::Bool => types::I64,
    }
}

/// A constant of the computation type of `dtype`.
pub(super) fn number(body: &mut Body<'_>, dtype: DType, x: f64) -> Value {
    if dtype == DType::F64 {
        double(body, x)
    } else {
        single(body, x as f32)
    }
}

pub(super) fn double(body: &mut Body<'_>, x: f64) -> Value {
    body.ins().f64const(Ieee64::with_bits(x.to_bits()))
}

fn single(body: &mut Body<'_>, x: f32) -> Value {
    body.ins().f32const(Ieee32::with_bits(x.to_bits()))
}

/// The same bits as another type.
pub(super) fn bits(body: &mut Body<'_>, ty: Type, x: Value) -> Value {
    body.ins().bitcast(ty, MemFlags::new(), x)
}

/// Loads the element at `at`, extended to the computation type.
pub(super) fn read(body: &mut Body<'_>, dtype: DType, at: Value) -> Value {
    let ins = body.ins();
    match dtype {
        DType::F16 => {
            let half = ins.uload16(types::I32, anywhere(), at, 0);
            half_to_f32(body, half)
        }
        DType::BF16 => {
            let high = ins.uload16(types::I32, anywhere(), at, 0);
            let word = body.ins().ishl_imm(high, 16);
            bits(body, types::F32, word)
        }
        DType::F32 => ins.load(types::F32, anywhere(), at, 0),
        DType::F64 => ins.load(types::F64, anywhere(), at, 0),
        DType::I8 => ins.sload8(types::I64, anywhere(), at, 0),
        DType::I16 => ins.sload16(types::I64, anywhere(), at, 0),
        DType::I32 => ins.sload32(anywhere(), at, 0),
        DType::U8 | DType::Bool => ins.uload8(types::I64, anywhere(), at, 0),
        DType::U16 => ins.uload16(types::I64, anywhere(), at, 0),
        DType::U32 => ins.uload32(anywhere(), at, 0),
        DType::I64 | DType::U64 => ins.load(types::I64, anywhere(), at, 0),
    }
}

/// Stores `x`, of the computation type, to `at`, rounded or wrapped.
pub(super) fn write(body: &mut Body<'_>, dtype: DType, at: Value, x: Value) {
    match dtype {
        DType::F16 => {
            let half = f32_to_half(body, x);
            body.ins().istore16(anywhere(), half, at, 0);
        }
        DType::BF16 => {
            let high = f32_to_bf16(body, x);
            body.ins().istore16(anywhere(), high, at, 0);
        }
        DType::I8 | DType::U8 => {
            body.ins().istore8(anywhere(), x, at, 0);
        }
        DType::I16 | DType::U16 => {
            body.ins().istore16(anywhere(), x, at, 0);
        }
        DType::I32 | DType::U32 => {
            body.ins().istore32(anywhere(), x, at, 0);
        }
        DType::F32 | DType::F64 | DType::I64 | DType::U64 => {
            body.ins().store(anywhere(), x, at, 0);
        }
        DType::Bool => {
            let is_true = body.ins().icmp_imm(IntCC::NotEqual, x, 0);
            body.ins().store(anywhere(), is_true, at, 0);
        }
    }
}

/// Copies an element of `size` bytes.
pub(super) fn copy(body: &mut Body<'_>, size: usize, to: Value, from: Value) {
    body.copy(to, from, size as u64);
}

/// Loads the index at `at`.
pub(in crate::object) fn index(body: &mut Body<'_>, index: IndexType, at: Value) -> Value {
    match index {
        IndexType::I32 => body.ins().sload32(anywhere(), at, 0),
        IndexType::I64 => body.ins().load(types::I64, anywhere(), at, 0),
    }
}

/// Returns the sort key of the element at `at`: an unsigned integer in the order of the elements.
///
/// -0 and +0 have the same key. All NaNs have the same key, which is greater than all others.
pub(super) fn key(body: &mut Body<'_>, dtype: DType, at: Value) -> Value {
    const HIGHEST: i64 = i64::MIN;
    let x = read(body, dtype, at);
    let x = match dtype {
        DType::F64 => x,
        DType::F16 | DType::BF16 | DType::F32 => body.ins().fpromote(types::F64, x),
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => {
            return body.ins().bxor_imm(x, HIGHEST);
        }
        DType::U8 | DType::U16 | DType::U32 | DType::U64 | DType::Bool => return x,
    };
    let (zero, none, most) = (double(body, 0.0), body.word(0), body.word(-1));
    let word = bits(body, types::I64, x);
    let is_zero = body.ins().fcmp(FloatCC::Equal, x, zero);
    let word = body.ins().select(is_zero, none, word);
    let flipped = body.ins().bnot(word);
    let raised = body.ins().bor_imm(word, HIGHEST);
    let is_negative = body.ins().icmp(IntCC::SignedLessThan, word, none);
    let key = body.ins().select(is_negative, flipped, raised);
    let is_nan = body.ins().fcmp(FloatCC::Unordered, x, x);
    body.ins().select(is_nan, most, key)
}

/// Converts the f16 in the low 16 bits of a word to f32.
///
/// With its fraction shifted into place, an f16 differs from the f32 by a constant power of two, even if it is
/// subnormal.
fn half_to_f32(body: &mut Body<'_>, half: Value) -> Value {
    let magnitude = body.ins().band_imm(half, 0x7fff);
    let placed = body.ins().ishl_imm(magnitude, EXTRA);
    let placed = bits(body, types::F32, placed);
    let power = single(body, 2f32.powi(112));
    let scaled = body.ins().fmul(placed, power);
    let scaled = bits(body, types::I32, scaled);
    let special = body.ins().bor_imm(scaled, 0x7f80_0000);
    let is_special = body
        .ins()
        .icmp_imm(IntCC::UnsignedGreaterThan, magnitude, 0x7bff);
    let word = body.ins().select(is_special, special, scaled);
    let sign = body.ins().band_imm(half, 0x8000);
    let sign = body.ins().ishl_imm(sign, 16);
    let word = body.ins().bor(word, sign);
    bits(body, types::F32, word)
}

/// The nearest f16 of an f32, ties to even, in the low bits of a word.
fn f32_to_half(body: &mut Body<'_>, x: Value) -> Value {
    let word = bits(body, types::I32, x);
    let magnitude = body.ins().band_imm(word, 0x7fff_ffff);
    let sign = body.ins().ushr_imm(word, 16);
    let sign = body.ins().band_imm(sign, 0x8000);

    // Normal numbers: half a unit less one, and one more where the last bit kept is set.
    let odd = body.ins().ushr_imm(magnitude, EXTRA);
    let odd = body.ins().band_imm(odd, 1);
    let normal = body
        .ins()
        .iadd_imm(magnitude, i64::from(((15 - 127) << 23) + 0xfff));
    let normal = body.ins().iadd(normal, odd);
    let normal = body.ins().ushr_imm(normal, EXTRA);

    // Subnormal numbers: adding a number whose ulp is the smallest f16 rounds to it.
    let unit = ((127 - 15) + (23 - 10) + 1) << 23;
    let small = bits(body, types::F32, magnitude);
    let added = single(body, f32::from_bits(unit));
    let small = body.ins().fadd(small, added);
    let small = bits(body, types::I32, small);
    let small = body.ins().iadd_imm(small, -i64::from(unit));

    let below = |body: &mut Body<'_>, limit: i64| {
        let ins = body.ins();
        ins.icmp_imm(IntCC::UnsignedLessThan, magnitude, limit)
    };
    let (is_small, is_finite) = (below(body, 113 << 23), below(body, 143 << 23));
    let is_number = below(body, 0x7f80_0001);
    let [infinity, nan] = [0x7c00, 0x7e00].map(|bits| body.ins().iconst(types::I32, bits));
    let finite = body.ins().select(is_small, small, normal);
    let special = body.ins().select(is_number, infinity, nan);
    let half = body.ins().select(is_finite, finite, special);
    body.ins().bor(half, sign)
}

/// The nearest bf16 of an f32, ties to even, in the low bits of a word.
fn f32_to_bf16(body: &mut Body<'_>, x: Value) -> Value {
    let word = bits(body, types::I32, x);
    let odd = body.ins().ushr_imm(word, 16);
    let odd = body.ins().band_imm(odd, 1);
    let near = body.ins().iadd_imm(word, 0x7fff);
    let near = body.ins().iadd(near, odd);
    let quiet = body.ins().bor_imm(word, 0x40_0000);
    let is_nan = body.ins().fcmp(FloatCC::Unordered, x, x);
    let word = body.ins().select(is_nan, quiet, near);
    body.ins().ushr_imm(word, 16)
}
