//! `atan2`.

use super::arc::from_quotient;
use super::pair::Pair;
use super::steps::{Lane, Steps, join_sign, split_sign};

/// The angle of the point (x, y), from -pi to pi.
///
/// Computed as `atan` of |y| / |x|, except that the range is chosen by comparing both, because the quotient could
/// overflow. For negative x, including -0, the angle is subtracted from pi.
#[inline]
pub fn atan2<B: Steps>(b: &mut B, y: B::Value, x: B::Value) -> B::Value {
    let c = B::Lane::ARC;
    let ((height, sign), (width, side)) = (split_sign(b, y), split_sign(b, x));
    let (zero, one) = (b.value(B::Lane::ZERO), b.value(B::Lane::ONE));
    let side = join_sign(b, one, side);
    let is_left = b.lt(side, zero);
    let Point { height, width } = finite(b, height, width);

    let twice_height = b.add(height, height);
    let is_flat = b.lt(twice_height, width);
    let twice_width = b.add(width, width);
    let is_steep = b.lt(twice_width, height);
    let (less, more) = (b.sub(height, width), b.add(height, width));
    let neg_width = b.neg(width);
    let mut choose = |flat: B::Value, middle: B::Value, steep: B::Value| {
        let rest = b.select(is_steep, steep, middle);
        b.select(is_flat, flat, rest)
    };
    let numerator = choose(height, less, neg_width);
    let denominator = choose(width, more, height);
    let neg_numerator = b.neg(numerator);
    let numerator = b.select(is_left, neg_numerator, numerator);

    let mut base = |right: [B::Lane; 3], left: [B::Lane; 3]| {
        let [flat, middle, steep] = [0, 1, 2].map(|at| {
            let (right, left) = (b.value(right[at]), b.value(left[at]));
            b.select(is_left, left, right)
        });
        let rest = b.select(is_steep, steep, middle);
        b.select(is_flat, flat, rest)
    };
    let base = Pair {
        hi: base(
            [B::Lane::ZERO, c.quarter_pi, c.half_pi],
            [c.pi, c.three_quarters_pi, c.half_pi],
        ),
        lo: base(
            [B::Lane::ZERO, c.quarter_pi_lo, c.half_pi_lo],
            [c.pi_lo, c.three_quarters_pi_lo, c.half_pi_lo],
        ),
    };
    let result = from_quotient(b, base, numerator, denominator);
    let result = join_sign(b, result, sign);
    let is_number = b.eq(x, x);
    let result = b.select(is_number, result, x);
    let is_number = b.eq(y, y);
    b.select(is_number, result, y)
}

/// The magnitudes of the coordinates of a point.
struct Point<V> {
    height: V,
    width: V,
}

/// Returns a point at the same angle whose coordinates are finite and scaled so that their sum and inverses are normal
/// where they are used. An infinite coordinate makes a finite one zero, and the width is 1 if the height is zero.
#[inline]
fn finite<B: Steps>(b: &mut B, height: B::Value, width: B::Value) -> Point<B::Value> {
    let c = B::Lane::ARC;
    let (zero, one) = (b.value(B::Lane::ZERO), b.value(B::Lane::ONE));
    let largest = b.max(height, width);

    let (large, small) = (b.value(c.large), b.value(c.small));
    let (down, up) = (b.value(c.down), b.value(c.up));
    let is_small = b.lt(largest, small);
    let is_large = b.lt(large, largest);
    let scale = b.select(is_small, up, one);
    let scale = b.select(is_large, down, scale);

    let infinity = b.value(B::Lane::INFINITY);
    let is_infinite = b.eq(largest, infinity);
    let mut coordinate = |x: B::Value| {
        let scaled = b.mul(x, scale);
        let outweighs = b.eq(x, infinity);
        let weight = b.select(outweighs, one, zero);
        b.select(is_infinite, weight, scaled)
    };
    let (height, width) = (coordinate(height), coordinate(width));
    let is_flat = b.eq(height, zero);
    let width = b.select(is_flat, one, width);
    Point { height, width }
}
