//! Tests for the extreme elements of a dtype.

use mind_ir::tensor::{Num, Tensor};
use mind_ir::types::DType;
use mind_ir::with_num;

/// Returns whether every bit of the one element is set; of `bool`, whether it is true.
pub(super) fn all_ones(data: &Tensor) -> bool {
    let bytes = data.buffer().to_bytes();
    match data.dtype() {
        DType::Bool => bytes == [1],
        dtype => dtype.is_int() && bytes.iter().all(|&byte| byte == u8::MAX),
    }
}

/// Returns whether the one element is -inf, the smallest integer or false.
pub(super) fn is_lowest(data: &Tensor) -> bool {
    fn num<T: Num>(data: &Tensor) -> bool {
        data.elements::<T>()[0] == T::LOWEST
    }
    let falsity = || data.elements::<bool>() == [false];
    with_num!(data.dtype(), T => num::<T>(data), else falsity())
}

/// Returns whether the one element is +inf, the largest integer or true.
pub(super) fn is_highest(data: &Tensor) -> bool {
    fn num<T: Num>(data: &Tensor) -> bool {
        data.elements::<T>()[0] == T::HIGHEST
    }
    let truth = || data.elements::<bool>() == [true];
    with_num!(data.dtype(), T => num::<T>(data), else truth())
}
