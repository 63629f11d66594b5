//! Encoders beside `transformers`: the vectors of texts of several lengths, and what poolers make of them.

use std::path::Path;
use std::sync::Arc;

use mind_driver::engine::{Config, Engine};
use mind_irv2::checkpoint::{Checkpoint, Source};
use mind_irv2::hf;
use mind_model::{CheckpointWeights, Encoder, Model, Runner};
use mind_weights::WeightFile;

use crate::described;

/// Tokens of each text, as the script has them.
const LENGTHS: [usize; 4] = [1, 17, 255, 300];

/// The numbers of a file.
fn numbers(path: &Path) -> Result<Vec<f32>, String> {
    let bytes = std::fs::read(path).map_err(|why| format!("{}: {why}", path.display()))?;
    let (words, _) = bytes.as_chunks::<4>();
    Ok(words.iter().copied().map(f32::from_le_bytes).collect())
}

/// The largest distance of numbers from the expected ones, in units of the largest of these.
fn distance(found: &[f32], expected: &[f32]) -> Result<f64, String> {
    if found.len() != expected.len() {
        let (found, expected) = (found.len(), expected.len());
        return Err(format!("{found} numbers, expected {expected}"));
    }
    let most = expected.iter().fold(0f32, |most, x| most.max(x.abs()));
    let far = |(one, other): (&f32, &f32)| f64::from((one - other).abs()) / f64::from(most);
    Ok(found.iter().zip(expected).map(far).fold(0.0, f64::max))
}

/// The largest error of the vectors of a model, in units of the largest number of each text.
pub fn compared(family: &str, folder: &Path) -> Result<f64, String> {
    let text = |name: &str| {
        let text = std::fs::read_to_string(folder.join(name));
        text.map_err(|why| format!("{name}: {why}"))
    };
    let bytes = std::fs::read(folder.join("model.safetensors")).map_err(|why| why.to_string())?;
    let sources = [Source {
        name: "model.safetensors".to_owned(),
        file: WeightFile::parse(&bytes).map_err(|why| why.to_string())?,
    }];
    let messages = |found: mind_diag::Diagnostics| -> String {
        let all: Vec<&str> = found.iter().map(|own| own.message.as_str()).collect();
        all.join("; ")
    };
    let config = text("config.json")?;
    let read = hf::document(Some(&config), &sources, described::families(family));
    let (document, warnings) = read.map_err(messages)?;
    if !warnings.is_empty() {
        return Err(messages(warnings));
    }
    let checkpoint = Checkpoint::new(&document.config, &sources).map_err(messages)?;
    let engine = Engine::new(&Config::default()).map_err(messages)?;
    let weights = Box::new(CheckpointWeights(checkpoint));
    let model = Model::new(document.config, weights, Runner::Jit(Arc::new(engine)));
    let encoder = Encoder::new(Arc::new(model.map_err(|why| why.to_string())?));
    let encoder = encoder.map_err(|why| why.to_string())?;
    let ids = text("tokens")?;
    let ids = ids.split(',').map(|id| id.trim().parse::<u32>());
    let tokens: Vec<u32> = ids
        .collect::<Result<_, _>>()
        .map_err(|why| format!("{why}"))?;
    let width = document.config.hidden_size;
    let hidden = numbers(&folder.join("hidden"))?;
    let pooled = folder.join("pooled");
    let pooled = pooled.exists().then(|| numbers(&pooled)).transpose()?;
    let (mut rest, mut error) = (hidden.as_slice(), 0f64);
    for (at, length) in LENGTHS.into_iter().enumerate() {
        let found = encoder.run(&tokens[..length], &[]);
        let found = found.map_err(|why| why.to_string())?;
        let (expected, later) = rest.split_at(length * width);
        rest = later;
        error = error.max(distance(&found.hidden, expected)?);
        match (&found.pooled, &pooled) {
            (Some(found), Some(all)) => {
                error = error.max(distance(found, &all[at * width..(at + 1) * width])?);
            }
            (None, None) => {}
            (found, _) => return Err(format!("a pooled vector: {}", found.is_some())),
        }
    }
    if error.is_nan() || error > crate::MOST {
        return Err(format!("a number is off by {error:e} of the largest"));
    }
    Ok(error)
}
