//! `modulo`.

use super::remainder::remainder;
use super::steps::{Lane, Steps, join_sign, split_sign};

/// The remainder with the sign of y: if the signs of [`remainder`](remainder()) and y differ, y is added, which rounds
/// once.
#[inline]
pub fn modulo<B: Steps>(b: &mut B, x: B::Value, y: B::Value) -> B::Value {
    let left = remainder(b, x, y);
    let zero = b.value(B::Lane::ZERO);
    let moved = b.add(left, y);
    let (is_negative, is_positive) = (b.lt(left, zero), b.lt(zero, left));
    let for_positive = b.select(is_negative, moved, left);
    let for_negative = b.select(is_positive, moved, left);
    let goes_down = b.lt(y, zero);
    let result = b.select(goes_down, for_negative, for_positive);
    let (_, sign) = split_sign(b, y);
    let none = join_sign(b, zero, sign);
    let is_none = b.eq(left, zero);
    b.select(is_none, none, result)
}

#[cfg(test)]
mod tests {
    use super::super::{mod_f32, mod_f64};

    #[test]
    fn the_modulus_has_the_sign_of_the_divisor() {
        let inf = f32::INFINITY;
        let rows = [
            (7.0, 3.0, 1.0),
            (-7.0, 3.0, 2.0),
            (7.0, -3.0, -2.0),
            (-7.0, -3.0, -1.0),
            (6.0, -3.0, -0.0),
            (-6.0, 3.0, 0.0),
            (-0.0, 2.0, 0.0),
            (0.0, -2.0, -0.0),
            (2.0, inf, 2.0),
            (-2.0, inf, inf),
            (2.0, -inf, -inf),
            (-2.0, -inf, -2.0),
            (-1e-30, 1.0, 1.0),
        ];
        for (x, y, expected) in rows {
            assert_eq!(
                mod_f32(x, y).to_bits(),
                f32::to_bits(expected),
                "{x} mod {y}"
            );
            let (wide, expected) = (mod_f64(x.into(), y.into()), f64::from(expected));
            assert_eq!(wide.to_bits(), expected.to_bits(), "{x} mod {y}");
        }
        for (x, y) in [(inf, 2.0), (1.0, 0.0), (f32::NAN, 1.0), (1.0, f32::NAN)] {
            assert!(mod_f32(x, y).is_nan(), "{x} mod {y}");
        }
    }
}
