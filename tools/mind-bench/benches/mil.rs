//! MIL: lowering and printing a module, and parsing its text.

#![expect(missing_docs, reason = "criterion makes functions of its own")]

use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use mind_driver::formats::{Format, Formats};
use mind_driver::session::Session;
use mind_ir::Graph;
use mind_text::Limits;
use mind_to_mil::Config;

/// Returns a module with a chain of `ops` elementwise ops.
fn module(formats: &Formats, ops: usize) -> Graph {
    let names = ["Relu", "Exp", "Sigmoid", "Neg"];
    let mut text = "%0 = Input {name=x} : tensor<f32[4, 64]>\n".to_owned();
    for at in 1..=ops {
        text += &format!("%{at} = {} (%{})\n", names[at % names.len()], at - 1);
    }
    text += &format!("outputs: %{ops}\n");
    mind_bench::parsed(formats, Format::Core, &text)
}

fn mil(c: &mut Criterion) {
    let formats = Session::default().formats;
    let mut group = c.benchmark_group("mil");
    group.sample_size(20);
    let large = module(&formats, 10_000);
    group.bench_function("lower and print 10k ops", |b| {
        b.iter_batched(
            || large.clone(),
            |mut g| {
                mind_to_mil::lower(&mut g, &Config::default()).unwrap();
                formats.print(Format::Mil, &g).unwrap()
            },
            BatchSize::LargeInput,
        );
    });
    let mut small = module(&formats, 2_400);
    mind_to_mil::lower(&mut small, &Config::default()).unwrap();
    let text = formats.print(Format::Mil, &small).unwrap();
    assert!(text.matches(";\n").count() >= 3_000);
    group.bench_function("parse 3k statements", |b| {
        b.iter(|| {
            formats
                .parse(Format::Mil, black_box(&text), 0, &Limits::none())
                .unwrap()
        });
    });
    group.finish();
}

criterion_group!(benches, mil);
criterion_main!(benches);
