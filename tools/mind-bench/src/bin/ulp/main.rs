//! Measures the error of the math functions in units in the last place.
//!
//! f32 is measured on every bit pattern, MIL's own functions on blocks of them, against f64; f64 on random and
//! edge points, against double-double arithmetic. The references share nothing with the functions measured: `exp`, `ln`
//! and `tanh` of f64 are Rust's own, erf comes from its Taylor series and its continued fraction.
//!
//! Build with `-C target-cpu=native`; without a hardware fused multiply-add a run takes hours
//! instead of minutes.

mod mil;

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, LN_2};
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::ops::{Add, Div, Mul, Neg, Sub};
use std::process::ExitCode;

use mind_ir::random::Rng;
use mind_ir::scalar::math;

const USAGE: &str = "usage: ulp [f32|f64] [FUNCTION] [--points=N] [--stride=N]

Prints the largest error of each math function, in ulp, and the input where it occurs.
  f32, f64    only this type; both without it
  FUNCTION    only this one of exp, log, tanh, erf, sigmoid, gelu, or of MIL's, as mil.silu
  --points=N  random points of each function in f64 (default 20000000)
  --stride=N  only every Nth block of 4096 inputs in f32 (default 1; for MIL's 64)";

/// One function in both types, with its references.
struct Row {
    name: &'static str,
    f32: fn(&mut [f32]),
    f64: fn(f64) -> f64,
    f32_reference: fn(&Tables, f64) -> f64,
    f64_reference: fn(&Tables, f64) -> Scaled,
    /// Where the result in f64 is neither saturated nor trivial.
    domain: (f64, f64),
}

/// Applies a function to a block, so that the compiler can vectorise it.
macro_rules! block {
    ($function:path) => {
        |xs| xs.iter_mut().for_each(|x| *x = $function(*x))
    };
}

const ROWS: [Row; 6] = [
    Row {
        name: "exp",
        f32: block!(math::exp_f32),
        f64: math::exp_f64,
        f32_reference: |_, x| x.exp(),
        f64_reference: |_, x| exp(Dd::from(x)),
        domain: (-746.0, 710.0),
    },
    Row {
        name: "log",
        f32: block!(math::log_f32),
        f64: math::log_f64,
        f32_reference: |_, x| x.ln(),
        f64_reference: |_, x| Scaled {
            value: log(x),
            exponent: 0,
        },
        domain: (0.0, 16.0),
    },
    Row {
        name: "tanh",
        f32: block!(math::tanh_f32),
        f64: math::tanh_f64,
        f32_reference: |_, x| x.tanh(),
        f64_reference: |_, x| Scaled {
            value: tanh(x),
            exponent: 0,
        },
        domain: (-20.0, 20.0),
    },
    Row {
        name: "erf",
        f32: block!(math::erf_f32),
        f64: math::erf_f64,
        f32_reference: erf_reference,
        f64_reference: |tables, x| Scaled {
            value: tables.erf(x),
            exponent: 0,
        },
        domain: (-6.0, 6.0),
    },
    Row {
        name: "sigmoid",
        f32: block!(math::sigmoid_f32),
        f64: math::sigmoid_f64,
        f32_reference: |_, x| {
            if x < 0.0 {
                x.exp() / (1.0 + x.exp())
            } else {
                1.0 / (1.0 + (-x).exp())
            }
        },
        f64_reference: |_, x| sigmoid(x),
        domain: (-746.0, 40.0),
    },
    Row {
        name: "gelu",
        f32: block!(math::gelu_f32),
        f64: math::gelu_f64,
        f32_reference: gelu_reference,
        f64_reference: |tables, x| tables.gelu(x),
        domain: (-38.7, 9.0),
    },
];

fn main() -> ExitCode {
    let (mut dtype, mut function, mut points, mut stride) = (None, None, 20_000_000, None);
    for arg in std::env::args().skip(1) {
        if let Some(count) = arg
            .strip_prefix("--points=")
            .and_then(|count| count.parse().ok())
        {
            points = count;
        } else if let Some(count) = arg
            .strip_prefix("--stride=")
            .and_then(|count| count.parse::<NonZeroUsize>().ok())
        {
            stride = Some(count.get());
        } else if arg == "f32" || arg == "f64" {
            dtype = Some(arg);
        } else if ROWS.iter().any(|row| row.name == arg) || mil::rows().any(|row| row.name == arg) {
            function = Some(arg);
        } else {
            let _ = writeln!(io::stderr(), "{USAGE}");
            return ExitCode::from(2);
        }
    }
    let wanted =
        |choice: &Option<String>, name: &str| choice.as_ref().is_none_or(|choice| choice == name);

    let tables = Tables::new();
    // A reader that closes the pipe has seen enough.
    let mut table = io::stdout();
    let _ = writeln!(
        table,
        "| function | dtype | inputs tested | max ulp | at | monotone |\n|---|---|---|---|---|---|"
    );
    for row in ROWS.iter().filter(|row| wanted(&function, row.name)) {
        if wanted(&dtype, "f32") {
            let reference = |x| (row.f32_reference)(&tables, x);
            let found = measure_f32(row.f32, reference, stride.unwrap_or(1));
            show_f32(&mut table, row.name, &found);
        }
        if wanted(&dtype, "f64") {
            let Worst { count, ulp, input } = measure_f64(row, &tables, points);
            let x = f64::from_bits(input);
            let _ = writeln!(
                table,
                "| {} | f64 | {count} | {ulp:.4} | {input:#018x} ({x:e}) | - |",
                row.name
            );
        }
    }
    if wanted(&dtype, "f32") {
        for row in mil::rows().filter(|row| wanted(&function, &row.name)) {
            let block = |xs: &mut [f32]| xs.iter_mut().for_each(|x| *x = (row.function)(*x));
            let found = measure_f32(block, row.reference, stride.unwrap_or(64));
            show_f32(&mut table, &row.name, &found);
        }
    }
    ExitCode::SUCCESS
}

fn show_f32(table: &mut impl Write, name: &str, (worst, monotone): &(Worst, bool)) {
    let Worst { count, ulp, input } = worst;
    let x = f32::from_bits(*input as u32);
    let monotone = if *monotone { "yes" } else { "no" };
    // A reader that closes the pipe has seen enough.
    let _ = writeln!(
        table,
        "| {name} | f32 | {count} | {ulp:.4} | {input:#010x} ({x:e}) | {monotone} |"
    );
}

/// The largest error found so far.
#[derive(Default)]
struct Worst {
    count: u64,
    ulp: f64,
    input: u64,
}

impl Worst {
    fn record(&mut self, ulp: f64, input: u64) {
        self.count += 1;
        if ulp > self.ulp {
            (self.ulp, self.input) = (ulp, input);
        }
    }
}

/// The error on every `stride`th block of all 2^32 inputs, and whether the function never decreases.
fn measure_f32(
    function: impl Fn(&mut [f32]),
    reference: impl Fn(f64) -> f64,
    stride: usize,
) -> (Worst, bool) {
    const BLOCK: u32 = 1 << 12;
    let (mut worst, mut monotone) = (Worst::default(), true);
    let mut results = vec![0.0; BLOCK as usize];
    for sign in [0, 1_u32 << 31] {
        let mut last: Option<f32> = None;
        for start in (0..1_u32 << 31).step_by(BLOCK as usize * stride) {
            for (result, bits) in results.iter_mut().zip(start..) {
                *result = f32::from_bits(sign | bits);
            }
            function(&mut results);
            for (&result, bits) in results.iter().zip(start..) {
                let bits = sign | bits;
                let exact = reference(f64::from(f32::from_bits(bits)));
                worst.record(error_f32(result, exact), u64::from(bits));
                // Negative inputs are visited downwards.
                let (below, above) = if sign == 0 {
                    (last, Some(result))
                } else {
                    (Some(result), last)
                };
                monotone &= below.zip(above).is_none_or(|(below, above)| {
                    below <= above || below.is_nan() || above.is_nan()
                });
                last = Some(result);
            }
        }
    }
    (worst, monotone)
}

/// The distance from `result` to `reference` in ulps of f32; infinite for a wrong special value or
/// sign.
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
    (f64::from(result) - reference).abs() / power_of_two(exponent(reference).max(-126) - 23)
}

/// The error on random points of the domain, random bit patterns, and the neighbourhoods of the
/// points where one approximation or exponent gives way to the next.
fn measure_f64(row: &Row, tables: &Tables, points: u64) -> Worst {
    let mut worst = Worst::default();
    let mut check = |x: f64| {
        let reference = (row.f64_reference)(tables, x);
        worst.record(error_f64((row.f64)(x), reference), x.to_bits());
    };
    let special = [
        0.0,
        f64::MIN_POSITIVE,
        f64::from_bits(1),
        f64::MAX,
        f64::INFINITY,
        f64::NAN,
    ];
    let corners = [
        0.5,
        2.0 / 3.0,
        0.75,
        1.0,
        4.0 / 3.0,
        1.5,
        2.0,
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
    let powers = (-1074..1024).map(|n| 2_f64.powi(n));
    for x in special
        .into_iter()
        .chain(corners)
        .chain(steps)
        .chain(roots)
        .chain(powers)
    {
        for offset in -20..=20_i64 {
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
        // Magnitudes spread evenly over the binades near 1, where all approximations change.
        check(
            f64::from_bits((rng.bits() >> 12) + ((1023 - 20 + rng.bits() % 26) << 52))
                * if rng.bits() & 1 == 0 { 1.0 } else { -1.0 },
        );
        check(1.5 * (2.0 * unit - 1.0));
        check(f64::from_bits(rng.bits()));
    }
    worst
}

/// The distance from `result` to `reference` in ulps of f64; infinite for a wrong special value or
/// sign.
fn error_f64(result: f64, reference: Scaled) -> f64 {
    let Scaled {
        value,
        exponent: scale,
    } = reference;
    if value.hi.is_nan() {
        return if result.is_nan() { 0.0 } else { f64::INFINITY };
    }
    let rounded = scale_by(value.hi, scale);
    if !rounded.is_finite() || !result.is_finite() {
        return if rounded == result {
            0.0
        } else {
            f64::INFINITY
        };
    }
    if result.is_sign_negative() != value.hi.is_sign_negative() {
        return f64::INFINITY;
    }
    let ulp = (exponent(value.hi) + scale).max(-1022) - 52 - scale;
    let result = scale_by(result, -scale);
    (((result - value.hi) - value.lo) / scale_by(1.0, ulp)).abs()
}

/// floor(log2(|x|)) of a normal number; that of the smallest one for zero and subnormal numbers.
fn exponent(x: f64) -> i32 {
    ((x.to_bits() >> 52 & 0x7ff) as i32).max(1) - 1023
}

/// 2^n for a normal result.
fn power_of_two(n: i32) -> f64 {
    f64::from_bits(((n + 1023) as u64) << 52)
}

/// x 2^n for |n| <= 2000; exact when the result is normal, or when it grows.
fn scale_by(x: f64, n: i32) -> f64 {
    x * power_of_two(n / 2) * power_of_two(n - n / 2)
}

/// erf in f64.
fn erf_reference(tables: &Tables, x: f64) -> f64 {
    let a = x.abs();
    if a == 0.0 {
        x
    } else if a < 0.5 {
        // x's factor is 2/sqrt(pi) (1 - x^2/3 + x^4/10 - ...).
        let mut term = FRAC_2_SQRT_PI * x;
        let mut sum = term;
        for n in 1..16 {
            term *= -x * x / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        sum
    } else if a > 6.0 {
        x.signum()
    } else {
        (1.0 - (-a * a).exp() * tables.erfcx_f64(a)).copysign(x)
    }
}

/// gelu in f64 of an f32, whose square is exact.
fn gelu_reference(tables: &Tables, x: f64) -> f64 {
    let a = x.abs().min(20.0);
    let tail = 0.5 * (-0.5 * a * a).exp() * tables.erfcx_f64(a * FRAC_1_SQRT_2);
    if x > 0.0 {
        x * (1.0 - tail)
    } else if x == f64::NEG_INFINITY {
        -0.0
    } else {
        x * tail
    }
}

/// The unevaluated sum of two f64, some 106 bits.
#[derive(Clone, Copy, Debug, Default)]
struct Dd {
    hi: f64,
    lo: f64,
}

/// A number too large or too small for f64: `value` times 2 to the power `exponent`.
struct Scaled {
    value: Dd,
    exponent: i32,
}

impl From<f64> for Dd {
    fn from(hi: f64) -> Dd {
        Dd { hi, lo: 0.0 }
    }
}

impl Dd {
    /// The exact sum of two numbers.
    fn sum(a: f64, b: f64) -> Dd {
        let hi = a + b;
        let rest = hi - a;
        Dd {
            hi,
            lo: (a - (hi - rest)) + (b - rest),
        }
    }

    /// The exact product of two numbers.
    fn product(a: f64, b: f64) -> Dd {
        let hi = a * b;
        Dd {
            hi,
            lo: a.mul_add(b, -hi),
        }
    }

    /// `self` times 2^n, exact while no part is subnormal.
    fn scale(self, n: i32) -> Dd {
        Dd {
            hi: scale_by(self.hi, n),
            lo: scale_by(self.lo, n),
        }
    }
}

impl Neg for Dd {
    type Output = Dd;

    fn neg(self) -> Dd {
        Dd {
            hi: -self.hi,
            lo: -self.lo,
        }
    }
}

impl Add for Dd {
    type Output = Dd;

    fn add(self, other: Dd) -> Dd {
        let (high, low) = (Dd::sum(self.hi, other.hi), Dd::sum(self.lo, other.lo));
        let high = Dd::sum(high.hi, high.lo + low.hi);
        Dd::sum(high.hi, high.lo + low.lo)
    }
}

impl Sub for Dd {
    type Output = Dd;

    fn sub(self, other: Dd) -> Dd {
        self + -other
    }
}

impl Mul for Dd {
    type Output = Dd;

    fn mul(self, other: Dd) -> Dd {
        let high = Dd::product(self.hi, other.hi);
        Dd::sum(
            high.hi,
            high.lo + self.hi.mul_add(other.lo, self.lo * other.hi),
        )
    }
}

impl Div for Dd {
    type Output = Dd;

    fn div(self, other: Dd) -> Dd {
        let first = self.hi / other.hi;
        let rest = self - other * Dd::from(first);
        let second = rest.hi / other.hi;
        let rest = rest - other * Dd::from(second);
        Dd::sum(first, second) + Dd::from(rest.hi / other.hi)
    }
}

const ONE: Dd = Dd { hi: 1.0, lo: 0.0 };
/// 2/sqrt(pi).
const TWO_OVER_SQRT_PI: Dd = Dd {
    hi: FRAC_2_SQRT_PI,
    lo: 1.533545961316588e-17,
};
/// 1/sqrt(2).
const SQRT_HALF: Dd = Dd {
    hi: FRAC_1_SQRT_2,
    lo: -4.833646656726457e-17,
};

/// The integer n and e^x / 2^n - 1, for |x| <= 2000.
fn expm1_scaled(x: Dd) -> (i32, Dd) {
    // ln(2) in parts; the product of the first with n is exact.
    const LN2: [f64; 3] = [
        0.6931471805592082,
        7.371002565167799e-13,
        1.94704509238075e-31,
    ];
    const HALVINGS: i32 = 8;
    let n = (x.hi / LN_2).round();
    let reduced = LN2.iter().fold(x, |x, &part| x - Dd::product(n, part));
    let r = reduced.scale(-HALVINGS);
    let mut sum = ONE;
    for k in (2..14).rev() {
        sum = ONE + sum * r / Dd::from(f64::from(k));
    }
    let mut expm1 = sum * r;
    for _ in 0..HALVINGS {
        expm1 = expm1 + expm1 + expm1 * expm1;
    }
    (n as i32, expm1)
}

/// e^x.
fn exp(x: Dd) -> Scaled {
    if x.hi.is_nan() || x.hi.abs() > 1e3 {
        return Scaled {
            value: Dd::from(x.hi.exp()),
            exponent: 0,
        };
    }
    let (exponent, expm1) = expm1_scaled(x);
    Scaled {
        value: ONE + expm1,
        exponent,
    }
}

/// e^x - 1.
fn expm1(x: Dd) -> Dd {
    let (n, expm1) = expm1_scaled(x);
    if n == 0 {
        expm1
    } else {
        (ONE + expm1).scale(n) - ONE
    }
}

/// ln(x), one step of Halley's method from Rust's own.
fn log(x: f64) -> Dd {
    if x.is_nan() || x <= 0.0 || x == f64::INFINITY {
        return Dd::from(x.ln());
    }
    let start = Dd::from(x.ln());
    let (n, expm1) = expm1_scaled(-start);
    let ratio = if n == 0 {
        let x_1 = Dd::sum(x, -1.0);
        x_1 + expm1 + x_1 * expm1
    } else {
        // Half of the scale on each side keeps x away from the ends of the range.
        Dd::from(scale_by(x, n)) * (ONE + expm1) - ONE
    };
    start + ratio / (ONE + ratio.scale(-1))
}

/// tanh(x).
fn tanh(x: f64) -> Dd {
    if x.is_nan() || x.abs() > 40.0 || x.abs() < 1e-100 {
        return Dd::from(x.tanh());
    }
    let h = expm1(Dd::from(-2.0 * x.abs()));
    let result = -h / (Dd::from(2.0) + h);
    if x < 0.0 { -result } else { result }
}

/// 1 / (1 + e^-x).
fn sigmoid(x: f64) -> Scaled {
    if x.is_nan() || x.abs() > 1e3 {
        return Scaled {
            value: Dd::from(1.0 / (1.0 + (-x).exp())),
            exponent: 0,
        };
    }
    let Scaled { value, exponent } = exp(Dd::from(-x.abs()));
    let sum = ONE + value.scale(exponent);
    if x < 0.0 {
        Scaled {
            value: value / sum,
            exponent,
        }
    } else {
        Scaled {
            value: ONE / sum,
            exponent: 0,
        }
    }
}

/// Taylor coefficients of erfcx(x) = e^(x^2) erfc(x) at the multiples of 1/8.
struct Tables {
    nodes: Vec<[Dd; Tables::TERMS]>,
}

impl Tables {
    const TERMS: usize = 28;
    const PER_UNIT: f64 = 8.0;
    const LAST: f64 = 28.0;

    fn new() -> Tables {
        let count = (Self::LAST * Self::PER_UNIT) as u32;
        Tables {
            nodes: (0..=count)
                .map(|n| Self::node(f64::from(n) / Self::PER_UNIT))
                .collect(),
        }
    }

    /// From the differential equation y' = 2 x y - 2/sqrt(pi).
    fn node(x: f64) -> [Dd; Tables::TERMS] {
        let two_x = Dd::from(2.0 * x);
        let mut terms = [Dd::default(); Tables::TERMS];
        terms[0] = if x < 2.0 {
            (ONE - erf_series(x)) * exp_square(x)
        } else {
            erfcx_fraction(x)
        };
        terms[1] = two_x * terms[0] - TWO_OVER_SQRT_PI;
        for k in 2..Tables::TERMS {
            terms[k] = (two_x * terms[k - 1] + terms[k - 2] + terms[k - 2]) / Dd::from(k as f64);
        }
        terms
    }

    fn nearest(&self, x: f64) -> (f64, &[Dd; Tables::TERMS]) {
        let n = (x * Self::PER_UNIT).round();
        (n / Self::PER_UNIT, &self.nodes[n as usize])
    }

    /// erfcx(x) for 0 <= x <= LAST.
    fn erfcx(&self, x: Dd) -> Dd {
        let (node, terms) = self.nearest(x.hi);
        let h = x - Dd::from(node);
        terms
            .iter()
            .rev()
            .fold(Dd::default(), |sum, &term| sum * h + term)
    }

    /// erfcx(x) for 0 <= x <= LAST, in f64.
    fn erfcx_f64(&self, x: f64) -> f64 {
        let (node, terms) = self.nearest(x);
        let h = x - node;
        terms[..13]
            .iter()
            .rev()
            .fold(0.0, |sum, term| h.mul_add(sum, term.hi))
    }

    fn erf(&self, x: f64) -> Dd {
        let a = x.abs();
        if a.is_nan() || a == 0.0 {
            return Dd::from(x);
        }
        if a > 10.0 {
            return Dd::from(x.signum());
        }
        if a < 0.5 {
            return erf_series(x);
        }
        let Scaled { value, exponent } = exp(-Dd::product(a, a));
        let result = ONE - (value * self.erfcx(Dd::from(a))).scale(exponent);
        if x < 0.0 { -result } else { result }
    }

    fn gelu(&self, x: f64) -> Scaled {
        let a = x.abs();
        if a.is_nan() || a == 0.0 || a > 39.0 {
            return Scaled {
                value: Dd::from(if x < 0.0 { -0.0 } else { x }),
                exponent: 0,
            };
        }
        let Scaled { value, exponent } = exp(Dd::product(-0.5 * a, a));
        let tail = (value * self.erfcx(SQRT_HALF * Dd::from(a))).scale(-1);
        // Small x would lose its low part in the product, so it keeps an exponent of its own.
        let (x, shift) = (scale_by(x, 600), -600);
        if x < 0.0 {
            Scaled {
                value: Dd::from(x) * tail,
                exponent: exponent + shift,
            }
        } else {
            Scaled {
                value: Dd::from(x) * (ONE - tail.scale(exponent)),
                exponent: shift,
            }
        }
    }
}

/// erf(x) for |x| <= 2, by its Taylor series.
fn erf_series(x: f64) -> Dd {
    let square = Dd::product(x, x);
    let mut term = TWO_OVER_SQRT_PI * Dd::from(x);
    let mut sum = term;
    for n in 1..80 {
        term = -term * square / Dd::from(f64::from(n));
        sum = sum + term / Dd::from(f64::from(2 * n + 1));
    }
    sum
}

/// e^(x^2) for |x| <= 2.
fn exp_square(x: f64) -> Dd {
    let Scaled { value, exponent } = exp(Dd::product(x, x));
    value.scale(exponent)
}

/// erfcx(x) for x >= 2, by its continued fraction.
fn erfcx_fraction(x: f64) -> Dd {
    let mut denominator = Dd::from(x);
    for k in (1..500).rev() {
        denominator = Dd::from(x) + Dd::from(0.5 * f64::from(k)) / denominator;
    }
    TWO_OVER_SQRT_PI.scale(-1) / denominator
}
