//! Speed of prefill and decode of a decoder model, compared with the peak of the machine.
//!
//! ```text
//! cargo run --release -p mind-bench --bin models -- [--threads 1,2] [--stored bf16,q4_k,fp32] [--layers 24]
//!     [--prefill 128,512] [--contexts 128,2048] [--products numbers,integers]
//! ```
//!
//! The model has the shape of Qwen2-0.5B and random weights. Prefill is compared with the peak of multiply-adds, decode
//! with the time of reading the weights from memory once. Both CPU time and wall time are given, because on a shared
//! machine the former is more reliable for one thread.

use std::borrow::Cow;
use std::num::NonZero;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mind_bench::qwen2;
use mind_driver::engine::{Config as EngineConfig, Engine};
use mind_irv2::Config;
use mind_jit::peaks::{Level, Peaks};
use mind_jit::program::PanelChoice;
use mind_model::{Model, ModelOptions, Products, Runner, Session, Stored, WeightError, Weights};
use mind_weights::WeightType;

struct Args {
    threads: Vec<usize>,
    stored: Vec<WeightType>,
    layers: usize,
    prefill: Vec<usize>,
    contexts: Vec<usize>,
    products: Vec<Products>,
}

impl Args {
    /// # Errors
    ///
    /// An unknown flag, or a flag without a list of numbers.
    fn read(mut words: impl Iterator<Item = String>) -> Result<Args, String> {
        let mut args = Args {
            threads: vec![1, 2],
            stored: vec![WeightType::Bf16, WeightType::Q4K, WeightType::F32],
            layers: 24,
            prefill: vec![128, 512],
            contexts: vec![128, 2048],
            products: vec![Products::Numbers],
        };
        while let Some(word) = words.next() {
            let value = words.next().ok_or(format!("`{word}` needs a value"))?;
            let counts: Result<Vec<usize>, _> = value.split(',').map(str::parse).collect();
            let counts = || counts.map_err(|_| format!("invalid list of counts `{value}`"));
            match &*word {
                "--threads" => args.threads = counts()?,
                "--layers" => args.layers = counts()?[0],
                "--prefill" => args.prefill = counts()?,
                "--contexts" => args.contexts = counts()?,
                "--stored" => {
                    let stored = value.split(',').map(WeightType::parse);
                    let stored: Option<Vec<WeightType>> = stored.collect();
                    args.stored = stored.ok_or(format!("invalid list of formats `{value}`"))?;
                }
                "--products" => {
                    let products = value.split(',').map(|word| match word {
                        "numbers" => Some(Products::Numbers),
                        "integers" => Some(Products::Integers),
                        _ => None,
                    });
                    let products: Option<Vec<Products>> = products.collect();
                    args.products =
                        products.ok_or(format!("invalid list of products `{value}`"))?;
                }
                _ => return Err(format!("unknown flag `{word}`")),
            }
        }
        Ok(args)
    }
}

/// Vocabulary size.
const VOCABULARY: usize = 151_936;

/// Random weights that are generated on demand.
///
/// Their storage types are those of [`qwen2::stored_as`].
struct Random(WeightType);

impl Random {
    fn bits(at: usize) -> u32 {
        let mixed = (at as u32).wrapping_mul(0x9e37_79b9) ^ (at as u32 >> 7);
        // From -1/16 to 1/16, without 0.
        (mixed & 0x8000_0000) | 0x3d00_0000 | (mixed >> 9 & 0x007f_0000)
    }
}

impl Weights for Random {
    fn stored_as(&self, name: &str, _: Option<usize>) -> Result<WeightType, WeightError> {
        Ok(qwen2::stored_as(self.0, name))
    }

    fn weight(
        &self,
        name: &str,
        layer: Option<usize>,
        shape: &[usize],
    ) -> Result<Stored<'_>, WeightError> {
        let (weight_type, count) = (self.stored_as(name, layer)?, shape.iter().product());
        let bits = (0..count).map(Random::bits);
        let bytes: Vec<u8> = match weight_type {
            WeightType::F32 => bits.flat_map(u32::to_le_bytes).collect(),
            WeightType::Bf16 | WeightType::F16 => bits
                .flat_map(|bits| ((bits >> 16) as u16).to_le_bytes())
                .collect(),
            // Random bits, except for the exponents of scales.
            _ => {
                let bytes = count / weight_type.block_elements() * weight_type.block_bytes();
                (0..bytes)
                    .map(|at| Random::bits(at) as u8 & 0x1f | (Random::bits(at) >> 24) as u8 & 0x80)
                    .collect()
            }
        };
        Ok(Stored {
            weight_type,
            bytes: Cow::Owned(bytes),
        })
    }

    fn expert(
        &self,
        name: &str,
        layer: usize,
        _: usize,
        shape: &[usize],
    ) -> Result<Stored<'_>, WeightError> {
        self.weight(name, Some(layer), shape)
    }

    fn row(&self, _: &str, index: usize, row: &mut [f32]) -> Result<(), WeightError> {
        let start = index * row.len();
        for (at, x) in row.iter_mut().enumerate() {
            *x = f32::from_bits(Random::bits(start + at));
        }
        Ok(())
    }
}

/// Returns the bytes of the weight matrices that a token is multiplied with.
fn weight_bytes(config: &Config, asked: WeightType) -> usize {
    let (d, inner) = (config.hidden_size, config.intermediate_size);
    let bytes = |outputs: usize, inputs: usize| {
        let row = qwen2::matrix_stored_as(asked, inputs).row_bytes(inputs);
        outputs * row.expect("rows of whole blocks")
    };
    let [q, kv] = [config.q_width(), config.kv_width()];
    let layer = bytes(q + 2 * kv + 2 * inner, d) + bytes(d, q) + bytes(d, inner);
    config.num_layers * layer + bytes(config.vocab_size, d)
}

/// Returns the number of weights that a token is multiplied with.
fn parameters(config: &Config) -> usize {
    let (d, inner) = (config.hidden_size, config.intermediate_size);
    let layer = 2 * d * (config.q_width() + config.kv_width()) + 3 * d * inner;
    config.num_layers * layer + d * config.vocab_size
}

/// Returns the medians of wall time and CPU time.
fn medians(samples: &[[Duration; 2]]) -> [f64; 2] {
    [0, 1].map(|which| {
        let mut times: Vec<Duration> = samples.iter().map(|sample| sample[which]).collect();
        times.sort();
        times[times.len() / 2].as_secs_f64()
    })
}

/// Measures wall time and CPU time.
#[derive(Clone, Copy)]
struct Stopwatch {
    clock: Instant,
    processor: Duration,
}

impl Stopwatch {
    fn start() -> Stopwatch {
        Stopwatch {
            clock: Instant::now(),
            processor: processor(),
        }
    }

    fn stop(self) -> [Duration; 2] {
        [self.clock.elapsed(), processor() - self.processor]
    }
}

/// Returns the CPU time of all threads of the process.
fn processor() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call only writes the time.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Returns the resident memory of the process in MB.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or(0) * 4096 / 1_000_000
}

fn main() -> ExitCode {
    match Args::read(std::env::args().skip(1)).and_then(|args| run(&args)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<(), String> {
    let config = Config::new(qwen2::parameters(args.layers, VOCABULARY, true))
        .map_err(|why| format!("{why:?}"))?;
    for &threads in &args.threads {
        for &stored in &args.stored {
            for &products in &args.products {
                measure(args, config, threads, (stored, products))?;
            }
        }
    }
    Ok(())
}

fn measure(
    args: &Args,
    config: Config,
    threads: usize,
    (stored, products): (WeightType, Products),
) -> Result<(), String> {
    let engine = Engine::new(&EngineConfig {
        threads: NonZero::new(threads),
        panels: PanelChoice::Shared,
        ..EngineConfig::default()
    });
    let engine = engine.map_err(|_| "no engine".to_owned())?;
    let peaks = Peaks::measure(engine.pool(), engine.target());
    let flops = peaks.flops(engine.target().isa).unwrap_or(f64::NAN);
    let dram = peaks
        .bandwidths
        .iter()
        .find(|speeds| speeds.level == Level::Dram);
    let dram = dram.map_or(f64::NAN, |speeds| speeds.read);
    println!(
        "{stored}, {products:?}, threads {threads}: {:.1} GFLOP/s, DRAM {:.1} GB/s",
        flops / 1e9,
        dram / 1e9
    );
    let started = Instant::now();
    let (weights, runner) = (Box::new(Random(stored)), Runner::Jit(Arc::new(engine)));
    let options = ModelOptions {
        products,
        ..ModelOptions::default()
    };
    let model = Model::with_options(config, weights, runner, options);
    let model = Arc::new(model.map_err(|why| why.to_string())?);
    println!(
        "  bound in {:.1} s, {} MB",
        started.elapsed().as_secs_f64(),
        resident()
    );
    let bytes = weight_bytes(&config, stored) as f64;
    let in_layers = parameters(&config) - config.hidden_size * config.vocab_size;
    let fail = |why: mind_model::ModelError| why.to_string();
    for &count in &args.prefill {
        let tokens: Vec<u32> = (0..count as u32).map(|at| at * 37 % 1000).collect();
        let mut samples = Vec::new();
        for _ in 0..4 {
            let mut session = Session::new(model.clone(), count).map_err(fail)?;
            let started = Stopwatch::start();
            session.prefill(&tokens).map_err(fail)?;
            samples.push(started.stop());
        }
        samples.remove(0);
        let [time, cpu] = medians(&samples);
        let pairs = config.num_layers * config.q_width() * count * (count + 1) / 2;
        let work = 2.0 * (in_layers * count + 2 * pairs) as f64;
        println!(
            "  prefill {count}: {:.1} ms, {:.1} tokens/s, {:.1} GFLOP/s, {:.0}% of peak; processor {:.1} ms, {:.0}%",
            time * 1e3,
            count as f64 / time,
            work / time / 1e9,
            100.0 * work / time / flops,
            cpu * 1e3,
            100.0 * work * threads as f64 / cpu / flops
        );
    }
    for &context in &args.contexts {
        let mut session = Session::new(model.clone(), context + 32).map_err(fail)?;
        let tokens: Vec<u32> = (0..context as u32 - 8).map(|at| at * 37 % 1000).collect();
        session.prefill(&tokens).map_err(fail)?;
        let mut samples = Vec::new();
        for at in 0..16 {
            let started = Stopwatch::start();
            session.decode(at).map_err(fail)?;
            samples.push(started.stop());
        }
        samples.remove(0);
        let [time, cpu] = medians(&samples);
        let cache = (2 * 4 * config.num_layers * config.kv_width() * context) as f64;
        println!(
            "  decode at {context}: {:.2} ms, {:.1} tokens/s, {:.2} times the weights from memory, \
             {:.2} times weights and cache; processor {:.2} ms, {:.1} GB/s; {} MB",
            time * 1e3,
            1.0 / time,
            time * dram / bytes,
            time * dram / (bytes + cache),
            cpu * 1e3,
            (bytes + cache) / cpu / 1e9,
            resident()
        );
    }
    println!(
        "  activations: {:.1} MB",
        model.activation_bytes() as f64 / 1e6
    );
    Ok(())
}
