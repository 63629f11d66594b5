//! Functions of `f64` to 256 bits.

use astro_float_num::{BigFloat, Consts, RoundingMode};

/// Bits of a number.
const BITS: usize = 256;
const MODE: RoundingMode = RoundingMode::None;
/// The exponent below which the first terms of a series are the function to 160 bits and more.
const TINY: i32 = -80;

type Function = fn(&BigFloat, usize, RoundingMode, &mut Consts) -> BigFloat;

/// Computes functions, and keeps the constants that they need.
pub struct Exact {
    constants: Consts,
}

impl Exact {
    pub fn new() -> Exact {
        let constants = Consts::new().expect("memory for a few constants");
        Exact { constants }
    }

    /// A function of the library.
    pub fn of(&mut self, function: Function, x: f64) -> BigFloat {
        function(&number(x), BITS, MODE, &mut self.constants)
    }

    pub fn exp2(&mut self, x: f64) -> BigFloat {
        let ln_2 = self.constants.ln_2(BITS, MODE);
        let power = mul(&number(x), &ln_2);
        self.exp(&power)
    }

    pub fn expm1(&mut self, x: f64) -> BigFloat {
        let x = number(x);
        if is_tiny(&x) {
            let square = mul(&x, &x);
            let cube = mul(&square, &x);
            return add(
                &x,
                &add(&div(&square, &number(2.0)), &div(&cube, &number(6.0))),
            );
        }
        sub(&self.exp(&x), &number(1.0))
    }

    pub fn log1p(&mut self, x: f64) -> BigFloat {
        let x = number(x);
        if is_tiny(&x) {
            let square = mul(&x, &x);
            let cube = mul(&square, &x);
            return add(
                &sub(&x, &div(&square, &number(2.0))),
                &div(&cube, &number(3.0)),
            );
        }
        add(&x, &number(1.0)).ln(BITS, MODE, &mut self.constants)
    }

    pub fn rsqrt(&mut self, x: f64) -> BigFloat {
        if x == 0.0 {
            return number(1.0 / x);
        }
        div(&number(1.0), &number(x).sqrt(BITS, MODE))
    }

    pub fn sigmoid(&mut self, x: f64) -> BigFloat {
        let power = self.exp(&number(-x));
        div(&number(1.0), &add(&number(1.0), &power))
    }

    pub fn erf(&mut self, x: f64) -> BigFloat {
        if x.is_nan() {
            return number(x);
        }
        let a = number(x.abs());
        let erf = match x.abs() {
            ..3.0 => self.erf_series(&a),
            3.0..20.0 => sub(&number(1.0), &self.erfc_fraction(&a)),
            _ => number(1.0),
        };
        if x < 0.0 { erf.neg() } else { erf }
    }

    /// `x (1 + erf(x / sqrt(2))) / 2`.
    pub fn gelu(&mut self, x: f64) -> BigFloat {
        if x.is_nan() || x == f64::INFINITY {
            return number(x);
        }
        if x < -60.0 {
            return number(0.0);
        }
        let a = div(&number(x.abs()), &number(2.0).sqrt(BITS, MODE));
        let tail = match x.abs() {
            ..4.0 => sub(&number(1.0), &self.erf_series(&a)),
            4.0..60.0 => self.erfc_fraction(&a),
            _ => number(0.0),
        };
        let twice = if x < 0.0 {
            tail
        } else {
            sub(&number(2.0), &tail)
        };
        div(&mul(&number(x), &twice), &number(2.0))
    }

    /// The angle of the point (x, y).
    pub fn atan2(&mut self, y: f64, x: f64) -> BigFloat {
        let angle = div(&number(y.abs()), &number(x.abs()));
        let mut angle = angle.atan(BITS, MODE, &mut self.constants);
        if x.is_sign_negative() {
            angle = sub(&self.constants.pi(BITS, MODE), &angle);
        }
        if y.is_sign_negative() {
            angle.neg()
        } else {
            angle
        }
    }

    /// `x^y` for positive x.
    pub fn pow(&mut self, x: f64, y: f64) -> BigFloat {
        let logarithm = self.of(BigFloat::ln, x);
        self.exp(&mul(&logarithm, &number(y)))
    }

    fn exp(&mut self, x: &BigFloat) -> BigFloat {
        x.exp(BITS, MODE, &mut self.constants)
    }

    /// `2 / sqrt(pi) e^(-x^2)`.
    fn bell(&mut self, x: &BigFloat) -> BigFloat {
        let root = self.constants.pi(BITS, MODE).sqrt(BITS, MODE);
        let power = self.exp(&mul(x, x).neg());
        div(&mul(&number(2.0), &power), &root)
    }

    /// `erf(x)` for x up to 3, by the series whose terms are all positive:
    /// `2 / sqrt(pi) e^(-x^2) (x + 2 x^3 / 3 + 4 x^5 / 15 + ...)`.
    fn erf_series(&mut self, x: &BigFloat) -> BigFloat {
        let twice_square = mul(&number(2.0), &mul(x, x));
        let (mut term, mut sum) = (x.clone(), x.clone());
        for odd in (3..250).step_by(2) {
            term = div(&mul(&term, &twice_square), &number(f64::from(odd)));
            sum = add(&sum, &term);
        }
        mul(&self.bell(x), &sum)
    }

    /// `1 - erf(x)` for x from 2.8, by its continued fraction.
    fn erfc_fraction(&mut self, x: &BigFloat) -> BigFloat {
        let mut denominator = x.clone();
        for k in (1..250).rev() {
            denominator = add(x, &div(&number(0.5 * f64::from(k)), &denominator));
        }
        div(&div(&self.bell(x), &number(2.0)), &denominator)
    }
}

/// The distance from `result` to `reference` in ulps of f64; infinite for a wrong special value or sign.
pub fn error(result: f64, reference: &BigFloat) -> f64 {
    let wrong_unless = |is_right: bool| if is_right { 0.0 } else { f64::INFINITY };
    let Some(exponent) = reference.exponent() else {
        let is_infinite = reference.is_inf() && result.is_infinite();
        let has_sign = reference.is_inf_neg() == result.is_sign_negative();
        return wrong_unless(reference.is_nan() && result.is_nan() || is_infinite && has_sign);
    };
    if reference.is_zero() {
        return wrong_unless(result == 0.0);
    }
    if result.is_nan() || result.is_sign_negative() != reference.is_negative() {
        return f64::INFINITY;
    }
    // The reference is a fraction of 1/2 to 1, times 2^exponent.
    if result.is_infinite() || exponent > 1024 {
        let limit = add(&number(f64::MAX), &number(2_f64.powi(970)));
        return wrong_unless(result.is_infinite() && reference.abs().cmp(&limit) >= Some(0));
    }
    let mut distance = sub(&number(result), reference);
    let ulp = exponent.max(-1021) - 53;
    match distance.exponent() {
        Some(own) if !distance.is_zero() => {
            distance.set_exponent(own - ulp);
            approximate(&distance).abs()
        }
        _ => 0.0,
    }
}

/// The leading bits of a number of moderate size.
fn approximate(x: &BigFloat) -> f64 {
    let Some((words, _, _, exponent, _)) = x.as_raw_parts() else {
        return f64::NAN;
    };
    let leading = words.last().map_or(0.0, |&word| word as f64);
    leading * 2_f64.powi(exponent.saturating_sub(64).max(-1000))
}

fn is_tiny(x: &BigFloat) -> bool {
    x.is_zero() || x.exponent().is_some_and(|exponent| exponent < TINY)
}

fn number(x: f64) -> BigFloat {
    if !x.is_subnormal() {
        return BigFloat::from_f64(x, BITS);
    }
    // The library halves subnormal numbers.
    let mut scaled = BigFloat::from_f64(x * 2_f64.powi(64), BITS);
    let exponent = scaled.exponent().unwrap_or(0);
    scaled.set_exponent(exponent - 64);
    scaled
}

fn add(x: &BigFloat, y: &BigFloat) -> BigFloat {
    x.add(y, BITS, MODE)
}

fn sub(x: &BigFloat, y: &BigFloat) -> BigFloat {
    x.sub(y, BITS, MODE)
}

fn mul(x: &BigFloat, y: &BigFloat) -> BigFloat {
    x.mul(y, BITS, MODE)
}

fn div(x: &BigFloat, y: &BigFloat) -> BigFloat {
    x.div(y, BITS, MODE)
}
