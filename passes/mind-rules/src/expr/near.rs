//! Constants by value within a dtype.

use mind_ir::tensor::{FloatNum, Tensor};
use mind_ir::with_float;

use crate::constant::Constant;

/// How far a constant may be from the number that is meant, in parts of it, where its dtype is finer.
const TOLERANCE: f64 = 1e-6;

/// Whether `constant` is a float splat of `number`: as near as its dtype has it, or as people write it,
/// to six digits.
pub fn is_near(constant: &Constant, number: f64) -> bool {
    fn near<T: FloatNum>(data: &Tensor, number: f64) -> bool {
        let value = data.elements::<T>()[0].to_f64();
        value == T::from_f64(number).to_f64() || (value - number).abs() <= number.abs() * TOLERANCE
    }
    let data = &constant.data;
    constant.splat && with_float!(data.dtype(), T => near::<T>(data, number), else false)
}
