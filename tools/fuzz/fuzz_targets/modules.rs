#![no_main]

//! Random modules compute the same bits after the highest optimisation level.

use mind_driver::equivalence::same_graphs;
use mind_driver::session::{LEVELS, PASSES, Session};
use mind_testgen::{Config, module};
use mind_ir::listener::NoopListener;
use mind_ir::verify::{VerifyConfig, verify};
use mind_pass::{Manager, RewriteOptions, RunCache, Statistics, parse_pipeline};

libfuzzer_sys::fuzz_target!(|draw: (u64, u8)| {
    let (seed, ops) = draw;
    let config = Config { ops: usize::from(ops % 64), ..Config::default() };
    let mut g = module(seed, &config);
    assert!(!verify(&mut g, &VerifyConfig::default()).has_errors());
    let session = Session::default();
    let manager = Manager {
        registry: &session.registry,
        verify_each: true,
        verify: VerifyConfig::default(),
        rewriting: &RewriteOptions::default(),
        shared: &RunCache::default(),
    };
    let highest = LEVELS.last().expect("there are levels").pipeline;
    let pipeline = parse_pipeline(highest, &PASSES).ok().expect("a pipeline");
    let mut optimised = g.clone();
    let mut statistics = Statistics::default();
    let run = manager.run(&pipeline, &mut optimised, &mut statistics, &mut NoopListener);
    assert!(run.is_ok(), "{:?}", run.err());
    assert_eq!(same_graphs(&g, &optimised), Ok(()));
});
