//! Math

pub mod erf;
pub mod exp;
pub mod gelu;
pub mod log;
mod scalar;
pub mod sigmoid;
mod steps;
pub mod tanh;

pub use scalar::Scalar;
pub use steps::{Lane, Steps, horner};

macro_rules! functions {
    ($($doc:literal $function:ident => $f32:ident, $f64:ident;)*) => {$(
        #[doc = $doc]
        #[inline]
        pub fn $f32(x: f32) -> f32 {
            $function::$function(&mut Scalar::<f32>::default(), x)
        }

        #[doc = $doc]
        #[inline]
        pub fn $f64(x: f64) -> f64 {
            $function::$function(&mut Scalar::<f64>::default(), x)
        }
    )*};
}

functions! {
    "`e^x`." exp => exp_f32, exp_f64;
    "`ln(x)`." log => log_f32, log_f64;
    "`tanh(x)`." tanh => tanh_f32, tanh_f64;
    "`erf(x)`." erf => erf_f32, erf_f64;
    "`1 / (1 + e^-x)`." sigmoid => sigmoid_f32, sigmoid_f64;
    "`x (1 + erf(x / sqrt(2))) / 2`." gelu => gelu_f32, gelu_f64;
}
