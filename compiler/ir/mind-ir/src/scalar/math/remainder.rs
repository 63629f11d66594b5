//! `remainder`.

use super::steps::{Lane, Steps, join_sign, split_sign};

/// The number of digits of the longest quotient, which is one of `f64`.
const MOST_DIGITS: usize = <f64 as Lane>::DIGITS;

/// The number of digits that vectors skip together.
const TOGETHER: usize = 4;

/// The remainder of x / y, truncated: exact and with the sign of x; NaN if x is infinite or y is zero.
///
/// A long division of the magnitudes, in digits of as many bits as the precision. The divisor of a digit is y times a
/// power of two. The rest is at most the divisor of the digit before, so the quotient is at most 2^bits, and the
/// integer q nearest to the rounded quotient differs by at most 1 from the exact digit. The rest minus q divisors is a
/// multiple of the divisor's last bit and smaller than the divisor, thus representable; if it is negative, adding the
/// divisor corrects it. A divisor that overflows is infinite and subtracts nothing.
///
/// Most quotients have one digit, so the digits before it are bodies that vectors skip.
#[inline]
pub fn remainder<B: Steps>(b: &mut B, x: B::Value, y: B::Value) -> B::Value {
    let ((dividend, sign), (divisor, _)) = (split_sign(b, x), split_sign(b, y));
    let base = b.value(B::Lane::DIGIT);
    let next = b.mul(divisor, base);
    let has_more = b.lt(next, dividend);
    let [left] = b.if_any(has_more, [dividend], |b| {
        let mut divisors = [next; MOST_DIGITS];
        for digit in 1..B::Lane::DIGITS - 1 {
            divisors[digit] = b.mul(divisors[digit - 1], base);
        }
        let mut left = dividend;
        for divisors in divisors[..B::Lane::DIGITS - 1].rchunks(TOGETHER) {
            left = digits(b, left, divisors);
        }
        [left]
    });
    let left = digit(b, left, divisor);
    join_sign(b, left, sign)
}

/// Returns the rest after the digits of these divisors, the largest of which is the last.
#[inline]
fn digits<B: Steps>(b: &mut B, left: B::Value, divisors: &[B::Value]) -> B::Value {
    let has_any = b.lt(divisors[0], left);
    let [left] = b.if_any(has_any, [left], |b| {
        let divisors = divisors.iter().rev();
        [divisors.fold(left, |left, &divisor| digit(b, left, divisor))]
    });
    left
}

/// Returns the rest after one digit.
#[inline]
fn digit<B: Steps>(b: &mut B, left: B::Value, divisor: B::Value) -> B::Value {
    let zero = b.value(B::Lane::ZERO);
    let quotient = b.div(left, divisor);
    let whole = b.round(quotient);
    let negated = b.neg(whole);
    let rest = b.fma(negated, divisor, left);
    let more = b.add(rest, divisor);
    let is_below = b.lt(rest, zero);
    let rest = b.select(is_below, more, rest);
    let is_smaller = b.lt(left, divisor);
    b.select(is_smaller, left, rest)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{sample_f32, sample_f64};
    use super::super::{remainder_f32, remainder_f64};

    /// Rust's `%` is `fmod`, which is exact.
    #[test]
    fn remainders_are_exact() {
        let mut count = 0;
        for (at, x) in sample_f32().enumerate() {
            let others = [
                f32::from_bits(x.to_bits().rotate_left(13)),
                f32::from_bits(x.to_bits() ^ at as u32),
                3.0,
                f32::from_bits(1 + at as u32 % 7),
                f32::MAX,
                0.0,
                f32::INFINITY,
            ];
            for y in others {
                let (found, expected) = (remainder_f32(x, y), x % y);
                let same = found.to_bits() == expected.to_bits();
                assert!(
                    same || found.is_nan() && expected.is_nan(),
                    "{x:e} % {y:e}: {found:e}"
                );
                count += usize::from(expected != x && !expected.is_nan());
            }
        }
        assert!(count > 1000, "{count} quotients");
        for (at, x) in sample_f64().enumerate() {
            let others = [
                f64::from_bits(x.to_bits().rotate_left(29)),
                f64::from_bits(x.to_bits() ^ at as u64),
                0.1,
                f64::from_bits(1 + at as u64 % 7),
                f64::MAX,
            ];
            for y in others {
                let (found, expected) = (remainder_f64(x, y), x % y);
                let same = found.to_bits() == expected.to_bits();
                assert!(
                    same || found.is_nan() && expected.is_nan(),
                    "{x:e} % {y:e}: {found:e}"
                );
            }
        }
    }

    #[test]
    fn longest_quotients() {
        for (x, y) in [
            (f32::MAX, f32::from_bits(1)),
            (f32::MAX, f32::from_bits(0x007f_ffff)),
        ] {
            assert_eq!(remainder_f32(x, y).to_bits(), (x % y).to_bits());
            assert_eq!(remainder_f32(-x, y).to_bits(), (-x % y).to_bits());
        }
        let small = f64::from_bits(0x000f_ffff_ffff_fffb);
        for (x, y) in [(f64::MAX, f64::from_bits(3)), (f64::MAX, small)] {
            assert_eq!(remainder_f64(x, y).to_bits(), (x % y).to_bits());
        }
    }
}
