//! Evaluation of the steps on one number.

use std::marker::PhantomData;

use super::constants::{arc, circular, erf, exp, exp2, gelu, hyperbolic, log, pow, sigmoid, tanh};
use super::steps::{Lane, Steps};

/// Evaluates each step on a single `f32` or `f64`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scalar<T>(PhantomData<T>);

macro_rules! scalar {
    ($float:ident, $bits:ident, $constants:ident) => {
        impl Lane for $float {
            type Bits = $bits;

            const WIDTH: u32 = $bits::BITS;
            const MANTISSA: u32 = $float::MANTISSA_DIGITS - 1;
            const SIGN: $bits = 1 << ($bits::BITS - 1);
            const MAGNITUDE: $bits = $bits::MAX >> 1;
            const ZERO: $float = 0.0;
            const NEG_ZERO: $float = -0.0;
            const NEG_HALF: $float = -0.5;
            const HALF: $float = 0.5;
            const ONE: $float = 1.0;
            const NEG_ONE: $float = -1.0;
            const TWO: $float = 2.0;
            const NEG_TWO: $float = -2.0;
            const LARGEST: $float = $float::MAX;
            const INFINITY: $float = $float::INFINITY;
            const NEG_INFINITY: $float = $float::NEG_INFINITY;
            const NAN: $float = $float::NAN;
            const DIGIT: $float = (1u64 << $float::MANTISSA_DIGITS) as $float;
            const DIGITS: usize = (2 * $float::MAX_EXP as usize + $float::MANTISSA_DIGITS as usize)
                .div_ceil($float::MANTISSA_DIGITS as usize);
            const EXP: exp::Constants<$float, $bits> = exp::$constants;
            const EXP2: exp2::Constants<$float> = exp2::$constants;
            const LOG: log::Constants<$float, $bits> = log::$constants;
            const TANH: tanh::Constants<$float> = tanh::$constants;
            const ERF: erf::Constants<$float> = erf::$constants;
            const SIGMOID: sigmoid::Constants<$float> = sigmoid::$constants;
            const GELU: gelu::Constants<$float> = gelu::$constants;
            const HYPERBOLIC: hyperbolic::Constants<$float> = hyperbolic::$constants;
            const CIRCULAR: circular::Constants<$float> = circular::$constants;
            const POW: pow::Constants<$float> = pow::$constants;
            const ARC: arc::Constants<$float> = arc::$constants;
        }

        impl Steps for Scalar<$float> {
            type Lane = $float;
            type Value = $float;
            type Int = $bits;
            type Mask = bool;

            #[inline]
            fn value(&mut self, c: $float) -> $float {
                c
            }

            #[inline]
            fn int(&mut self, c: $bits) -> $bits {
                c
            }

            #[inline]
            fn add(&mut self, a: $float, b: $float) -> $float {
                a + b
            }

            #[inline]
            fn sub(&mut self, a: $float, b: $float) -> $float {
                a - b
            }

            #[inline]
            fn neg(&mut self, a: $float) -> $float {
                -a
            }

            #[inline]
            fn mul(&mut self, a: $float, b: $float) -> $float {
                a * b
            }

            #[inline]
            fn div(&mut self, a: $float, b: $float) -> $float {
                a / b
            }

            #[inline]
            fn sqrt(&mut self, a: $float) -> $float {
                a.sqrt()
            }

            #[inline]
            fn fma(&mut self, a: $float, b: $float, c: $float) -> $float {
                a.mul_add(b, c)
            }

            #[inline]
            fn round(&mut self, a: $float) -> $float {
                a.round_ties_even()
            }

            #[inline]
            fn lt(&mut self, a: $float, b: $float) -> bool {
                a < b
            }

            #[inline]
            fn eq(&mut self, a: $float, b: $float) -> bool {
                a == b
            }

            #[inline]
            fn unordered(&mut self, a: $float, b: $float) -> bool {
                a.is_nan() || b.is_nan()
            }

            #[inline]
            fn either(&mut self, a: bool, b: bool) -> bool {
                a || b
            }

            #[inline]
            fn if_any<const N: usize>(
                &mut self,
                mask: bool,
                otherwise: [$float; N],
                body: impl FnOnce(&mut Self) -> [$float; N],
            ) -> [$float; N] {
                if mask { body(self) } else { otherwise }
            }

            #[inline]
            fn select(&mut self, mask: bool, a: $float, b: $float) -> $float {
                if mask { a } else { b }
            }

            #[inline]
            fn bits(&mut self, a: $float) -> $bits {
                a.to_bits()
            }

            #[inline]
            fn float(&mut self, a: $bits) -> $float {
                $float::from_bits(a)
            }

            #[inline]
            fn iadd(&mut self, a: $bits, b: $bits) -> $bits {
                a.wrapping_add(b)
            }

            #[inline]
            fn isub(&mut self, a: $bits, b: $bits) -> $bits {
                a.wrapping_sub(b)
            }

            #[inline]
            fn and(&mut self, a: $bits, b: $bits) -> $bits {
                a & b
            }

            #[inline]
            fn or(&mut self, a: $bits, b: $bits) -> $bits {
                a | b
            }

            #[inline]
            fn shl(&mut self, a: $bits, n: u32) -> $bits {
                a << n
            }

            #[inline]
            fn shr(&mut self, a: $bits, n: u32) -> $bits {
                a >> n
            }
        }
    };
}

scalar!(f32, u32, F32);
scalar!(f64, u64, F64);
