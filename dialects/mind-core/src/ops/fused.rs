//! Groups of ops that run as one.

crate::group_op!(Fused = "core.fused", names: { core: "Fused" });
