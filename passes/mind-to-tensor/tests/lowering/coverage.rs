//! Every op of core lowers or is listed with a reason.

use mind_core::ops::block_matmul::BlockMatMul;
use mind_core::ops::constant::{ConstF32, ConstF64, ConstI64, ConstTensor};
use mind_core::ops::control::{If, Scan, While};
use mind_core::ops::data::{NonMaxSuppression, NonZero, Unique};
use mind_core::ops::fused::Fused;
use mind_core::ops::input::Input;
use mind_core::ops::runtime_shape::{DynamicBroadcastTo, DynamicIota, DynamicReshape};
use mind_core::ops::sample::GridSample;
use mind_core::ops::scatter::{ScatterElements, ScatterNd};
use mind_core::ops::solve::{Cholesky, TriangularSolve};
use mind_core::ops::sort::{Sort, TopK};
use mind_ir::opdef::{Op, OpDef, Trait};

const STAYS: [(&OpDef, &str); 22] = [
    (Input::DEF, "the module's interface"),
    (ConstI64::DEF, "constants are the same in every dialect"),
    (ConstF32::DEF, "constants are the same in every dialect"),
    (ConstF64::DEF, "constants are the same in every dialect"),
    (ConstTensor::DEF, "constants are the same in every dialect"),
    (
        ScatterElements::DEF,
        "no op of the tensor dialect writes at computed places",
    ),
    (
        ScatterNd::DEF,
        "no op of the tensor dialect writes at computed places",
    ),
    (Sort::DEF, "programs evaluate it"),
    (TopK::DEF, "programs evaluate it"),
    (GridSample::DEF, "programs evaluate it"),
    (
        BlockMatMul::DEF,
        "it is a kernel of the loops dialect as it is",
    ),
    (
        Cholesky::DEF,
        "the pass expands it to a scan before it enters regions",
    ),
    (
        TriangularSolve::DEF,
        "the pass expands it to a scan before it enters regions",
    ),
    (If::DEF, "control flow is the same in every dialect"),
    (While::DEF, "control flow is the same in every dialect"),
    (Scan::DEF, "control flow is the same in every dialect"),
    (NonZero::DEF, "its elements decide extents"),
    (Unique::DEF, "its elements decide extents"),
    (DynamicReshape::DEF, "its elements decide extents"),
    (DynamicBroadcastTo::DEF, "its elements decide extents"),
    (DynamicIota::DEF, "its elements decide extents"),
    (NonMaxSuppression::DEF, "its elements decide extents"),
];

fn stays(def: &OpDef) -> bool {
    STAYS.iter().any(|(own, _)| std::ptr::eq(*own, def))
}

/// Returns the ops that compute something and have no body.
pub fn computing() -> impl Iterator<Item = &'static OpDef> {
    let ops = mind_core::ops::OPS.iter().copied();
    ops.filter(|def| !stays(def) && !std::ptr::eq(*def, Fused::DEF))
}

#[test]
fn every_core_op_lowers_or_stays_for_a_reason() {
    for &def in mind_core::ops::OPS {
        let lowers = mind_to_tensor::lowers(def) || mind_to_tensor::lowers_if_known(def);
        assert_eq!(lowers, !stays(def), "{}", def.name);
    }
    assert!(STAYS.iter().all(|(_, reason)| !reason.is_empty()));
}

#[test]
fn no_op_of_another_dialect_is_lowered_unless_it_is_elementwise() {
    let others = mind_tensor::ops::OPS.iter().chain(mind_ir::builtin::OPS);
    for &def in others {
        let is_elementwise = def.has(Trait::Elementwise);
        assert_eq!(mind_to_tensor::lowers(def), is_elementwise, "{}", def.name);
    }
    for def in mind_tensor::ops::OPS {
        assert!(!def.has(Trait::Elementwise), "{}", def.name);
    }
}
