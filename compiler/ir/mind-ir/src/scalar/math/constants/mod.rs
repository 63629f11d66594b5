//! The constants of each function: bounds, reduction constants and coefficients.

pub mod arc;
pub mod circular;
pub mod erf;
pub mod exp;
pub mod exp2;
pub mod gelu;
pub mod hyperbolic;
pub mod log;
pub mod pow;
pub mod sigmoid;
pub mod tanh;
