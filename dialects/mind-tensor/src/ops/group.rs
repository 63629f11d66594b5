//! Groups of ops that run as one kernel.

mind_core::group_op!(Group = "tensor.group", names: {});
