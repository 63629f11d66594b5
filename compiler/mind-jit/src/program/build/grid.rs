//! Kernels' parameters.

use crate::vir::{Builder, Value};

/// The parameters of a kernel, in order: pointers, scratch memory, the task.
pub(super) struct Params {
    pub(super) pointers: Vec<Value>,
    pub(super) scratch: Value,
}

/// Declares `pointers` pointers and the scratch memory.
pub(super) fn params(b: &mut Builder, pointers: usize) -> Params {
    Params {
        pointers: (0..pointers).map(|_| b.ptr_param()).collect(),
        scratch: b.ptr_param(),
    }
}

/// Declares a range of the task.
pub(super) fn range(b: &mut Builder) -> (Value, Value) {
    (b.index_param(), b.index_param())
}

/// About nanoseconds of one thread for so many operations on so many elements.
pub(super) fn cost(elements: usize, operations: usize) -> u64 {
    (elements as u64).saturating_mul(operations as u64 + 1) / 16
}
