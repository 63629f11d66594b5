//! Parsing, verification, canonicalize, cse, dce and printing, together and separately, from 1,000 to 100,000 ops.

#![expect(missing_docs, reason = "criterion makes functions of its own")]

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use mind_bench::generate::{layered, wide};
use mind_bench::parsed;
use mind_driver::formats::Format;
use mind_driver::session::{PASSES, Session};
use mind_ir::Graph;
use mind_ir::listener::NoopListener;
use mind_ir::verify::{VerifyConfig, verify};
use mind_pass::{Manager, RewriteOptions, RunCache, Statistics, parse_pipeline};

fn passes(session: &Session, text: &str, g: &mut Graph) {
    let manager = Manager {
        registry: &session.registry,
        verify_each: false,
        verify: VerifyConfig::default(),
        rewriting: &RewriteOptions::default(),
        shared: &RunCache::default(),
    };
    let pipeline = parse_pipeline(text, &PASSES).ok().unwrap();
    let mut statistics = Statistics::default();
    manager
        .run(&pipeline, g, &mut statistics, &mut NoopListener)
        .ok()
        .unwrap();
}

fn whole(c: &mut Criterion) {
    let session = Session::default();
    let mut group = c.benchmark_group("parse to print");
    group.sample_size(20);
    for ops in [1_000, 10_000, 100_000] {
        let text = layered(ops);
        group.throughput(Throughput::Elements(ops as u64));
        group.bench_function(format!("{ops}"), |b| {
            b.iter(|| {
                let mut g = parsed(&session.formats, Format::Mic1, black_box(&text));
                passes(&session, "canonicalize,cse,dce", &mut g);
                session.formats.print(Format::Mic1, &g).unwrap()
            });
        });
    }
    group.finish();
}

fn stages(c: &mut Criterion) {
    let session = Session::default();
    let models = [
        ("stages, 100k ops", Format::Mic1, layered(100_000)),
        (
            "stages, one op with 50k operands",
            Format::Core,
            wide(100_000),
        ),
    ];
    for (name, format, text) in models {
        let mut group = c.benchmark_group(name);
        group.sample_size(20);
        group.throughput(Throughput::Elements(100_000));
        group.bench_function("verify", |b| {
            let mut g = parsed(&session.formats, format, &text);
            b.iter(|| verify(&mut g, &VerifyConfig::default()));
        });
        let lowering = "lower-to-tensor,lower-to-loops";
        for stage in ["canonicalize", "cse", "dce", "fold", "fuse", lowering] {
            let g = parsed(&session.formats, format, &text);
            group.bench_function(stage, |b| {
                b.iter_batched(
                    || g.clone(),
                    |mut g| passes(&session, stage, &mut g),
                    BatchSize::PerIteration,
                );
            });
        }
        group.finish();
    }
}

criterion_group!(benches, whole, stages);
criterion_main!(benches);
