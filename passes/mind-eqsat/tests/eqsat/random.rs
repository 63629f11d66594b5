//! Random modules: same bits, never a higher cost, the same output on every run.

use mind_eqsat::Limits;
use mind_ir::types::DType;
use mind_rules::FastMath;

use crate::generate::module;
use crate::support::{assert_same, context, dump, folded, fused, shipped};

const DTYPES: [DType; 5] = [DType::F32, DType::F16, DType::F64, DType::I32, DType::BF16];

#[test]
fn folding_keeps_every_bit_and_never_costs_more() {
    let rules = shipped();
    for seed in 0..150 {
        let before = module(seed, 40, DTYPES[seed as usize % DTYPES.len()]);
        let mut g = before.clone();
        folded(&mut g, &context(&rules));
        assert_same(&before, &g);
    }
}

#[test]
fn fusing_keeps_every_bit_and_never_costs_more() {
    let rules = shipped();
    for seed in 1000..1150 {
        let before = module(seed, 40, DTYPES[seed as usize % DTYPES.len()]);
        let mut g = before.clone();
        folded(&mut g, &context(&rules));
        fused(&mut g, &context(&rules));
        assert_same(&before, &g);
    }
}

#[test]
fn small_regions_keep_every_bit() {
    let rules = shipped();
    let limits = Limits {
        region_least: 5,
        region_most: 12,
        ..Limits::default()
    };
    let cx = mind_eqsat::Context {
        limits,
        ..context(&rules)
    };
    for seed in 2000..2060 {
        let before = module(seed, 60, DTYPES[seed as usize % DTYPES.len()]);
        let mut g = before.clone();
        folded(&mut g, &cx);
        fused(&mut g, &cx);
        assert_same(&before, &g);
    }
}

#[test]
fn fast_math_terminates_and_never_costs_more() {
    let rules = shipped();
    let cx = mind_eqsat::Context {
        classes: FastMath::ALL,
        ..context(&rules)
    };
    for seed in 3000..3030 {
        let mut g = module(seed, 60, DType::F32);
        folded(&mut g, &cx);
    }
}

#[test]
fn two_runs_give_the_same_text() {
    let run = || {
        let rules = shipped();
        let mut text = String::new();
        for seed in 4000..4020 {
            let mut g = module(seed, 80, DType::F32);
            let fold = folded(&mut g, &context(&rules));
            let fuse = fused(&mut g, &context(&rules));
            text += &dump(&g);
            text += &format!("{fold:?}{fuse:?}");
        }
        text
    };
    assert_eq!(run(), run());
}
