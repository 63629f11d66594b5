//! Elementary functions with bit-identical results on every target.
//!
//! Exponentials, logarithms, circular and hyperbolic functions and activations, each for `f32` and `f64`, within 2 ulp
//! of the exact result for every input. Each function is defined once, as straight-line code of exactly specified IEEE
//! 754 [`Steps`] without tables. Steps that few numbers need are marked, so that vectors can skip them. [`Scalar`]
//! evaluates the steps on one number; a lowering implements [`Steps`] to emit them as operations of its own IR. All
//! implementations give the same bits, because none calls a mathematical library.
//!
//! Every NaN operand gives NaN. `f32` functions are computed in `f32` throughout, so that vectors keep their full
//! width. docs/numerics.md describes the method, the measured error and the special values of each function.

pub mod acos;
pub mod acosh;
pub mod asin;
pub mod asinh;
pub mod atan;
pub mod atan2;
pub mod atanh;
pub mod constants;
pub mod cos;
pub mod cosh;
pub mod erf;
pub mod exp;
pub mod exp2;
pub mod expm1;
pub mod gelu;
pub mod log;
pub mod log1p;
pub mod log2;
pub mod modulo;
pub mod pow;
pub mod remainder;
pub mod sigmoid;
pub mod sin;
pub mod sinh;
pub mod tan;
pub mod tanh;

mod arc;
mod circular;
mod hyperbolic;
mod pair;
mod scalar;
mod steps;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use scalar::Scalar;
pub use steps::{Lane, Steps, horner};

/// Declares the functions on single numbers, and lists them for tests.
macro_rules! functions {
    ($($module:ident::$function:ident($($x:ident),+): $doc:literal => $f32:ident, $f64:ident;)*) => {
        $(
            #[doc = $doc]
            #[inline]
            pub fn $f32($($x: f32),+) -> f32 {
                $module::$function(&mut Scalar::<f32>::default(), $($x),+)
            }

            #[doc = $doc]
            #[inline]
            pub fn $f64($($x: f64),+) -> f64 {
                $module::$function(&mut Scalar::<f64>::default(), $($x),+)
            }
        )*

        #[cfg(test)]
        const FUNCTIONS: &[testing::Function] = &[$(testing::Function {
            name: stringify!($function),
            arity: [$(stringify!($x)),+].len(),
            f32: |operands| {
                let [$($x),+] = *operands else { panic!("{operands:?}") };
                $f32($($x),+)
            },
            f64: |operands| {
                let [$($x),+] = *operands else { panic!("{operands:?}") };
                $f64($($x),+)
            },
            steps: [
                || testing::count::<f32>(|b| { $(let $x = ();)+ $module::$function(b, $($x),+) }),
                || testing::count::<f64>(|b| { $(let $x = ();)+ $module::$function(b, $($x),+) }),
            ],
            cases: include_str!(concat!("cases/", stringify!($function), ".txt")),
        }),*];
    };
}

functions! {
    exp::exp(x): "e^x." => exp_f32, exp_f64;
    log::log(x): "ln(x); -inf at zeros of either sign, NaN below." => log_f32, log_f64;
    tanh::tanh(x): "The hyperbolic tangent of x; odd." => tanh_f32, tanh_f64;
    erf::erf(x): "The error function of x; odd." => erf_f32, erf_f64;
    sigmoid::sigmoid(x): "1 / (1 + e^-x)." => sigmoid_f32, sigmoid_f64;
    gelu::gelu(x): "x (1 + erf(x / sqrt(2))) / 2; -0 at negative infinity." => gelu_f32, gelu_f64;
    exp2::exp2(x): "2^x." => exp2_f32, exp2_f64;
    log2::log2(x): "log2(x); -inf at zeros of either sign, NaN below." => log2_f32, log2_f64;
    expm1::expm1(x): "e^x - 1; -0 stays." => expm1_f32, expm1_f64;
    log1p::log1p(x): "ln(1 + x); -0 stays, -inf at -1, NaN below." => log1p_f32, log1p_f64;
    sinh::sinh(x): "The hyperbolic sine of x; odd." => sinh_f32, sinh_f64;
    cosh::cosh(x): "The hyperbolic cosine of x; even." => cosh_f32, cosh_f64;
    asinh::asinh(x): "The inverse of sinh; odd." => asinh_f32, asinh_f64;
    acosh::acosh(x): "The inverse of cosh; NaN below 1." => acosh_f32, acosh_f64;
    atanh::atanh(x): "The inverse of tanh; odd, infinite at -1 and 1, NaN beyond." => atanh_f32, atanh_f64;
    sin::sin(x): "The sine of x; odd." => sin_f32, sin_f64;
    cos::cos(x): "The cosine of x; even." => cos_f32, cos_f64;
    tan::tan(x): "The tangent of x; odd." => tan_f32, tan_f64;
    asin::asin(x): "The arc sine of x; odd, NaN beyond -1 and 1." => asin_f32, asin_f64;
    acos::acos(x): "The arc cosine of x; NaN beyond -1 and 1." => acos_f32, acos_f64;
    atan::atan(x): "The arc tangent of x; odd." => atan_f32, atan_f64;
    atan2::atan2(y, x): "The angle of the point (x, y), from -pi to pi." => atan2_f32, atan2_f64;
    remainder::remainder(x, y): "x less whole y, exact, with the sign of x; NaN of infinite x and of y zero." => remainder_f32, remainder_f64;
    modulo::modulo(x, y): "As the remainder, with the sign of y." => mod_f32, mod_f64;
    pow::pow(x, y): "x^y as IEEE 754 has it; x, x x, 1 / x and the square root for 1, 2, -1 and 1/2." => pow_f32, pow_f64;
}
