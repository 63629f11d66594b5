//! Elementary functions.
/// Placeholder until the polynomial lands.
pub fn exp_f32(x: f32) -> f32 { x }
/// Placeholder until the polynomial lands.
pub fn exp_f64(x: f64) -> f64 { x }
/// Placeholder until the polynomial lands.
pub fn log_f32(x: f32) -> f32 { x }
/// Placeholder until the polynomial lands.
pub fn log_f64(x: f64) -> f64 { x }
/// Placeholder until the polynomial lands.
pub fn tanh_f32(x: f32) -> f32 { x }
/// Placeholder until the polynomial lands.
pub fn tanh_f64(x: f64) -> f64 { x }
/// Placeholder until the polynomial lands.
pub fn erf_f32(x: f32) -> f32 { x }
/// Placeholder until the polynomial lands.
pub fn erf_f64(x: f64) -> f64 { x }
/// Placeholder until the polynomial lands.
pub fn sigmoid_f32(x: f32) -> f32 { x }
/// Placeholder until the polynomial lands.
pub fn sigmoid_f64(x: f64) -> f64 { x }
/// Placeholder until the polynomial lands.
pub fn gelu_f32(x: f32) -> f32 { x }
/// Placeholder until the polynomial lands.
pub fn gelu_f64(x: f64) -> f64 { x }
