//! Circular functions.
//!
//! Sums of powers in `f64`, each operation rounding on its own, so that every machine gives the same bits;
//! far more exact than the `f32` that results are rounded to.

use std::f64::consts::FRAC_PI_2;

use crate::coefficients::FRAC_PI_2_PARTS;

/// From here on, angles are reduced as integers.
const LARGE: f32 = 1_048_576.0;

/// The first 256 bits of 2 / pi behind the point.
const FRAC_2_PI: [u64; 4] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
];

/// The quarter turns nearest to an angle that is not negative, modulo 4, and the angle beyond them.
fn reduced(x: f32) -> (u32, f64) {
    if x >= LARGE {
        return reduced_as_integer(x);
    }
    let turns = (f64::from(x) / FRAC_PI_2).round_ties_even();
    let parts = FRAC_PI_2_PARTS.iter();
    let rest = parts.fold(f64::from(x), |rest, part| rest - turns * part);
    ((turns % 4.0) as u32, rest)
}

/// As [`reduced`], from [`LARGE`] on: an angle of 24 bits times as many bits of 2 / pi as decide.
fn reduced_as_integer(x: f32) -> (u32, f64) {
    if !x.is_finite() {
        return (0, f64::NAN);
    }
    let (mantissa, exponent) = (
        x.to_bits() & 0x7f_ffff | 0x80_0000,
        (x.to_bits() >> 23) as i32 - 150,
    );
    // The bits of 2 / pi from the one that weighs 2 quarters in the product; those before make whole turns.
    let at = exponent - 2;
    let word = |index: usize| FRAC_2_PI.get(index).copied().unwrap_or(0);
    let wide = |index: usize| u128::from(word(index)) << 64 | u128::from(word(index + 1));
    let window = match u32::try_from(at) {
        Err(_) => wide(0) >> -at,
        Ok(at) => {
            let (index, shift) = (at as usize / 64, at % 64);
            let behind = u128::from(word(index + 2)) << 64;
            match shift {
                0 => wide(index),
                _ => wide(index) << shift | behind >> (128 - shift),
            }
        }
    };
    let product = window.wrapping_mul(u128::from(mantissa));
    let turns = product.wrapping_add(1 << 125) >> 126;
    let rest = product.wrapping_sub(turns << 126) as i128;
    let scale = f64::from_bits((1023 - 126) << 52);
    (turns as u32, rest as f64 * scale * FRAC_PI_2)
}

/// Sine and cosine.
fn sine_and_cosine(x: f32) -> (f64, f64) {
    let (turns, rest) = reduced(x.abs());
    let square = rest * rest;
    let series = |start: f64, first: f64| {
        let (mut term, mut sum) = (start, start);
        for step in 0..9 {
            let at = first + 2.0 * f64::from(step);
            term *= -square / (at * (at + 1.0));
            sum += term;
        }
        sum
    };
    let (sine, cosine) = (series(rest, 2.0), series(1.0, 1.0));
    let (sine, cosine) = match turns {
        0 => (sine, cosine),
        1 => (cosine, -sine),
        2 => (-sine, -cosine),
        _ => (-cosine, sine),
    };
    if x.is_sign_negative() {
        (-sine, cosine)
    } else {
        (sine, cosine)
    }
}

/// The sine of `x`.
pub(crate) fn sin(x: f32) -> f32 {
    sine_and_cosine(x).0 as f32
}

/// The cosine of `x`.
pub(crate) fn cos(x: f32) -> f32 {
    sine_and_cosine(x).1 as f32
}

/// The tangent of `x`.
pub(crate) fn tan(x: f32) -> f32 {
    let (sine, cosine) = sine_and_cosine(x);
    (sine / cosine) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_those_of_the_published_values() {
        let near =
            |found: f32, expected: f32| (found - expected).abs() <= 1e-6 * (1.0 + expected.abs());
        for (found, expected) in [
            (sin(1.0), 0.841_471),
            (sin(-2.5), -0.598_472_1),
            (sin(100.0), -0.506_365_65),
            (cos(1.0), 0.540_302_3),
            (cos(1e6), 0.936_752_1),
            (tan(1.25), 3.009_569_6),
        ] {
            assert!(near(found, expected), "{found} is not {expected}");
        }
        assert!(sin(f32::INFINITY).is_nan());
        for function in [sin, tan] {
            assert_eq!(function(-0.0).to_bits(), (-0.0f32).to_bits());
        }
    }

    /// Angles of every size against Rust's own functions of `f64`, which are exact to its last digits.
    #[test]
    fn large_angles_are_exact() {
        let relative = |found: f32, expected: f64| (f64::from(found) / expected - 1.0).abs();
        for bits in (0x3f80_0000..0x7f80_0000u32).step_by(100_003) {
            let x = f32::from_bits(bits);
            let wide = f64::from(x);
            for (found, expected) in [
                (sin(x), wide.sin()),
                (cos(-x), wide.cos()),
                (tan(x), wide.tan()),
            ] {
                assert!(
                    relative(found, expected) < 1.2e-7,
                    "{x:e}: {found} is not {expected}"
                );
            }
        }
    }
}
