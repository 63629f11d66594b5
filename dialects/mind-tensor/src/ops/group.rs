//! Groups of ops that run as one.

mind_core::group_op!(Group = "tensor.group", names: {});
