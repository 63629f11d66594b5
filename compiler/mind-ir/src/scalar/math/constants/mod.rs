//! The constants of each function: bounds, reductions and coefficients.

pub mod erf;
pub mod exp;
pub mod gelu;
pub mod log;
pub mod sigmoid;
pub mod tanh;
