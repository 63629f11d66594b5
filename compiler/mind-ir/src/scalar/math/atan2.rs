//! `atan2`.

use super::arc::from_quotient;
use super::pair::Pair;
use super::steps::{Lane, Steps, join_sign, split_sign};

/// The angle of the point (x, y), from -pi to pi.
///
/// As `atan` of |y| / |x|, but that the quotient is never taken where it could overflow: comparisons of both choose
/// the range. A negative x, -0 included, gives the complement to pi.
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

/// A point at the same angle with finite coordinates whose sum and inverses are normal where they count: an infinite
/// coordinate outweighs a finite one, and a height of zero any width.
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

#[cfg(test)]
mod tests {
    use super::super::{atan2_f32, atan2_f64};

    /// Inputs, the correctly rounded result, and the distance from there in ulps.
    #[test]
    fn bits_in_f32() {
        let rows: [(u32, u32, u32, i32); 12] = [
            (0x3f80_0000, 0x4000_0000, 0x3eed_6338, 0),
            (0x3f80_0000, 0x3ecc_cccd, 0x3f98_5b6c, 0),
            (0xbf80_0000, 0xc040_0000, 0xc034_784b, 0),
            (0x4000_0000, 0xbf80_0000, 0x4002_3454, 0),
            (0x0001_16c2, 0x4040_0000, 0x0000_5ceb, 0),
            (0x000a_e398, 0x39fb_a882, 0x0431_3afe, 1),
            (0x7f61_b1e6, 0xff61_b1e6, 0x4016_cbe4, 0),
            (0x7149_f2ca, 0x322b_cc77, 0x3fc9_0fdb, 0),
            (0xbf00_0000, 0x3f00_0000, 0xbf49_0fdb, 0),
            (0x3dcc_cccd, 0xbe4c_cccd, 0x402b_6374, 0),
            (0x8da2_4260, 0xf149_f2ca, 0xc049_0fdb, 0),
            (0x0000_0001, 0x8000_0001, 0x4016_cbe4, 0),
        ];
        for (x, y, rounded, distance) in rows {
            let found = atan2_f32(f32::from_bits(x), f32::from_bits(y)).to_bits();
            let expected = rounded.wrapping_add_signed(distance);
            assert_eq!(found, expected, "{x:#x}, {y:#x}: {found:#x}");
        }
    }

    /// Inputs, the correctly rounded result, and the distance from there in ulps.
    #[test]
    fn bits_in_f64() {
        let rows: [(u64, u64, u64, i64); 12] = [
            (
                0x3ff0_0000_0000_0000,
                0x4000_0000_0000_0000,
                0x3fdd_ac67_0561_bb4f,
                0,
            ),
            (
                0x3ff0_0000_0000_0000,
                0x3fd9_9999_9999_999a,
                0x3ff3_0b6d_796a_4da8,
                0,
            ),
            (
                0xbff0_0000_0000_0000,
                0xc008_0000_0000_0000,
                0xc006_8f09_5fdf_593c,
                0,
            ),
            (
                0x4000_0000_0000_0000,
                0xbff0_0000_0000_0000,
                0x4000_468a_8ace_4df6,
                0,
            ),
            (
                0x37a1_6c26_2777_579c,
                0x4008_0000_0000_0000,
                0x3787_3add_89f4_74d0,
                0,
            ),
            (
                0x37d5_c72f_b155_2d83,
                0x3f3f_7510_4d55_1d69,
                0x3886_275f_6ea4_65b7,
                0,
            ),
            (
                0x47ec_363c_bf21_f28a,
                0xc7ec_363c_bf21_f28a,
                0x4002_d97c_7f33_21d2,
                0,
            ),
            (
                0x4629_3e59_39a0_8cea,
                0x3e45_798e_e230_8c3a,
                0x3ff9_21fb_5444_2d18,
                0,
            ),
            (
                0xbfe0_0000_0000_0000,
                0x3fe0_0000_0000_0000,
                0xbfe9_21fb_5444_2d18,
                0,
            ),
            (
                0x3fb9_9999_9999_999a,
                0xbfc9_9999_9999_999a,
                0x4005_6c6e_7397_f5ae,
                0,
            ),
            (
                0xb9b4_484b_feeb_c2a0,
                0xc629_3e59_39a0_8cea,
                0xc009_21fb_5444_2d18,
                0,
            ),
            (
                0x3696_d601_ad37_6ab9,
                0xb696_d601_ad37_6ab9,
                0x4002_d97c_7f33_21d2,
                0,
            ),
        ];
        for (x, y, rounded, distance) in rows {
            let found = atan2_f64(f64::from_bits(x), f64::from_bits(y)).to_bits();
            let expected = rounded.wrapping_add_signed(distance);
            assert_eq!(found, expected, "{x:#x}, {y:#x}: {found:#x}");
        }
    }
}
