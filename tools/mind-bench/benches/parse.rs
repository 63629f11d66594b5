//! Parsing of mic@1 and mic@2 compared with compact JSON, per module and in bytes per second.

#![expect(missing_docs, reason = "criterion makes functions of its own")]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mind_bench::dense::{JSON, JsonModule, MIC1, MIC2};
use mind_bench::generate::layered;
use mind_driver::formats::Format;
use mind_driver::session::Session;
use mind_text::Limits;

fn small(c: &mut Criterion) {
    let formats = Session::default().formats;
    let limits = Limits::default();
    let mut group = c.benchmark_group("dense layer");
    group.bench_function("mic@1", |b| {
        b.iter(|| {
            formats
                .parse(Format::Mic1, black_box(MIC1), 0, &limits)
                .unwrap()
        });
    });
    group.bench_function("mic@2", |b| {
        b.iter(|| {
            formats
                .parse(Format::Mic2, black_box(MIC2), 0, &limits)
                .unwrap()
        });
    });
    group.bench_function("serde_json", |b| {
        b.iter(|| serde_json::from_str::<JsonModule>(black_box(JSON)).unwrap());
    });
    group.finish();
}

fn large(c: &mut Criterion) {
    let formats = Session::default().formats;
    let limits = Limits::none();
    let mic1 = layered(100_000);
    let graph = formats.parse(Format::Mic1, &mic1, 0, &limits).unwrap();
    let core = formats.print(Format::Core, &graph).unwrap();
    // mic@2 has neither constants nor `exp`.
    let other = mic1
        .replace("const.f32 1.0", "param \"one\"")
        .replace(" exp ", " relu ");
    let other = formats.parse(Format::Mic1, &other, 0, &limits).unwrap();
    let mic2 = formats.print(Format::Mic2, &other).unwrap();
    let mut group = c.benchmark_group("100k ops");
    group.sample_size(20);
    for (name, format, text, graph) in [
        ("mic@1", Format::Mic1, &mic1, &graph),
        ("mic@2", Format::Mic2, &mic2, &other),
        ("core", Format::Core, &core, &graph),
    ] {
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(format!("parse {name}"), |b| {
            b.iter(|| formats.parse(format, black_box(text), 0, &limits).unwrap());
        });
        group.bench_function(format!("print {name}"), |b| {
            b.iter(|| formats.print(format, black_box(graph)).unwrap());
        });
    }
    group.finish();
}

criterion_group!(benches, small, large);
criterion_main!(benches);
