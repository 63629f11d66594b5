//! Effect of integer products on the logits of a decoder model, compared with floating-point products.
//!
//! ```text
//! cargo run --release -p mind-bench --bin integer_products -- [--stored q8_0,q4_0,q4_k] [--layers 4] [--tokens 64]
//! ```
//!
//! The model has the shape of Qwen2-0.5B, a smaller vocabulary and random weights with mean 0. The reference are logits
//! of floating-point products, which are within about 1e-6 of those in double precision. Tokens and embeddings are
//! random, or the tokens repeat, or some channels of all embeddings are 50 times as large as the others.

use std::borrow::Cow;
use std::num::NonZero;
use std::process::ExitCode;
use std::sync::Arc;

use mind_bench::qwen2;
use mind_driver::engine::{Config as EngineConfig, Engine};
use mind_ir::tensor::rust_types::F16;
use mind_irv2::Config;
use mind_jit::program::PanelChoice;
use mind_model::{Model, ModelOptions, Products, Runner, Session, Stored, WeightError, Weights};
use mind_weights::WeightType;

/// Vocabulary size.
const VOCABULARY: usize = 4096;

/// The distribution of embeddings and tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum InputKind {
    Random,
    Repeated,
    Outliers,
}

fn main() -> ExitCode {
    match run(std::env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

/// # Errors
///
/// An unknown flag; an invalid value; no engine.
fn run(mut words: impl Iterator<Item = String>) -> Result<(), String> {
    let mut formats = vec![WeightType::Q8_0, WeightType::Q4_0, WeightType::Q4K];
    let (mut layers, mut tokens) = (4, 64);
    while let Some(word) = words.next() {
        let value = words.next().ok_or(format!("`{word}` needs a value"))?;
        let count = || {
            value
                .parse()
                .map_err(|_| format!("invalid count `{value}`"))
        };
        match &*word {
            "--layers" => layers = count()?,
            "--tokens" => tokens = count()?,
            "--stored" => {
                let all: Option<Vec<WeightType>> =
                    value.split(',').map(WeightType::parse).collect();
                formats = all.ok_or(format!("invalid list of formats `{value}`"))?;
            }
            _ => return Err(format!("unknown flag `{word}`")),
        }
    }
    let config = Config::new(qwen2::parameters(layers, VOCABULARY, false))
        .map_err(|why| format!("{why:?}"))?;
    let engine = Engine::new(&EngineConfig {
        threads: NonZero::new(1),
        panels: PanelChoice::Shared,
        ..EngineConfig::default()
    });
    let engine = Arc::new(engine.map_err(|_| "no engine")?);
    for format in formats {
        for kind in [InputKind::Random, InputKind::Repeated, InputKind::Outliers] {
            let logits = |products| logits(config, &engine, products, (format, kind), tokens);
            let exact = logits(Products::Numbers)?;
            let found = logits(Products::Integers)?;
            println!("{format} {kind:?}: {}", difference(&exact, &found));
        }
    }
    Ok(())
}

/// Returns the logits after each token.
fn logits(
    config: Config,
    engine: &Arc<Engine>,
    products: Products,
    (format, kind): (WeightType, InputKind),
    count: usize,
) -> Result<Vec<f32>, String> {
    let fail = |why: mind_model::ModelError| why.to_string();
    let weights = Box::new(Balanced { format, kind });
    let options = ModelOptions {
        products,
        ..ModelOptions::default()
    };
    let model = Model::with_options(config, weights, Runner::Jit(engine.clone()), options);
    let mut session = Session::new(Arc::new(model.map_err(fail)?), count).map_err(fail)?;
    let token = |at: usize| match kind {
        InputKind::Repeated => at as u32 % 7,
        InputKind::Random | InputKind::Outliers => mixed(at as u64) as u32 % VOCABULARY as u32,
    };
    let tokens: Vec<u32> = (0..count).map(token).collect();
    session.prefill_all(&tokens).map_err(fail)
}

/// Returns a description of the difference.
fn difference(exact: &[f32], found: &[f32]) -> String {
    let square = |x: f64| x * x;
    let pairs = || {
        exact
            .iter()
            .zip(found)
            .map(|(&x, &y)| (f64::from(x), f64::from(y)))
    };
    let size: f64 = pairs().map(|(x, _)| square(x)).sum();
    let apart: f64 = pairs().map(|(x, y)| square(x - y)).sum();
    let largest = pairs().map(|(x, _)| x.abs()).fold(0.0, f64::max);
    let worst = pairs().map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
    let rows = exact.chunks(VOCABULARY).zip(found.chunks(VOCABULARY));
    let (mut same, mut divergence, mut count) = (0, 0.0, 0);
    for (exact, found) in rows {
        let best = |row: &[f32]| (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b]));
        same += usize::from(best(exact) == best(found));
        let [p, q] = [exact, found].map(log_softmax);
        divergence += p
            .iter()
            .zip(&q)
            .map(|(p, q)| p.exp() * (p - q))
            .sum::<f64>();
        count += 1;
    }
    format!(
        "root of mean squares {:.1e} of that of logits, largest {:.1e} of the largest; divergence {:.1e} nats a token; \
         {same} of {count} first tokens the same",
        (apart / size).sqrt(),
        worst / largest,
        divergence / f64::from(count),
    )
}

fn log_softmax(row: &[f32]) -> Vec<f64> {
    let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let total: f64 = row.iter().map(|&x| f64::from(x - largest).exp()).sum();
    let log = total.ln();
    row.iter().map(|&x| f64::from(x - largest) - log).collect()
}

fn mixed(at: u64) -> u64 {
    let mut x = at.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// Random weights that are generated on demand, with magnitudes of about 1 / sqrt(inputs) and mean 0.
struct Balanced {
    format: WeightType,
    kind: InputKind,
}

impl Balanced {
    fn blocks(format: WeightType, count: usize, seed: u64) -> Vec<u8> {
        let bytes = count / format.block_elements() * format.block_bytes();
        let mut out: Vec<u8> = (0..bytes as u64)
            .map(|at| mixed(seed << 32 | at) as u8)
            .collect();
        for block in out.chunks_mut(format.block_bytes()) {
            let mut scale = |at: usize, scale: f32| {
                let bits = F16::from_f32(scale).to_bits().to_le_bytes();
                block[at..at + 2].copy_from_slice(&bits);
            };
            match format {
                WeightType::Q8_0 => scale(0, 4.1e-4),
                WeightType::Q4_0 => scale(0, 6.5e-3),
                WeightType::Q4K => {
                    scale(0, 1.6e-4);
                    scale(2, 1.2e-3);
                    // Minimums are as large as scales.
                    for at in 0..4 {
                        block[8 + at] = block[4 + at];
                        block[12 + at] = block[12 + at] & 15 | block[12 + at] << 4;
                    }
                }
                WeightType::Q6K => {
                    scale(208, 1.7e-5);
                    block[192..208]
                        .iter_mut()
                        .for_each(|scale| *scale = *scale & 63 | 64);
                }
                _ => scale(0, 1e-3),
            }
        }
        out
    }
}

impl Weights for Balanced {
    fn stored_as(&self, name: &str, _: Option<usize>) -> Result<WeightType, WeightError> {
        Ok(qwen2::stored_as(self.format, name))
    }

    fn weight(
        &self,
        name: &str,
        layer: Option<usize>,
        shape: &[usize],
    ) -> Result<Stored<'_>, WeightError> {
        let (weight_type, count) = (self.stored_as(name, layer)?, shape.iter().product());
        let seed = name.bytes().fold(layer.unwrap_or(99) as u64, |seed, byte| {
            (seed * 31 + u64::from(byte)) & 0xffff
        });
        let bytes = match (weight_type, name.starts_with('b')) {
            (WeightType::F32, true) => vec![0; 4 * count],
            (WeightType::F32, false) => (0..count).flat_map(|_| 1f32.to_le_bytes()).collect(),
            _ => Balanced::blocks(weight_type, count, seed),
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
        for (at, x) in row.iter_mut().enumerate() {
            let bits = mixed((index as u64) << 20 | at as u64);
            *x = (bits >> 40) as f32 / (1 << 23) as f32 - 1.0;
            if self.kind == InputKind::Outliers && at % 100 == 7 {
                *x *= 50.0;
            }
        }
        Ok(())
    }
}
