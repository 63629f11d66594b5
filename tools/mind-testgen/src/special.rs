//! Special values of float formats, and references for the scalar functions at them.

use mind_ir::scalar::ScalarFn;
use mind_ir::tensor::{FloatNum, Num};
use mind_ir::types::DType;
use mind_ir::with_float;

use crate::exact::{BigFloat, Exact, FloatFormat, number};

/// Returns the values of a float dtype at which functions behave differently: zeros, the boundaries of subnormal and
/// normal numbers, neighbours of 1, halves of integers, the largest odd and even integers, the largest numbers and
/// infinities, of either sign, and NaN.
///
/// # Panics
///
/// If `dtype` is not a float.
pub fn values(dtype: DType) -> Vec<f64> {
    let format = FloatFormat::of(dtype).expect("a float dtype");
    let FloatFormat {
        digits,
        least_exponent,
        most_exponent,
    } = format;
    let least = power_of_two(least_exponent - digits);
    let least_normal = power_of_two(least_exponent - 1);
    let ulp = power_of_two(1 - digits);
    let large = power_of_two(digits);
    let magnitudes = [
        0.0,
        least,
        2.0 * least,
        3.0 * least,
        least_normal - least,
        least_normal,
        least_normal + least,
        ulp / 2.0,
        0.5 - ulp / 4.0,
        0.5,
        1.0 - ulp / 2.0,
        1.0,
        1.0 + ulp,
        1.5,
        2.0,
        2.5,
        3.0,
        4.0,
        10.0,
        large / 2.0 - 0.5,
        large - 1.0,
        large,
        large + 2.0,
        power_of_two(most_exponent - 1),
        power_of_two(most_exponent - 1) * (2.0 - ulp),
        f64::INFINITY,
    ];
    let signed = magnitudes.iter().flat_map(|&own| [own, -own]);
    signed.chain([f64::NAN]).collect()
}

/// Returns 2^exponent, which may be subnormal.
fn power_of_two(exponent: i32) -> f64 {
    match exponent {
        -1022.. => f64::from_bits(((exponent + 1023) as u64) << 52),
        _ => f64::from_bits(1 << (exponent + 1074)),
    }
}

/// The expected result of a function.
#[derive(Clone, Debug)]
pub enum Reference {
    /// Exactly this number, where all NaNs are equal.
    Is(f64),
    /// A number within this distance, in units in the last place of the dtype.
    Near(BigFloat, f64),
}

impl Reference {
    /// Returns whether `found`, an element of `dtype`, matches the reference.
    pub fn admits(&self, found: f64, dtype: DType) -> bool {
        match self {
            Reference::Is(expected) => {
                found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan()
            }
            Reference::Near(exact, ulps) => {
                let format = FloatFormat::of(dtype).expect("a float dtype");
                format.error(found, exact) <= *ulps
            }
        }
    }
}

/// Returns the expected result of `function` on the numbers `x` and `y` of a float dtype, according to
/// docs/numerics.md; a boolean is 0 or 1. Returns `None` if the function does not have one or two float operands.
pub fn reference(
    exact: &mut Exact,
    function: ScalarFn,
    [x, y]: [f64; 2],
    dtype: DType,
) -> Option<Reference> {
    use ScalarFn::*;
    // Double rounding of a result of `f64` is innocuous, because `f64` has more than twice the digits of `f32` plus 2.
    let rounded = |value: f64| Reference::Is(round(value, dtype));
    let truth = |holds: bool| Reference::Is(f64::from(u8::from(holds)));
    Some(match function {
        Add => rounded(x + y),
        Sub => rounded(x - y),
        Mul => rounded(x * y),
        Div => rounded(x / y),
        Sqrt => rounded(x.sqrt()),
        Maximum => Reference::Is(extremum(x, y, x > y, x.is_sign_positive())),
        Minimum => Reference::Is(extremum(x, y, x < y, x.is_sign_negative())),
        Neg => Reference::Is(-x),
        Abs => Reference::Is(x.abs()),
        Relu => Reference::Is(if x > 0.0 { x } else { 0.0 }),
        Sign => Reference::Is(match x {
            _ if x > 0.0 => 1.0,
            _ if x < 0.0 => -1.0,
            _ => x,
        }),
        Floor => Reference::Is(x.floor()),
        Ceil => Reference::Is(x.ceil()),
        Trunc => Reference::Is(x.trunc()),
        Round => Reference::Is(x.round_ties_even()),
        Equal => truth(x == y),
        NotEqual => truth(x != y),
        Less => truth(x < y),
        LessEqual => truth(x <= y),
        Greater => truth(x > y),
        GreaterEqual => truth(x >= y),
        Remainder => Reference::Is(x % y),
        Mod => rounded(modulo(x, y)),
        Pow => power(exact, x, y, dtype),
        Atan2 => angle(exact, x, y, dtype),
        Exp | Log | Erf | Tanh | Sigmoid | Gelu | Exp2 | Expm1 | Log2 | Log1p | Sinh | Cosh
        | Sin | Cos | Tan | Asin | Acos | Atan | Asinh | Acosh | Atanh | Rsqrt => {
            of_one(exact, function, x, dtype)
        }
        Select | And | Or | Xor | Not | ShiftLeft | ShiftRight | Fma => return None,
    })
}

/// Returns `value` rounded to the dtype.
fn round(value: f64, dtype: DType) -> f64 {
    with_float!(dtype, T => <T as FloatNum>::from_f64(value).to_f64(), else unreachable!("a float dtype"))
}

/// Returns the reference for an approximated function: within 2 ulp, or slightly more than half an ulp if a result of
/// `f32` is rounded to a narrower dtype.
fn near(value: BigFloat, dtype: DType) -> Reference {
    let ulps = match dtype {
        DType::F16 | DType::BF16 => 0.501,
        _ => 2.0,
    };
    Reference::Near(value, ulps)
}

fn extremum(x: f64, y: f64, is_first: bool, is_first_of_zeros: bool) -> f64 {
    let takes_first = is_first || x == y && is_first_of_zeros;
    match x.is_nan() || y.is_nan() {
        true => f64::NAN,
        false if takes_first => x,
        false => y,
    }
}

/// Returns the remainder with the sign of `y`. The sum of two numbers of a narrower dtype is exact in `f64`, or far
/// from a tie.
fn modulo(x: f64, y: f64) -> f64 {
    let left = x % y;
    if left == 0.0 {
        return f64::copysign(0.0, y);
    }
    let differs = left.is_sign_negative() != y.is_sign_negative();
    if differs { left + y } else { left }
}

/// Returns x^y, by the cases of IEEE 754.
fn power(exact: &mut Exact, x: f64, y: f64, dtype: DType) -> Reference {
    if y == 0.0 || x == 1.0 {
        return Reference::Is(1.0);
    }
    if x.is_nan() || y.is_nan() {
        return Reference::Is(f64::NAN);
    }
    let is_integer = y.is_infinite() || y.fract() == 0.0;
    if x < 0.0 && x.is_finite() && !is_integer {
        return Reference::Is(f64::NAN);
    }
    // An infinite exponent counts as even.
    let is_odd = y.is_finite() && (y % 2.0).abs() == 1.0;
    let signed = |size: f64| Reference::Is(if is_odd { size.copysign(x) } else { size });
    let (a, grows) = (x.abs(), (x.abs() > 1.0) == (y > 0.0));
    let extreme = if grows { f64::INFINITY } else { 0.0 };
    if a == 1.0 {
        return signed(1.0);
    }
    if a == 0.0 || a.is_infinite() || y.is_infinite() {
        return signed(extreme);
    }
    // Far outside of the range of numbers the library's exponential is slow.
    if (a.log2() * y).abs() > 4096.0 {
        return signed(extreme);
    }
    let size = exact.pow(a, y);
    let value = if is_odd && x < 0.0 { size.neg() } else { size };
    near(value, dtype)
}

/// Returns the angle of the point (x, y).
fn angle(exact: &mut Exact, y: f64, x: f64, dtype: DType) -> Reference {
    if x.is_nan() || y.is_nan() {
        return Reference::Is(f64::NAN);
    }
    if y == 0.0 && x.is_sign_positive() || y.is_finite() && x == f64::INFINITY {
        return Reference::Is(f64::copysign(0.0, y));
    }
    let quarters = match (y.is_infinite(), x.is_infinite()) {
        (true, true) if x > 0.0 => Some(1.0),
        (true, true) => Some(3.0),
        (true, false) => Some(2.0),
        (false, true) => Some(4.0),
        (false, false) if y == 0.0 => Some(4.0),
        (false, false) if x == 0.0 => Some(2.0),
        (false, false) => None,
    };
    let Some(quarters) = quarters else {
        return near(exact.atan2(y, x), dtype);
    };
    let signed = number(f64::copysign(quarters / 4.0, y));
    near(crate::exact::mul(&exact.pi(), &signed), dtype)
}

/// Returns the reference of an approximated function of one number, or of `Rsqrt`.
fn of_one(exact: &mut Exact, function: ScalarFn, x: f64, dtype: DType) -> Reference {
    if x.is_nan() || is_outside(function, x) {
        return Reference::Is(f64::NAN);
    }
    if let Some(own) = edge(function, x) {
        return match own.is_finite() && own.fract() != 0.0 {
            true => near(number(own), dtype),
            false => Reference::Is(own),
        };
    }
    let value = match function {
        ScalarFn::Exp => exact.of(BigFloat::exp, x),
        ScalarFn::Log => exact.of(BigFloat::ln, x),
        ScalarFn::Erf => exact.erf(x),
        ScalarFn::Tanh => exact.of(BigFloat::tanh, x),
        ScalarFn::Sigmoid => exact.sigmoid(x),
        ScalarFn::Gelu => exact.gelu(x),
        ScalarFn::Exp2 => exact.exp2(x),
        ScalarFn::Expm1 => exact.expm1(x),
        ScalarFn::Log2 => exact.of(BigFloat::log2, x),
        ScalarFn::Log1p => exact.log1p(x),
        ScalarFn::Sinh => exact.of(BigFloat::sinh, x),
        ScalarFn::Cosh => exact.of(BigFloat::cosh, x),
        ScalarFn::Sin => exact.of(BigFloat::sin, x),
        ScalarFn::Cos => exact.of(BigFloat::cos, x),
        ScalarFn::Tan => exact.of(BigFloat::tan, x),
        ScalarFn::Asin => exact.of(BigFloat::asin, x),
        ScalarFn::Acos => exact.of(BigFloat::acos, x),
        ScalarFn::Atan => exact.of(BigFloat::atan, x),
        ScalarFn::Asinh => exact.of(BigFloat::asinh, x),
        ScalarFn::Acosh => exact.of(BigFloat::acosh, x),
        ScalarFn::Atanh => exact.of(BigFloat::atanh, x),
        ScalarFn::Rsqrt => exact.rsqrt(x),
        other => unreachable!("{other:?} is not a function of one number"),
    };
    near(value, dtype)
}

/// Returns whether `x` is outside of the domain of a function.
fn is_outside(function: ScalarFn, x: f64) -> bool {
    match function {
        ScalarFn::Log | ScalarFn::Log2 | ScalarFn::Rsqrt => x < 0.0,
        ScalarFn::Log1p => x < -1.0,
        ScalarFn::Acosh => x < 1.0,
        ScalarFn::Asin | ScalarFn::Acos | ScalarFn::Atanh => x.abs() > 1.0,
        ScalarFn::Sin | ScalarFn::Cos | ScalarFn::Tan => x.is_infinite(),
        _ => false,
    }
}

/// Returns the result of a function at zeros, at infinities, where it saturates in every dtype, and at the ends of its
/// domain, according to docs/numerics.md.
fn edge(function: ScalarFn, x: f64) -> Option<f64> {
    use std::f64::consts::{FRAC_PI_2, PI};
    /// The exponential saturates beyond this in every dtype.
    const SATURATED: f64 = 4096.0;
    let infinity = f64::INFINITY;
    let is_low = x < -SATURATED;
    let is_high = x > SATURATED;
    let is_zero = x == 0.0;
    match function {
        ScalarFn::Exp | ScalarFn::Exp2 if is_low => Some(0.0),
        ScalarFn::Exp | ScalarFn::Exp2 | ScalarFn::Expm1 | ScalarFn::Cosh if is_high => {
            Some(infinity)
        }
        ScalarFn::Expm1 if is_low => Some(-1.0),
        ScalarFn::Cosh if is_low => Some(infinity),
        ScalarFn::Exp | ScalarFn::Exp2 | ScalarFn::Cosh | ScalarFn::Cos if is_zero => Some(1.0),
        ScalarFn::Sinh if is_low || is_high => Some(infinity.copysign(x)),
        ScalarFn::Tanh | ScalarFn::Erf if is_low || is_high => Some(1f64.copysign(x)),
        ScalarFn::Sigmoid if is_low => Some(0.0),
        ScalarFn::Sigmoid if is_high => Some(1.0),
        ScalarFn::Sigmoid if is_zero => Some(0.5),
        ScalarFn::Gelu if is_low => Some(-0.0),
        ScalarFn::Gelu if is_high => Some(x),
        ScalarFn::Log | ScalarFn::Log2 if is_zero => Some(-infinity),
        ScalarFn::Log | ScalarFn::Log2 | ScalarFn::Acosh if x == 1.0 => Some(0.0),
        ScalarFn::Log | ScalarFn::Log2 | ScalarFn::Log1p | ScalarFn::Acosh if x == infinity => {
            Some(infinity)
        }
        ScalarFn::Log1p if x == -1.0 => Some(-infinity),
        ScalarFn::Atanh if x.abs() == 1.0 => Some(infinity.copysign(x)),
        ScalarFn::Acos if is_zero => Some(FRAC_PI_2),
        ScalarFn::Acos if x == 1.0 => Some(0.0),
        ScalarFn::Acos if x == -1.0 => Some(PI),
        ScalarFn::Atan if x.is_infinite() => Some(FRAC_PI_2.copysign(x)),
        ScalarFn::Asinh if x.is_infinite() => Some(x),
        ScalarFn::Rsqrt if is_zero => Some(infinity.copysign(x)),
        ScalarFn::Rsqrt if x == infinity => Some(0.0),
        // Odd functions, `expm1`, `log1p` and `gelu` map zeros to zeros of the same sign.
        _ if is_zero => Some(x),
        _ => None,
    }
}
