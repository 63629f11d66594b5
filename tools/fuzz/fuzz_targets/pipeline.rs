#![no_main]

//! A verified module stays valid after every pass.

use mind_driver::formats::LoadOptions;
use mind_driver::load::parse_and_verify;
use mind_driver::session::{PASSES, Session};
use mind_ir::listener::NoopListener;
use mind_ir::verify::VerifyConfig;
use mind_pass::{Manager, RewriteOptions, RunCache, Statistics, parse_pipeline};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let session = Session::default();
    let Ok((_, mut g)) = parse_and_verify(&session.formats, text, 0, &LoadOptions::default()) else { return };
    let manager = Manager {
        registry: &session.registry,
        verify_each: true,
        verify: VerifyConfig::default(),
        rewriting: &RewriteOptions::default(),
        shared: &RunCache::default(),
    };
    let pipeline = parse_pipeline("canonicalize,cse,fold,fuse,dce", &PASSES).ok().expect("a pipeline");
    let mut statistics = Statistics::default();
    let run = manager.run(&pipeline, &mut g, &mut statistics, &mut NoopListener);
    assert!(run.is_ok(), "{:?}", run.err());
});
