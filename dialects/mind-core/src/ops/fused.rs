//! Groups of ops that run as one kernel.

crate::group_op!(Fused = "core.fused", names: { core: "Fused" });
