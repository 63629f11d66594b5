//! Scalar functions and conversions in AVX2 intrinsics, by row name.

use std::arch::x86_64::*;

use mind_ir::scalar::ScalarFn;

use super::Peer;
use super::intrinsics::{self, Avx2, each, enabled, load};

/// Returns all implementations; none if the machine does not support them.
pub fn available() -> &'static [(&'static str, Peer)] {
    if intrinsics::available() { PEERS } else { &[] }
}

/// Defines rows: functions of one and of two operands that are made of `Steps`, and functions with explicit bodies.
macro_rules! peers {
    (
        one: $($one:ident)*;
        two: $($two:ident)*;
        $($name:literal => $f:ident($inputs:ident, $at:ident) $body:block)*
    ) => {
        const PEERS: &[(&str, Peer)] = &[
            $((concat!(stringify!($one), " f32"), steps::$one),)*
            $((concat!(stringify!($two), " f32"), steps::$two),)*
            $(($name, $f),)*
        ];

        #[expect(non_snake_case, reason = "named like the functions of the table")]
        mod steps {
            use super::*;

            enabled! {
                $(fn $one(inputs, output) {
                    each(output, |at| {
                        let x = load(inputs[0], at);
                        ScalarFn::$one.steps(&mut Avx2, &[x]).expect("it is made of steps")
                    });
                })*
                $(fn $two(inputs, output) {
                    each(output, |at| {
                        let operands = [load(inputs[0], at), load(inputs[1], at)];
                        ScalarFn::$two.steps(&mut Avx2, &operands).expect("it is made of steps")
                    });
                })*
            }
        }

        enabled! {
            $(fn $f($inputs, output) {
                each(output, |$at| $body);
            })*
        }
    };
}

peers! {
    one: Exp Log Erf Tanh Sigmoid Gelu Exp2 Log2 Expm1 Log1p Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh;
    two: Pow Atan2 Mod Remainder;

    "Floor f32" => floor(inputs, at) { _mm256_floor_ps(load(inputs[0], at)) }
    "Ceil f32" => ceil(inputs, at) { _mm256_ceil_ps(load(inputs[0], at)) }
    "Trunc f32" => trunc(inputs, at) {
        _mm256_round_ps::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>(load(inputs[0], at))
    }
    "Round f32" => round(inputs, at) {
        _mm256_round_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(load(inputs[0], at))
    }
    "Rsqrt f32" => rsqrt(inputs, at) {
        _mm256_div_ps(_mm256_set1_ps(1.0), _mm256_sqrt_ps(load(inputs[0], at)))
    }
    "Sign f32" => sign(inputs, at) {
        let (x, zero) = (load(inputs[0], at), _mm256_setzero_ps());
        let rest = _mm256_blendv_ps(x, _mm256_set1_ps(-1.0), _mm256_cmp_ps::<_CMP_LT_OQ>(x, zero));
        _mm256_blendv_ps(rest, _mm256_set1_ps(1.0), _mm256_cmp_ps::<_CMP_LT_OQ>(zero, x))
    }
    "Fma f32" => fma(inputs, at) {
        _mm256_fmadd_ps(load(inputs[0], at), load(inputs[1], at), load(inputs[2], at))
    }
    "And i32" => and(inputs, at) { _mm256_and_ps(load(inputs[0], at), load(inputs[1], at)) }
    "Or i32" => or(inputs, at) { _mm256_or_ps(load(inputs[0], at), load(inputs[1], at)) }
    "Xor i32" => xor(inputs, at) { _mm256_xor_ps(load(inputs[0], at), load(inputs[1], at)) }
    "ShiftLeft i32" => shift_left(inputs, at) {
        let [x, by] = [0, 1].map(|operand| _mm256_castps_si256(load(inputs[operand], at)));
        _mm256_castsi256_ps(_mm256_sllv_epi32(x, by))
    }
    "ShiftRight i32" => shift_right(inputs, at) {
        let [x, by] = [0, 1].map(|operand| _mm256_castps_si256(load(inputs[operand], at)));
        _mm256_castsi256_ps(_mm256_srav_epi32(x, by))
    }
    "f32 to i32" => f32_to_i32(inputs, at) {
        let x = load(inputs[0], at);
        let is_beyond = _mm256_cmp_ps::<_CMP_GE_OQ>(x, _mm256_set1_ps(2_147_483_648.0));
        let whole = _mm256_castsi256_ps(_mm256_cvttps_epi32(x));
        // The minimum with all bits inverted is the maximum.
        let whole = _mm256_xor_ps(whole, is_beyond);
        _mm256_and_ps(whole, _mm256_cmp_ps::<_CMP_ORD_Q>(x, x))
    }
    "i32 to f32" => i32_to_f32(inputs, at) {
        _mm256_cvtepi32_ps(_mm256_castps_si256(load(inputs[0], at)))
    }
}
