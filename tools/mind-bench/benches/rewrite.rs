//! Folding and fusing, separately and in sequence, from 1,000 to 100,000 ops, and parsing the rules.

#![expect(missing_docs, reason = "criterion makes functions of its own")]

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use mind_bench::generate::{layered, transformer, wide};
use mind_bench::parsed;
use mind_driver::formats::Format;
use mind_driver::session::{PASSES, Session};
use mind_ir::listener::NoopListener;
use mind_ir::verify::VerifyConfig;
use mind_pass::{Manager, RewriteOptions, RunCache, Statistics, parse_pipeline};
use mind_rules::{FastMath, RuleSelection, RuleSet, ShippedOps};

fn rewriting(c: &mut Criterion) {
    let session = Session::default();
    // Rules are parsed once, as in a process.
    let shared = RunCache::default();
    let manager = Manager {
        registry: &session.registry,
        verify_each: false,
        verify: VerifyConfig::default(),
        rewriting: &RewriteOptions::default(),
        shared: &shared,
    };
    type Generator = fn(usize) -> String;
    let models: [(&str, Format, Generator); 3] = [
        ("layered", Format::Mic1, layered),
        ("transformer", Format::Core, transformer),
        ("one op with many operands", Format::Core, wide),
    ];
    for (model, format, generate) in models {
        let mut group = c.benchmark_group(model);
        group.sample_size(10);
        for ops in [1_000, 10_000, 100_000] {
            let g = parsed(&session.formats, format, &generate(ops));
            group.throughput(Throughput::Elements(g.ops(g.body()).count() as u64));
            for passes in ["fold", "fuse", "fold,fuse"] {
                let pipeline = parse_pipeline(passes, &PASSES).ok().unwrap();
                group.bench_function(format!("{passes}/{ops}"), |b| {
                    b.iter_batched(
                        || g.clone(),
                        |mut g| {
                            let mut statistics = Statistics::default();
                            let ran =
                                manager.run(&pipeline, &mut g, &mut statistics, &mut NoopListener);
                            assert!(ran.is_ok());
                            g
                        },
                        BatchSize::PerIteration,
                    );
                });
            }
        }
        group.finish();
    }
}

fn reading(c: &mut Criterion) {
    let session = Session::default();
    let mut group = c.benchmark_group("reading rules");
    group.bench_function("all", |b| b.iter(|| RuleSet::shipped(&session.registry)));
    let g = parsed(&session.formats, Format::Mic2, mind_bench::dense::MIC2);
    group.bench_function("for a dense layer", |b| {
        b.iter(|| {
            let selection = RuleSelection {
                classes: FastMath::EXACT,
                greedy: false,
            };
            let ops = ShippedOps::of(&g, &session.registry).closed(&session.registry, selection);
            RuleSet::shipped_for(&session.registry, &ops, selection)
        });
    });
    group.finish();
}

criterion_group!(benches, rewriting, reading);
criterion_main!(benches);
