//! Shared parts of `sin`, `cos` and `tan`: the argument reduction, which is exact for every number, and the sine and
//! cosine of the reduced angle.

use super::constants::circular::Move;
use super::pair::{Pair, ordered_sum, product, sum};
use super::steps::{Lane, Steps, horner};

/// An angle as quarter turns and a reduced angle of at most pi/4 in magnitude, which keeps the sign.
pub(super) struct ReducedAngle<V> {
    /// The number of quarter turns, an integer of which only the last two bits matter.
    pub quarters: V,
    pub rest: Pair<V>,
}

/// The number of digits of 2/pi that a product with an angle needs.
const WINDOW: usize = 5;

/// An upper bound of the number of digits of 2/pi.
const MOST_DIGITS: usize = 24;

/// Reduces `a`, which is positive.
///
/// Angles above `largest` take another path, which vectors skip, because they are rare.
#[inline]
pub(super) fn reduce<B: Steps>(b: &mut B, a: B::Value) -> ReducedAngle<B::Value> {
    let usual = subtract_quarters(b, a);
    let largest = b.value(B::Lane::CIRCULAR.largest);
    let is_large = b.lt(largest, a);
    let ReducedAngle { quarters, rest } = usual;
    let [quarters, hi, lo] = b.if_any(is_large, [quarters, rest.hi, rest.lo], |b| {
        let ReducedAngle { quarters, rest } = reduce_large(b, a);
        [quarters, rest.hi, rest.lo]
    });
    ReducedAngle {
        quarters,
        rest: Pair { hi, lo },
    }
}

/// Subtracts the nearest multiple of pi/2, in three parts, from `a`, which is at most `largest`.
///
/// The first part, and `a` from 1/2 on, are multiples of half an ulp of 1. So is their difference, which the fused
/// multiply-add does not round before; it is less than 1, thus exact. The product with the second part and the sum with
/// it are exact as pairs. Only the product with the third part is rounded.
#[inline]
fn subtract_quarters<B: Steps>(b: &mut B, a: B::Value) -> ReducedAngle<B::Value> {
    let c = B::Lane::CIRCULAR;
    let two_over_pi = b.value(c.two_over_pi);
    let (first, second, third) = (
        b.value(c.half_pi),
        b.value(c.half_pi_lo),
        b.value(c.half_pi_rest),
    );
    let quarters = b.mul(a, two_over_pi);
    let quarters = b.round(quarters);
    let negated = b.neg(quarters);
    let rest = b.fma(negated, first, a);
    let taken = product(b, quarters, second);
    let neg_taken = b.neg(taken.hi);
    let Pair { hi, lo } = sum(b, rest, neg_taken);
    let rounded = b.fma(quarters, third, taken.lo);
    let lo = b.sub(lo, rounded);
    ReducedAngle {
        quarters,
        rest: Pair { hi, lo },
    }
}

/// Reduces `a`, which is above pi/4, by the method of Payne and Hanek.
///
/// `a` times 2/pi is computed modulo 4, with negligible rounding errors. Digits of 2/pi whose products with `a` are
/// multiples of 4 are skipped: a window moves over the digits in steps that depend on the size of `a`. Each step
/// selects between the digits before and after the move.
#[inline]
fn reduce_large<B: Steps>(b: &mut B, a: B::Value) -> ReducedAngle<B::Value> {
    let c = B::Lane::CIRCULAR;
    let (scaled, digits) = window(b, a);
    let QuarterTurns { quarters, rest } = quarter_turns(b, scaled, digits);

    // The reduced angle is the rest times pi/2.
    let (half_pi, half_pi_lo) = (b.value(c.half_pi), b.value(c.half_pi_lo));
    let Pair { hi, lo } = product(b, rest.hi, half_pi);
    let lo = b.fma(rest.lo, half_pi, lo);
    let lo = b.fma(rest.hi, half_pi_lo, lo);
    ReducedAngle {
        quarters,
        rest: Pair { hi, lo },
    }
}

/// Returns the digits of 2/pi that are needed for `a`, and `a` scaled down by the skipped digits.
#[inline]
fn window<B: Steps>(b: &mut B, mut a: B::Value) -> (B::Value, [B::Value; WINDOW]) {
    let c = B::Lane::CIRCULAR;
    let zero = b.value(B::Lane::ZERO);
    let mut digits = [zero; MOST_DIGITS];
    for (digit, &value) in digits.iter_mut().zip(c.digits) {
        *digit = b.value(value);
    }
    let mut known = c.digits.len();
    for &Move {
        digits: by,
        least,
        scale,
    } in c.moves
    {
        let (least, scale) = (b.value(least), b.value(scale));
        let stays = b.lt(a, least);
        let scaled = b.mul(a, scale);
        a = b.select(stays, a, scaled);
        // The moves after this one together skip fewer digits than this one.
        let needed = (by - 1 + WINDOW).min(known);
        for at in 0..needed {
            if at + by < known {
                digits[at] = b.select(stays, digits[at], digits[at + by]);
            }
        }
        known = needed;
    }
    let mut found = [zero; WINDOW];
    found.copy_from_slice(&digits[..WINDOW]);
    (a, found)
}

/// Quarter turns as an integer, and a rest of at most 1/2 of a quarter turn.
struct QuarterTurns<V> {
    quarters: V,
    rest: Pair<V>,
}

/// Returns `a` times the number with these digits, modulo 4.
#[inline]
fn quarter_turns<B: Steps>(
    b: &mut B,
    a: B::Value,
    digits: [B::Value; WINDOW],
) -> QuarterTurns<B::Value> {
    let chunk = b.value(B::Lane::CIRCULAR.chunk);
    let mut scaled = a;
    let products = digits.map(|digit| {
        let found = product(b, scaled, digit);
        scaled = b.mul(scaled, chunk);
        found
    });
    // Each product is at most half an ulp of the one two before it; the first three may be large.
    let first = [products[0].hi, products[0].lo, products[1].hi].map(|x| modulo_4(b, x));
    let whole = ordered_sum(b, first[0], first[1]);
    let mut parts = [whole.lo; 4];
    let mut total = whole.hi;
    for (part, x) in parts[1..]
        .iter_mut()
        .zip([first[2], products[1].lo, products[2].hi])
    {
        let Pair { hi, lo } = sum(b, total, x);
        (total, *part) = (hi, lo);
    }
    let quarters = b.round(total);
    let mut rest = b.sub(total, quarters);

    // The rest may be as small as the remaining terms, so that the sums must be exact.
    let mut rounded = b.add(products[3].lo, products[4].hi);
    let [p0, p1, p2, p3] = parts;
    for x in [p0, p1, p2, p3, products[2].lo, products[3].hi] {
        let Pair { hi, lo } = sum(b, rest, x);
        rest = hi;
        rounded = b.add(rounded, lo);
    }
    QuarterTurns {
        quarters,
        rest: sum(b, rest, rounded),
    }
}

/// Returns `x` minus the nearest multiple of 4, which is exact.
#[inline]
fn modulo_4<B: Steps>(b: &mut B, x: B::Value) -> B::Value {
    let c = B::Lane::CIRCULAR;
    let (quarter, neg_four) = (b.value(c.quarter), b.value(c.neg_four));
    let turns = b.mul(x, quarter);
    let turns = b.round(turns);
    b.fma(turns, neg_four, x)
}

/// Returns the sine of a reduced angle.
#[inline]
pub(super) fn sine_of_rest<B: Steps>(b: &mut B, x: &Pair<B::Value>) -> Pair<B::Value> {
    let square = b.mul(x.hi, x.hi);
    let cube = b.mul(square, x.hi);
    let p = horner(b, square, B::Lane::CIRCULAR.sin);
    // The derivative of the sine is the cosine, approximately 1 - x^2/2.
    let neg_half = b.value(B::Lane::NEG_HALF);
    let half_lo = b.mul(x.lo, neg_half);
    let rest = b.fma(half_lo, square, x.lo);
    let rest = b.fma(cube, p, rest);
    ordered_sum(b, x.hi, rest)
}

/// Returns the cosine of a reduced angle.
#[inline]
pub(super) fn cosine_of_rest<B: Steps>(b: &mut B, x: &Pair<B::Value>) -> Pair<B::Value> {
    let square = product(b, x.hi, x.hi);
    let fourth = b.mul(square.hi, square.hi);
    let p = horner(b, square.hi, B::Lane::CIRCULAR.cos);
    let (one, neg_half) = (b.value(B::Lane::ONE), b.value(B::Lane::NEG_HALF));
    let neg_halved = b.mul(square.hi, neg_half);
    let Pair { hi, lo } = ordered_sum(b, one, neg_halved);
    let lo = b.fma(square.lo, neg_half, lo);
    let neg_x = b.neg(x.hi);
    let lo = b.fma(neg_x, x.lo, lo);
    let lo = b.fma(fourth, p, lo);
    ordered_sum(b, hi, lo)
}

/// Returns whether an integer is even.
#[inline]
pub(super) fn is_even<B: Steps>(b: &mut B, n: B::Value) -> B::Mask {
    let half = b.value(B::Lane::HALF);
    let halved = b.mul(n, half);
    let whole = b.round(halved);
    b.eq(halved, whole)
}

/// Returns the sign bit if bit 1 of an integer is set, which is so after two or three quarter turns, else 0.
#[inline]
pub(super) fn sign_of_quarters<B: Steps>(b: &mut B, n: B::Value) -> B::Int {
    let whole = b.value(B::Lane::CIRCULAR.whole);
    let n = b.add(n, whole);
    let n = b.bits(n);
    let n = b.shl(n, B::Lane::WIDTH - 2);
    let sign = b.int(B::Lane::SIGN);
    b.and(n, sign)
}

/// Returns `x`, negated if `sign` is the sign bit.
#[inline]
pub(super) fn negate_by<B: Steps>(b: &mut B, x: B::Value, sign: B::Int) -> B::Value {
    let bits = b.bits(x);
    let bits = b.iadd(bits, sign);
    b.float(bits)
}

#[cfg(test)]
mod tests {
    use super::super::Scalar;
    use super::*;

    /// Compares both reductions for the numbers nearest to multiples of pi/2 up to `largest`, and their neighbours: the
    /// low bits of the quarter turns must be the same, and the relative difference of the reduced angles below
    /// `tolerance`.
    macro_rules! reductions_agree {
        ($float:ident, $step:expr, $tolerance:expr) => {
            let mut b = Scalar::<$float>::default();
            let c = <$float as Lane>::CIRCULAR;
            let mut count = 1.0;
            while count * c.half_pi < c.largest {
                let nearest: $float = count * c.half_pi;
                for a in [
                    nearest.next_down(),
                    nearest,
                    nearest.next_up(),
                    nearest + 0.5,
                ] {
                    let usual = subtract_quarters(&mut b, a);
                    let large = reduce_large(&mut b, a);
                    let quarters = (usual.quarters - large.quarters) % 4.0;
                    assert_eq!(quarters, 0.0, "{a:e}");
                    let distance = usual.rest.hi - large.rest.hi;
                    let distance = distance + (usual.rest.lo - large.rest.lo);
                    let bound = $tolerance * usual.rest.hi.abs();
                    assert!(distance.abs() < bound, "{a:e}: {distance:e}, {bound:e}");
                }
                count += $step;
            }
        };
    }

    #[test]
    fn both_reductions_agree_next_to_multiples_of_a_quarter_turn() {
        reductions_agree!(f32, 1.0, 2f32.powi(-26));
        reductions_agree!(f64, 3001.0, 2f64.powi(-56));
    }
}
