//! Comparison of constants with a number up to rounding.

use mind_ir::tensor::{FloatNum, Tensor};
use mind_ir::with_float;

use crate::constant::Constant;

/// The relative error allowed for a constant, for dtypes of more precision than that.
const TOLERANCE: f64 = 1e-6;

/// Returns whether `constant` is a float splat of `number`: the nearest value of its dtype, or equal to six digits,
/// because exporters and people write constants such as `0.044715` with few digits.
pub fn is_near(constant: &Constant, number: f64) -> bool {
    fn near<T: FloatNum>(data: &Tensor, number: f64) -> bool {
        let value = data.elements::<T>()[0].to_f64();
        value == T::from_f64(number).to_f64() || (value - number).abs() <= number.abs() * TOLERANCE
    }
    let data = &constant.data;
    constant.splat && with_float!(data.dtype(), T => near::<T>(data, number), else false)
}
