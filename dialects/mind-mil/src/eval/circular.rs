//! Circular functions and their inverses.
//!
//! Sums of powers in `f64`, each operation rounding on its own, so that every machine gives the same bits;
//! far more exact than the `f32` that results are rounded to.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

use mind_ir::scalar::math::log_f64;

/// The part of pi / 2 that [`FRAC_PI_2`] lacks.
const FRAC_PI_2_REST: f64 = 6.123_233_995_736_766e-17;

/// Sine and cosine; exact to `f32` up to 2^30.
fn sine_and_cosine(x: f64) -> (f64, f64) {
    let turns = (x / FRAC_PI_2).round_ties_even();
    let rest = x - turns * FRAC_PI_2 - turns * FRAC_PI_2_REST;
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
    match turns.rem_euclid(4.0) {
        0.0 => (sine, cosine),
        1.0 => (cosine, -sine),
        2.0 => (-sine, -cosine),
        _ => (-cosine, sine),
    }
}

/// The sine of `x`.
pub(crate) fn sin(x: f32) -> f32 {
    sine_and_cosine(f64::from(x)).0 as f32
}

/// The cosine of `x`.
pub(crate) fn cos(x: f32) -> f32 {
    sine_and_cosine(f64::from(x)).1 as f32
}

/// The tangent of `x`.
pub(crate) fn tan(x: f32) -> f32 {
    let (sine, cosine) = sine_and_cosine(f64::from(x));
    (sine / cosine) as f32
}

fn arctangent(x: f64) -> f64 {
    if x.abs() > 1.0 {
        return FRAC_PI_2.copysign(x) - arctangent(1.0 / x);
    }
    let halved = |x: f64| x / (1.0 + (1.0 + x * x).sqrt());
    let small = halved(halved(x));
    let square = small * small;
    let (mut power, mut sum) = (small, small);
    for step in 1..16 {
        power *= -square;
        sum += power / f64::from(2 * step + 1);
    }
    4.0 * sum
}

/// The angle whose tangent is `x`.
pub(crate) fn atan(x: f32) -> f32 {
    arctangent(f64::from(x)) as f32
}

fn arcsine(x: f64) -> f64 {
    if x.abs() == 1.0 {
        return FRAC_PI_2.copysign(x);
    }
    arctangent(x / (1.0 - x * x).sqrt())
}

/// The angle whose sine is `x`; NaN outside of -1 to 1.
pub(crate) fn asin(x: f32) -> f32 {
    arcsine(f64::from(x)) as f32
}

/// The angle whose cosine is `x`; NaN outside of -1 to 1.
pub(crate) fn acos(x: f32) -> f32 {
    let x = f64::from(x);
    match x > 0.5 {
        true => (2.0 * arcsine(((1.0 - x) / 2.0).sqrt())) as f32,
        false => (2.0 * FRAC_PI_4 - arcsine(x)) as f32,
    }
}

/// The number whose hyperbolic tangent is `x`; NaN outside of -1 to 1.
pub(crate) fn atanh(x: f32) -> f32 {
    let x = f64::from(x);
    (log_f64((1.0 + x) / (1.0 - x)) / 2.0) as f32
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
            (asin(0.25), 0.252_680_26),
            (asin(1.0), FRAC_PI_2 as f32),
            (acos(-0.5), 2.094_395_2),
            (acos(0.999), 0.044_725_087),
            (atan(2.0), 1.107_148_7),
            (atan(-0.25), -0.244_978_66),
            (atanh(0.5), 0.549_306_15),
        ] {
            assert!(near(found, expected), "{found} is not {expected}");
        }
        assert!(
            asin(2.0).is_nan()
                && acos(-2.0).is_nan()
                && atanh(2.0).is_nan()
                && sin(f32::INFINITY).is_nan()
        );
    }
}
