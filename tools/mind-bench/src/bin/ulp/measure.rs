//! Search for the largest error of a function.

use std::f64::consts::{FRAC_PI_2, LN_2};
use std::thread;

use mind_ir::random::Rng;

use crate::rows::{MeasuredFunction, Pair};
use mind_testgen::exact::{Exact, FloatFormat};

/// The largest error of a function, and its location.
pub struct LargestError {
    /// Number of measured inputs.
    pub count: u64,
    /// The largest error, in ulp.
    pub ulp: f64,
    /// The input, or the pair of inputs.
    pub at: String,
    /// Whether the function is monotonic, if its inputs were visited in order.
    pub is_monotone: Option<bool>,
}

/// The largest error so far.
struct Worst<X> {
    count: u64,
    ulp: f64,
    at: Option<X>,
}

impl<X> Worst<X> {
    fn new() -> Worst<X> {
        Worst {
            count: 0,
            ulp: 0.0,
            at: None,
        }
    }

    fn record(&mut self, ulp: f64, at: X) {
        self.count += 1;
        if ulp > self.ulp {
            (self.ulp, self.at) = (ulp, Some(at));
        }
    }

    fn merge(mut self, other: Worst<X>) -> Worst<X> {
        self.count += other.count;
        if other.ulp > self.ulp {
            (self.ulp, self.at) = (other.ulp, other.at);
        }
        self
    }

    fn found(self, is_monotone: Option<bool>, describe: impl Fn(X) -> String) -> LargestError {
        LargestError {
            count: self.count,
            ulp: self.ulp,
            at: self.at.map_or_else(String::new, describe),
            is_monotone,
        }
    }
}

/// Returns the error on every `stride`th block of all 2^32 inputs, with a thread per sign.
pub fn every_f32(
    function: impl Fn(&mut [f32]) + Sync,
    reference: impl Fn(f64) -> f64 + Sync,
    stride: usize,
) -> LargestError {
    let (function, reference) = (&function, &reference);
    let half = |sign| move || one_sign(sign, function, reference, stride);
    let ((positive, rises), (negative, falls)) = thread::scope(|scope| {
        let negative = scope.spawn(half(1 << 31));
        let positive = half(0)();
        (
            positive,
            negative
                .join()
                .unwrap_or_else(|why| std::panic::resume_unwind(why)),
        )
    });
    let worst = positive.merge(negative);
    worst.found(Some(rises && falls), |bits| {
        format!("{bits:#010x} ({:e})", f32::from_bits(bits))
    })
}

/// Returns the error on the inputs of one sign, and whether the function is monotonic there.
fn one_sign(
    sign: u32,
    function: &impl Fn(&mut [f32]),
    reference: &impl Fn(f64) -> f64,
    stride: usize,
) -> (Worst<u32>, bool) {
    const BLOCK: u32 = 1 << 12;
    let (mut worst, mut is_monotone) = (Worst::new(), true);
    let mut results = vec![0.0; BLOCK as usize];
    let mut last: Option<f32> = None;
    for start in (0..1_u32 << 31).step_by(BLOCK as usize * stride) {
        for (result, bits) in results.iter_mut().zip(start..) {
            *result = f32::from_bits(sign | bits);
        }
        function(&mut results);
        for (&result, bits) in results.iter().zip(start..) {
            let bits = sign | bits;
            let exact = reference(f64::from(f32::from_bits(bits)));
            worst.record(error_f32(result, exact), bits);
            // Negative inputs are visited in descending order.
            let (below, above) = if sign == 0 {
                (last, Some(result))
            } else {
                (Some(result), last)
            };
            is_monotone &= below
                .zip(above)
                .is_none_or(|(below, above)| below <= above || below.is_nan() || above.is_nan());
            last = Some(result);
        }
    }
    (worst, is_monotone)
}

/// Returns the error on random pairs.
pub fn pairs_of_f32(row: &Pair, points: u64) -> LargestError {
    let mut worst = Worst::new();
    let mut rng = Rng::new(0);
    for _ in 0..100 * points {
        let (x, y) = (row.draw)(&mut rng);
        let (x, y) = (x as f32, y as f32);
        let reference = (row.f32_reference)(f64::from(x), f64::from(y));
        worst.record(error_f32((row.f32)(x, y), reference), (x, y));
    }
    worst.found(None, |(x, y)| format!("{x:e}, {y:e}"))
}

/// Returns the error on random pairs.
pub fn pairs_of_f64(row: &Pair, points: u64) -> LargestError {
    let (mut worst, mut exact) = (Worst::new(), Exact::default());
    let mut rng = Rng::new(0);
    for _ in 0..points {
        let (x, y) = (row.draw)(&mut rng);
        let reference = (row.f64_reference)(&mut exact, x, y);
        worst.record(FloatFormat::F64.error((row.f64)(x, y), &reference), (x, y));
    }
    worst.found(None, |(x, y)| format!("{x:e}, {y:e}"))
}

/// Returns the error on random points of the domain, random bit patterns, and the neighbourhoods of points where the
/// approximation or the exponent changes.
pub fn points_of_f64(row: &MeasuredFunction, points: u64) -> LargestError {
    let (mut worst, mut exact) = (Worst::new(), Exact::default());
    let mut check = |x: f64| {
        let reference = (row.f64_reference)(&mut exact, x);
        worst.record(FloatFormat::F64.error((row.f64)(x), &reference), x);
    };
    for x in edges() {
        for offset in -3..=3_i64 {
            let x = f64::from_bits(x.to_bits().saturating_add_signed(offset));
            check(x);
            check(-x);
        }
    }
    let mut rng = Rng::new(0);
    let (low, high) = row.domain;
    for _ in 0..points / 4 {
        let unit = rng.fraction();
        check(low + unit * (high - low));
        // Magnitudes are uniform over the binades near 1, where the approximations change.
        check(
            f64::from_bits((rng.bits() >> 12) + ((1023 - 20 + rng.bits() % 26) << 52))
                * if rng.bits() & 1 == 0 { 1.0 } else { -1.0 },
        );
        check(1.5 * (2.0 * unit - 1.0));
        check(f64::from_bits(rng.bits()));
    }
    worst.found(None, |x| format!("{:#018x} ({x:e})", x.to_bits()))
}

/// Returns points at which a special value, an approximation or an exponent begins, or a trigonometric function has a
/// root.
fn edges() -> impl Iterator<Item = f64> {
    let special = [0.0, f64::from_bits(1), f64::MAX, f64::INFINITY, f64::NAN];
    let corners = [
        0.5,
        2.0 / 3.0,
        0.75,
        4.0 / 3.0,
        1.5,
        6.0,
        20.0,
        37.5,
        38.5,
        708.4,
        709.8,
        745.2,
    ];
    let steps = (1..2200).map(|n| 0.25 * LN_2 * f64::from(n));
    let roots = (1..2200).map(|n| (0.5 * LN_2 * f64::from(n)).sqrt());
    let quarters = (1..2200).map(|n| FRAC_PI_2 * f64::from(n));
    let powers = (-1074..1024).map(|n| 2_f64.powi(n));
    let given = special.into_iter().chain(corners);
    given
        .chain(steps)
        .chain(roots)
        .chain(quarters)
        .chain(powers)
}

/// Returns the distance from `result` to `reference` in ulps of f32; infinite for a wrong special value or sign.
fn error_f32(result: f32, reference: f64) -> f64 {
    let rounded = reference as f32;
    if rounded.is_nan() || rounded.is_infinite() || !result.is_finite() {
        return if rounded.to_bits() == result.to_bits() || rounded.is_nan() && result.is_nan() {
            0.0
        } else {
            f64::INFINITY
        };
    }
    if result.is_sign_negative() != reference.is_sign_negative() {
        return f64::INFINITY;
    }
    let exponent = ((reference.to_bits() >> 52 & 0x7ff) as i32).max(1) - 1023;
    (f64::from(result) - reference).abs() / 2_f64.powi(exponent.max(-126) - 23)
}
