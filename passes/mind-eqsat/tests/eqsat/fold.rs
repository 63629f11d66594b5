//! Folding.

use mind_ir::types::DType;

use crate::support::{Module, assert_same, context, folded, ops, shipped};

#[test]
fn identities_go_and_double_transposes_compose() {
    let rules = shipped();
    let mut m = Module::new();
    let x = m.f32(&[4, 6]);
    let one = m.splat(DType::F32, &[], 1.0);
    let y = m.op("mul", &[x, one]);
    let t = m.transpose(y, &[1, 0]);
    let t = m.transpose(t, &[1, 0]);
    let n = m.op("neg", &[t]);
    let n = m.op("neg", &[n]);
    let r = m.op("relu", &[n]);
    let before = m.outputs(&[r]);
    let mut g = before.clone();
    let report = folded(&mut g, &context(&rules));
    assert!(report.changed);
    assert_eq!(ops(&g), ["relu"]);
    assert_same(&before, &g);
}
