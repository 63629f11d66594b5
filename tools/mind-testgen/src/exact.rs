//! Functions of `f64` to 256 bits, as independent references.

pub use astro_float_num::BigFloat;
use astro_float_num::{Consts, RoundingMode};
use mind_ir::types::DType;

/// Precision of a number in bits.
const BITS: usize = 256;
const MODE: RoundingMode = RoundingMode::None;
/// The exponent below which the first terms of a series are accurate to at least 160 bits.
const TINY: i32 = -80;

type Function = fn(&BigFloat, usize, RoundingMode, &mut Consts) -> BigFloat;

/// Evaluates functions, and caches the constants that they need.
pub struct Exact {
    constants: Consts,
}

impl Default for Exact {
    fn default() -> Exact {
        let constants = Consts::new().expect("memory for a few constants");
        Exact { constants }
    }
}

impl Exact {
    /// Returns pi.
    pub fn pi(&mut self) -> BigFloat {
        self.constants.pi(BITS, MODE)
    }

    /// Returns a function of the library at `x`.
    pub fn of(&mut self, function: Function, x: f64) -> BigFloat {
        function(&number(x), BITS, MODE, &mut self.constants)
    }

    /// Returns 2^x.
    pub fn exp2(&mut self, x: f64) -> BigFloat {
        let ln_2 = self.constants.ln_2(BITS, MODE);
        let power = mul(&number(x), &ln_2);
        self.exp(&power)
    }

    /// Returns e^x - 1.
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

    /// Returns ln(1 + x).
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

    /// Returns 1 / sqrt(x).
    pub fn rsqrt(&mut self, x: f64) -> BigFloat {
        if x == 0.0 {
            return number(1.0 / x);
        }
        div(&number(1.0), &number(x).sqrt(BITS, MODE))
    }

    /// Returns 1 / (1 + e^-x).
    pub fn sigmoid(&mut self, x: f64) -> BigFloat {
        let power = self.exp(&number(-x));
        div(&number(1.0), &add(&number(1.0), &power))
    }

    /// Returns the error function.
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

    /// Returns `x (1 + erf(x / sqrt(2))) / 2`.
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

    /// Returns the angle of the point (x, y).
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

    /// Returns `x^y` for positive x.
    pub fn pow(&mut self, x: f64, y: f64) -> BigFloat {
        let logarithm = self.of(BigFloat::ln, x);
        self.exp(&mul(&logarithm, &number(y)))
    }

    fn exp(&mut self, x: &BigFloat) -> BigFloat {
        x.exp(BITS, MODE, &mut self.constants)
    }

    /// Returns `2 / sqrt(pi) e^(-x^2)`.
    fn bell(&mut self, x: &BigFloat) -> BigFloat {
        let root = self.constants.pi(BITS, MODE).sqrt(BITS, MODE);
        let power = self.exp(&mul(x, x).neg());
        div(&mul(&number(2.0), &power), &root)
    }

    /// Returns `erf(x)` for x up to 3, by a series of positive terms: `2 / sqrt(pi) e^(-x^2) (x + 2 x^3 / 3 + 4 x^5 /
    /// 15 + ...)`.
    fn erf_series(&mut self, x: &BigFloat) -> BigFloat {
        let twice_square = mul(&number(2.0), &mul(x, x));
        let (mut term, mut sum) = (x.clone(), x.clone());
        for odd in (3..250).step_by(2) {
            term = div(&mul(&term, &twice_square), &number(f64::from(odd)));
            sum = add(&sum, &term);
        }
        mul(&self.bell(x), &sum)
    }

    /// Returns `1 - erf(x)` for x from 2.8, by its continued fraction.
    fn erfc_fraction(&mut self, x: &BigFloat) -> BigFloat {
        let mut denominator = x.clone();
        for k in (1..250).rev() {
            denominator = add(x, &div(&number(0.5 * f64::from(k)), &denominator));
        }
        div(&div(&self.bell(x), &number(2.0)), &denominator)
    }
}

/// The parameters of a float format that determine rounding.
#[derive(Clone, Copy, Debug)]
pub struct FloatFormat {
    /// Precision of normal numbers in bits.
    pub digits: i32,
    /// The exponent of the smallest normal number, as a fraction from 1/2 to 1 times a power of two.
    pub least_exponent: i32,
    /// The exponent of the largest finite number, in the same form.
    pub most_exponent: i32,
}

impl FloatFormat {
    /// `f64`.
    pub const F64: FloatFormat = FloatFormat {
        digits: 53,
        least_exponent: -1021,
        most_exponent: 1024,
    };

    /// Returns the format of a dtype; `None` if that is not a float.
    pub fn of(dtype: DType) -> Option<FloatFormat> {
        let format = |digits, least_exponent, most_exponent| FloatFormat {
            digits,
            least_exponent,
            most_exponent,
        };
        Some(match dtype {
            DType::F16 => format(11, -13, 16),
            DType::BF16 => format(8, -125, 128),
            DType::F32 => format(24, -125, 128),
            DType::F64 => FloatFormat::F64,
            DType::I8
            | DType::I16
            | DType::I32
            | DType::I64
            | DType::U8
            | DType::U16
            | DType::U32
            | DType::U64
            | DType::Bool => return None,
        })
    }

    /// Returns the distance from `result`, a number of this format, to `reference` in units in the last place; infinite for a
    /// wrong special value or sign.
    pub fn error(self, result: f64, reference: &BigFloat) -> f64 {
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
        let ulp = exponent.max(self.least_exponent) - self.digits;
        let mut distance = if result.is_infinite() {
            // Infinity is treated as the next number after the largest one.
            sub(&self.beyond(), &reference.abs())
        } else {
            sub(&number(result), reference)
        };
        match distance.exponent() {
            Some(own) if !distance.is_zero() => {
                let is_overflow = result.is_infinite() && distance.is_negative();
                distance.set_exponent(own - ulp);
                if is_overflow {
                    0.0
                } else {
                    approximate(&distance).abs()
                }
            }
            _ => 0.0,
        }
    }

    /// Returns the power of two after the largest finite number.
    fn beyond(self) -> BigFloat {
        let mut power = number(1.0);
        power.set_exponent(self.most_exponent + 1);
        power
    }
}

/// Returns the leading bits of a number of moderate size.
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

/// Returns `x` to 256 bits, exactly.
pub fn number(x: f64) -> BigFloat {
    if !x.is_subnormal() {
        return BigFloat::from_f64(x, BITS);
    }
    // The library halves subnormal numbers, so they are scaled first.
    let mut scaled = BigFloat::from_f64(x * 2_f64.powi(64), BITS);
    let exponent = scaled.exponent().unwrap_or(0);
    scaled.set_exponent(exponent - 64);
    scaled
}

/// Returns x + y.
pub fn add(x: &BigFloat, y: &BigFloat) -> BigFloat {
    x.add(y, BITS, MODE)
}

/// Returns x - y.
pub fn sub(x: &BigFloat, y: &BigFloat) -> BigFloat {
    x.sub(y, BITS, MODE)
}

/// Returns x y.
pub fn mul(x: &BigFloat, y: &BigFloat) -> BigFloat {
    x.mul(y, BITS, MODE)
}

/// Returns x / y.
pub fn div(x: &BigFloat, y: &BigFloat) -> BigFloat {
    x.div(y, BITS, MODE)
}
