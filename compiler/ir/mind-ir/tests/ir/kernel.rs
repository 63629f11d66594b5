//! Forms of kernels.

use mind_ir::kernel::width;
use mind_ir::types::DType::{Bool, F16, F32, F64, I8, I16, I32, I64, U8, U32};

#[test]
fn integers_become_floats_in_lanes_of_32_bits_where_these_hold_both() {
    assert_eq!(width([U8, F32, F32, U8]), 4);
    assert_eq!(width([I32, F32]), 4);
    assert_eq!(width([I16, F16]), 4);
    assert_eq!(width([I8, F64]), 8);
    for by_way_of_f64 in [[I32, F16], [U32, F32], [I64, F32]] {
        assert_eq!(width(by_way_of_f64), 8, "{by_way_of_f64:?}");
    }
    assert_eq!((width([Bool, I8]), width([Bool])), (1, 1));
}
