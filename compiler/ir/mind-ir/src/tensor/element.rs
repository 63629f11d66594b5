//! Arithmetic of element types, as specified in docs/numerics.md.

use crate::scalar::math::{mod_f32, mod_f64, pow_f32, pow_f64, remainder_f32, remainder_f64};
use half::{bf16, f16};

use super::Element;

/// A numeric element type, which is any type except `bool`.
///
/// `Acc` is the type of accumulators of sums and products: `f32` for `f16`, `bf16` and `f32`, `f64` for `f64`, and the
/// type itself for integers, which wrap.
pub trait Num: Element + PartialOrd {
    /// The accumulator type.
    type Acc: Num<Acc = Self::Acc>;
    /// One.
    const ONE: Self;
    /// The maximum over no elements: -inf, or the smallest integer.
    const LOWEST: Self;
    /// The minimum over no elements: +inf, or the largest integer.
    const HIGHEST: Self;
    /// Whether this is a floating-point type.
    const IS_FLOAT: bool;

    /// Converts to the accumulator type, which is exact.
    fn widen(self) -> Self::Acc;
    /// Converts from the accumulator type, rounding once to nearest even.
    fn narrow(acc: Self::Acc) -> Self;
    /// Returns the sum, rounded once; wrapping for integers.
    fn add(self, rhs: Self) -> Self;
    /// Returns the difference, rounded once; wrapping for integers.
    fn sub(self, rhs: Self) -> Self;
    /// Returns the product, rounded once; wrapping for integers.
    fn mul(self, rhs: Self) -> Self;
    /// Returns the quotient, rounded once. Integers truncate toward zero; the result is `None` for a zero divisor and
    /// for the smallest integer divided by -1.
    fn div(self, rhs: Self) -> Option<Self>;
    /// Returns `self * factor + addend`, rounded once; wrapping for integers.
    fn fma(self, factor: Self, addend: Self) -> Self;
    /// Returns the negated value; wrapping for integers.
    fn neg(self) -> Self;
    /// Returns the absolute value; wrapping for integers.
    fn abs(self) -> Self;
    /// Returns -1 below zero and 1 above; zeros and NaN are returned unchanged.
    fn sign(self) -> Self;
    /// Returns the power. For floats it follows IEEE 754, rounded as in [`math`](crate::scalar::math). For integers it
    /// wraps, and negative exponents truncate toward zero; the result is `None` for 0 to a negative exponent.
    fn pow(self, exponent: Self) -> Option<Self>;
    /// Returns the remainder of the truncated quotient, which has the sign of `self` and is exact; `None` if an integer
    /// is divided by 0.
    fn remainder(self, rhs: Self) -> Option<Self>;
    /// Returns the remainder of the quotient that is rounded down, which has the sign of `rhs`, and is rounded once for
    /// floats; `None` if an integer is divided by 0.
    fn modulo(self, rhs: Self) -> Option<Self>;
    /// Returns the value if it is above zero, else +0. NaN therefore gives +0.
    fn relu(self) -> Self;
    /// Returns the larger value; NaN if either is NaN. +0 is larger than -0.
    fn maximum(self, rhs: Self) -> Self;
    /// Returns the smaller value; NaN if either is NaN. -0 is smaller than +0.
    fn minimum(self, rhs: Self) -> Self;
    /// Converts the integer `count`: rounded to nearest for floats, truncated to the width for integers.
    fn from_count(count: usize) -> Self;
    /// Converts an integer: rounded once to nearest even for floats, modulo 2^width for integers.
    fn from_i128(value: i128) -> Self;
    /// Converts a number: rounded once to nearest even for floats. For integers it is truncated and then clamped to the
    /// range; NaN gives 0.
    fn cast_f64(value: f64) -> Self;
    /// Returns the exact value as an `i128`; `None` for floats.
    fn to_i128(self) -> Option<i128>;
    /// Returns the value as an `f64`: exact for floats, rounded for large integers.
    fn to_f64(self) -> f64;
}

/// A floating-point element type.
pub trait FloatNum: Num {
    /// Converts from `f64`, rounding to nearest even.
    fn from_f64(value: f64) -> Self;
    /// Applies a function that is defined for `f32` and `f64`. `f16` and `bf16` use the one for `f32` and round the
    /// result once.
    fn apply(self, on_f32: fn(f32) -> f32, on_f64: fn(f64) -> f64) -> Self;
    /// Applies a function of two numbers, as [`apply`](FloatNum::apply) does.
    fn apply2(self, rhs: Self, on_f32: fn(f32, f32) -> f32, on_f64: fn(f64, f64) -> f64) -> Self;
    /// Returns the square root, rounded once.
    fn sqrt(self) -> Self {
        self.apply(f32::sqrt, f64::sqrt)
    }
    /// Whether this is neither NaN nor infinite.
    fn is_finite(self) -> bool {
        self.to_f64().is_finite()
    }
}

/// The methods that all floats share.
macro_rules! float_shared {
    () => {
        #[inline]
        fn maximum(self, rhs: Self) -> Self {
            if self.is_nan() || rhs.is_nan() {
                Self::NAN
            } else if self == rhs {
                if self.is_sign_negative() { rhs } else { self }
            } else if self > rhs {
                self
            } else {
                rhs
            }
        }

        #[inline]
        fn minimum(self, rhs: Self) -> Self {
            if self.is_nan() || rhs.is_nan() {
                Self::NAN
            } else if self == rhs {
                if self.is_sign_negative() { self } else { rhs }
            } else if self < rhs {
                self
            } else {
                rhs
            }
        }

        fn to_i128(self) -> Option<i128> {
            None
        }

        fn pow(self, exponent: Self) -> Option<Self> {
            Some(self.apply2(exponent, pow_f32, pow_f64))
        }

        fn remainder(self, rhs: Self) -> Option<Self> {
            Some(self.apply2(rhs, remainder_f32, remainder_f64))
        }

        fn modulo(self, rhs: Self) -> Option<Self> {
            Some(self.apply2(rhs, mod_f32, mod_f64))
        }

        #[inline]
        fn relu(self) -> Self {
            // The comparison is on bits because a comparison of floats may be compiled to the processor's maximum,
            // which returns a signalling NaN unchanged.
            let is_positive = self.to_bits().wrapping_sub(1) < Self::INFINITY.to_bits();
            if is_positive { self } else { Self::ZERO }
        }

        fn cast_f64(value: f64) -> Self {
            <Self as FloatNum>::from_f64(value)
        }
    };
}

macro_rules! wide_float {
    ($($float:ty),*) => {$(
        impl Num for $float {
            type Acc = $float;
            const ONE: Self = 1.0;
            const LOWEST: Self = <$float>::NEG_INFINITY;
            const HIGHEST: Self = <$float>::INFINITY;
            const IS_FLOAT: bool = true;

            #[inline]
            fn widen(self) -> $float {
                self
            }
            #[inline]
            fn narrow(acc: $float) -> $float {
                acc
            }
            #[inline]
            fn add(self, rhs: Self) -> Self {
                self + rhs
            }
            #[inline]
            fn sub(self, rhs: Self) -> Self {
                self - rhs
            }
            #[inline]
            fn mul(self, rhs: Self) -> Self {
                self * rhs
            }
            fn div(self, rhs: Self) -> Option<Self> {
                Some(self / rhs)
            }
            #[inline]
            fn fma(self, factor: Self, addend: Self) -> Self {
                self.mul_add(factor, addend)
            }
            #[inline]
            fn neg(self) -> Self {
                -self
            }
            fn abs(self) -> Self {
                <$float>::abs(self)
            }
            fn sign(self) -> Self {
                if self == 0.0 || self.is_nan() {
                    return self;
                }
                <$float>::copysign(1.0, self)
            }
            fn from_count(count: usize) -> Self {
                count as $float
            }
            fn from_i128(value: i128) -> Self {
                value as $float
            }
            fn to_f64(self) -> f64 {
                self.into()
            }
            float_shared!();
        }
    )*};
}

wide_float!(f32, f64);

macro_rules! narrow_float {
    ($($float:ty),*) => {$(
        impl Num for $float {
            type Acc = f32;
            const ONE: Self = <$float>::ONE;
            const LOWEST: Self = <$float>::NEG_INFINITY;
            const HIGHEST: Self = <$float>::INFINITY;
            const IS_FLOAT: bool = true;

            #[inline]
            fn widen(self) -> f32 {
                self.to_f32()
            }
            #[inline]
            fn narrow(acc: f32) -> Self {
                <$float>::from_f32(acc)
            }
            #[inline]
            fn add(self, rhs: Self) -> Self {
                Self::narrow(self.widen() + rhs.widen())
            }
            #[inline]
            fn sub(self, rhs: Self) -> Self {
                Self::narrow(self.widen() - rhs.widen())
            }
            #[inline]
            fn mul(self, rhs: Self) -> Self {
                Self::narrow(self.widen() * rhs.widen())
            }
            fn div(self, rhs: Self) -> Option<Self> {
                Some(Self::narrow(self.widen() / rhs.widen()))
            }
            #[inline]
            fn fma(self, factor: Self, addend: Self) -> Self {
                Self::narrow(self.widen().mul_add(factor.widen(), addend.widen()))
            }
            #[inline]
            fn neg(self) -> Self {
                -self
            }
            fn abs(self) -> Self {
                Self::narrow(self.widen().abs())
            }
            fn sign(self) -> Self {
                Self::narrow(self.widen().sign())
            }
            fn from_count(count: usize) -> Self {
                Self::narrow(count as f32)
            }
            fn from_i128(value: i128) -> Self {
                <Self as FloatNum>::from_f64(leading_bits(value))
            }
            fn to_f64(self) -> f64 {
                f64::from(self.to_f32())
            }
            float_shared!();
        }

        impl FloatNum for $float {
            fn from_f64(value: f64) -> Self {
                <$float>::from_f32(round_to_odd(value))
            }
            fn apply(self, on_f32: fn(f32) -> f32, _: fn(f64) -> f64) -> Self {
                Self::narrow(on_f32(self.widen()))
            }
            fn apply2(
                self,
                rhs: Self,
                on_f32: fn(f32, f32) -> f32,
                _: fn(f64, f64) -> f64,
            ) -> Self {
                Self::narrow(on_f32(self.widen(), rhs.widen()))
            }
        }
    )*};
}

narrow_float!(f16, bf16);

/// Rounds to odd: truncates `value` to an `f32` and sets the last bit if a nonzero part was cut off. Rounding the
/// result to a type with at most 22 significant bits, of which 21 are stored, gives the correctly rounded `value`,
/// because two more bits prevent double rounding.
fn round_to_odd(value: f64) -> f32 {
    let nearest = value as f32;
    if value.is_nan() || f64::from(nearest) == value {
        return nearest;
    }
    let above = f64::from(nearest).abs() > value.abs();
    f32::from_bits((nearest.to_bits() - u32::from(above)) | 1)
}

/// Rounds an integer to odd, as [`round_to_odd`] does, to the precision of an `f64`.
fn leading_bits(value: i128) -> f64 {
    let size = value.unsigned_abs();
    let cut = (u128::BITS - size.leading_zeros()).saturating_sub(f64::MANTISSA_DIGITS);
    let lost = size & ((1 << cut) - 1) != 0;
    let kept = (((size >> cut) | u128::from(lost)) << cut) as f64;
    if value < 0 { -kept } else { kept }
}

impl FloatNum for f32 {
    fn from_f64(value: f64) -> f32 {
        value as f32
    }
    fn apply(self, on_f32: fn(f32) -> f32, _: fn(f64) -> f64) -> f32 {
        on_f32(self)
    }
    fn apply2(self, rhs: f32, on_f32: fn(f32, f32) -> f32, _: fn(f64, f64) -> f64) -> f32 {
        on_f32(self, rhs)
    }
}

impl FloatNum for f64 {
    fn from_f64(value: f64) -> f64 {
        value
    }
    fn apply(self, _: fn(f32) -> f32, on_f64: fn(f64) -> f64) -> f64 {
        on_f64(self)
    }
    fn apply2(self, rhs: f64, _: fn(f32, f32) -> f32, on_f64: fn(f64, f64) -> f64) -> f64 {
        on_f64(self, rhs)
    }
}

macro_rules! integers {
    ($abs:expr, $($int:ty),*) => {$(
        impl Num for $int {
            type Acc = $int;
            const ONE: Self = 1;
            const LOWEST: Self = <$int>::MIN;
            const HIGHEST: Self = <$int>::MAX;
            const IS_FLOAT: bool = false;

            #[inline]
            fn widen(self) -> Self {
                self
            }
            #[inline]
            fn narrow(acc: Self) -> Self {
                acc
            }
            #[inline]
            fn add(self, rhs: Self) -> Self {
                self.wrapping_add(rhs)
            }
            #[inline]
            fn sub(self, rhs: Self) -> Self {
                self.wrapping_sub(rhs)
            }
            #[inline]
            fn mul(self, rhs: Self) -> Self {
                self.wrapping_mul(rhs)
            }
            fn div(self, rhs: Self) -> Option<Self> {
                self.checked_div(rhs)
            }
            #[inline]
            fn fma(self, factor: Self, addend: Self) -> Self {
                self.wrapping_mul(factor).wrapping_add(addend)
            }
            #[inline]
            fn neg(self) -> Self {
                self.wrapping_neg()
            }
            fn abs(self) -> Self {
                let abs: fn($int) -> $int = $abs;
                abs(self)
            }
            fn sign(self) -> Self {
                let zero: $int = 0;
                <$int>::from(self > zero).wrapping_sub(<$int>::from(self < zero))
            }
            fn remainder(self, rhs: Self) -> Option<Self> {
                (rhs != 0).then(|| self.wrapping_rem(rhs))
            }
            fn modulo(self, rhs: Self) -> Option<Self> {
                let (left, zero): ($int, $int) = (self.remainder(rhs)?, 0);
                let differs = left != zero && (left < zero) != (rhs < zero);
                Some(if differs { left.wrapping_add(rhs) } else { left })
            }
            fn pow(self, exponent: Self) -> Option<Self> {
                let zero: $int = 0;
                let (mut base, mut rest) = (self, exponent);
                if exponent < zero {
                    base = <$int>::ONE.checked_div(self)?;
                    rest = zero.wrapping_sub(exponent);
                }
                let mut power = <$int>::ONE;
                for bit in 0..<$int>::BITS {
                    if rest >> bit & 1 != zero {
                        power = power.wrapping_mul(base);
                    }
                    base = base.wrapping_mul(base);
                }
                Some(power)
            }
            #[inline]
            fn relu(self) -> Self {
                self.max(0)
            }
            #[inline]
            fn maximum(self, rhs: Self) -> Self {
                self.max(rhs)
            }
            #[inline]
            fn minimum(self, rhs: Self) -> Self {
                self.min(rhs)
            }
            fn from_count(count: usize) -> Self {
                count as $int
            }
            fn from_i128(value: i128) -> Self {
                value as $int
            }
            fn cast_f64(value: f64) -> Self {
                value as $int
            }
            fn to_i128(self) -> Option<i128> {
                Some(self as i128)
            }
            fn to_f64(self) -> f64 {
                self as f64
            }
        }
    )*};
}

integers!(|x| x.wrapping_abs(), i8, i16, i32, i64);
integers!(|x| x, u8, u16, u32, u64);

/// Runs `$body` with `$T` bound to the Rust type of a numeric dtype; `$otherwise` for `bool`.
#[macro_export]
macro_rules! with_num {
    ($dtype:expr, $T:ident => $body:expr, else $otherwise:expr) => {
        $crate::with_num!(@rows $dtype, $T => $body, $otherwise,
            F16 BF16 F32 F64 I8 I16 I32 I64 U8 U16 U32 U64)
    };
    (@rows $dtype:expr, $T:ident => $body:expr, $otherwise:expr, $($name:ident)*) => {
        match $dtype {
            $($crate::types::DType::$name => {
                type $T = $crate::tensor::rust_types::$name;
                $body
            })*
            $crate::types::DType::Bool => $otherwise,
        }
    };
}

/// Runs `$body` with `$T` bound to the Rust type of an integer dtype; `$otherwise` for any other.
#[macro_export]
macro_rules! with_int {
    ($dtype:expr, $T:ident => $body:expr, else $otherwise:expr) => {
        $crate::with_float!(@rows $dtype, $T => $body, $otherwise,
            I8 I16 I32 I64 U8 U16 U32 U64, F16 BF16 F32 F64 Bool)
    };
}

/// Runs `$body` with `$T` bound to the Rust type of an integer dtype or `bool`; `$otherwise` for a float.
#[macro_export]
macro_rules! with_bits {
    ($dtype:expr, $T:ident => $body:expr, else $otherwise:expr) => {
        $crate::with_float!(@rows $dtype, $T => $body, $otherwise,
            I8 I16 I32 I64 U8 U16 U32 U64 Bool, F16 BF16 F32 F64)
    };
}

/// Runs `$body` with `$T` bound to the Rust type of a float dtype; `$otherwise` for any other.
#[macro_export]
macro_rules! with_float {
    ($dtype:expr, $T:ident => $body:expr, else $otherwise:expr) => {
        $crate::with_float!(@rows $dtype, $T => $body, $otherwise,
            F16 BF16 F32 F64, I8 I16 I32 I64 U8 U16 U32 U64 Bool)
    };
    (@rows $dtype:expr, $T:ident => $body:expr, $otherwise:expr, $($name:ident)*, $($other:ident)*) => {
        match $dtype {
            $($crate::types::DType::$name => {
                type $T = $crate::tensor::rust_types::$name;
                $body
            })*
            $($crate::types::DType::$other)|* => $otherwise,
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extrema_order_zeros_and_propagate_nan() {
        assert!(Num::maximum(-0.0f32, 0.0).is_sign_positive());
        assert!(Num::maximum(0.0f32, -0.0).is_sign_positive());
        assert!(Num::minimum(0.0f32, -0.0).is_sign_negative());
        assert!(Num::maximum(f32::NAN, 1.0).is_nan());
        assert!(Num::minimum(1.0, f64::NAN).is_nan());
    }

    #[test]
    fn half_rounds_once_to_nearest_even() {
        let (one, tiny) = (f16::from_f32(1.0), f16::from_f32(0.0004882812));
        assert_eq!(one.add(tiny), one);
        assert_eq!(
            f16::from_f32(2048.0).add(f16::from_f32(1.0)).to_f32(),
            2048.0
        );
    }

    #[test]
    fn doubles_round_to_half_once() {
        let exact = |fraction: i32| 1.0 + f64::powi(2.0, fraction);
        let tiny = f64::powi(2.0, -40);
        assert_eq!(
            <f16 as FloatNum>::from_f64(exact(-11) + tiny).to_bits(),
            0x3c01
        );
        assert_eq!(<f16 as FloatNum>::from_f64(exact(-11)).to_bits(), 0x3c00);
        assert_eq!(
            <bf16 as FloatNum>::from_f64(exact(-8) + tiny).to_bits(),
            0x3f81
        );
        assert_eq!(<bf16 as FloatNum>::from_f64(-1e300), bf16::NEG_INFINITY);
        assert_eq!(<f16 as FloatNum>::from_f64(65519.999).to_f32(), 65504.0);
        assert!(<f16 as FloatNum>::from_f64(f64::NAN).is_nan());
    }

    #[test]
    fn integers_wrap_and_division_refuses_what_has_no_result() {
        assert_eq!(Num::add(i8::MAX, 1), i8::MIN);
        assert_eq!(Num::div(i32::MIN, -1), None);
        assert_eq!(Num::div(7i32, -2), Some(-3));
        assert_eq!(Num::div(7u8, 0), None);
    }
}
