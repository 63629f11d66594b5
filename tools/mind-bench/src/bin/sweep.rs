//! Fraction of the peak that matrix products reach for many shapes: the worst ones as a Markdown table.
//!
//! ```text
//! cargo run --release -p mind-bench --bin sweep [--threads N] [--isa avx2]
//! ```
//!
//! Shapes are all combinations of powers of two from 128 to 2048, and 300 pseudo-random triples of numbers from 128 to
//! 2048. Both operands are inputs, so nothing is packed in advance. Each run is followed by one of a kernel that only
//! does multiply-adds, which is the reference of the fraction.

use std::num::NonZero;
use std::process::ExitCode;
use std::time::Duration;

use mind_bench::workloads::products::product;
use mind_bench::workloads::run::{Effort, Failure, measure};
use mind_driver::engine::{Config, Engine};
use mind_vir::target::{Isa, processor};

const EFFORT: Effort = Effort {
    samples: 7,
    time: Duration::from_millis(30),
};

/// Range of random extents.
const EXTENTS: std::ops::RangeInclusive<u64> = 128..=2048;
const DRAWN: usize = 300;
/// Number of worst shapes that are shown.
const WORST: usize = 10;

fn main() -> ExitCode {
    let done = read(std::env::args().skip(1)).and_then(|config| sweep(&config));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::from(2)
        }
    }
}

/// # Errors
///
/// An unknown flag, or a flag without its value.
fn read(mut words: impl Iterator<Item = String>) -> Result<Config, String> {
    let mut config = Config {
        threads: Some(NonZero::<usize>::MIN),
        ..Config::default()
    };
    while let Some(word) = words.next() {
        let value = words.next().ok_or(format!("`{word}` needs a value"))?;
        match &*word {
            "--threads" => {
                let count = value.parse();
                config.threads = Some(count.map_err(|_| format!("invalid count `{value}`"))?);
            }
            "--isa" => {
                let isa: Result<Isa, _> = value.parse();
                config.isa = Some(isa.map_err(|why| format!("{why}"))?);
            }
            _ => return Err(format!("unknown flag `{word}`")),
        }
    }
    Ok(config)
}

/// Returns all shapes: m, k, n.
fn shapes() -> Vec<[u64; 3]> {
    let powers = [128, 256, 512, 1024, 2048];
    let planes = powers.iter().flat_map(|&m| powers.map(|k| (m, k)));
    let mut shapes: Vec<_> = planes
        .flat_map(|(m, k)| powers.map(|n| [m, k, n]))
        .collect();
    // A linear congruential generator, whose upper bits are random enough for extents.
    let mut state = 1u64;
    let mut draw = || {
        state = (state.wrapping_mul(6_364_136_223_846_793_005)).wrapping_add(1);
        EXTENTS.start() + (state >> 33) % (EXTENTS.end() - EXTENTS.start() + 1)
    };
    shapes.extend((0..DRAWN).map(|_| [draw(), draw(), draw()]));
    shapes
}

/// # Errors
///
/// No engine; a product that does not run.
fn sweep(config: &Config) -> Result<(), String> {
    let engine = Engine::new(config).map_err(|found| Failure::Rejected(found).to_string())?;
    let mut found = Vec::new();
    for shape in shapes() {
        let workload = product("product".to_owned(), shape);
        let times =
            measure(&engine, &workload, EFFORT).map_err(|why| format!("{shape:?}: {why}"))?;
        let possible = times
            .possible_flops
            .ok_or("the machine lacks the instruction set")?;
        found.push((workload.flops as f64 / possible, shape, times.run));
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    let isa = engine.target().isa;
    println!(
        "{isa}, {} threads of {}\n",
        engine.pool().threads(),
        processor()
    );
    println!("| m | k | n | us | of the peak |");
    println!("|---|---|---|---|---|");
    for (share, [m, k, n], run) in found.iter().take(WORST) {
        let micros = run.as_secs_f64() * 1e6;
        println!("| {m} | {k} | {n} | {micros:.0} | {:.1} % |", 100.0 * share);
    }
    let at = |part: f64| 100.0 * found[(part * (found.len() - 1) as f64) as usize].0;
    let below = found.iter().filter(|(share, ..)| *share < 0.9).count();
    println!(
        "\n{} shapes: {below} below 90 % of the peak; least {:.1} %, a tenth {:.1} %, median {:.1} %",
        found.len(),
        at(0.0),
        at(0.1),
        at(0.5)
    );
    Ok(())
}
