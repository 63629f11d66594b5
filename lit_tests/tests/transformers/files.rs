//! The files of a model that the script has written, and the model.

use std::path::Path;
use std::sync::Arc;

use mind_diag::Diagnostics;
use mind_driver::engine::{Config, Engine};
use mind_irv2::checkpoint::{Checkpoint, Source};
use mind_irv2::hf;
use mind_model::{CheckpointWeights, Model, Runner};
use mind_weights::WeightFile;

use crate::described;

/// Returns the numbers of a file.
pub fn numbers(path: &Path) -> Result<Vec<f32>, String> {
    let bytes = std::fs::read(path).map_err(|why| format!("{}: {why}", path.display()))?;
    let (words, _) = bytes.as_chunks::<4>();
    Ok(words.iter().copied().map(f32::from_le_bytes).collect())
}

/// The `f64` numbers of a file.
pub fn exact_numbers(path: &Path) -> Result<Vec<f64>, String> {
    let bytes = std::fs::read(path).map_err(|why| format!("{}: {why}", path.display()))?;
    let (words, _) = bytes.as_chunks::<8>();
    Ok(words.iter().copied().map(f64::from_le_bytes).collect())
}

/// The root mean square of the distances from the exact numbers, in units of the largest of these.
pub fn deviation(found: &[f32], exact: &[f64]) -> f64 {
    let most = exact.iter().fold(0f64, |most, x| most.max(x.abs()));
    let square = |(one, other): (&f32, &f64)| ((f64::from(*one) - other) / most).powi(2);
    let squares: f64 = found.iter().zip(exact).map(square).sum();
    (squares / exact.len() as f64).sqrt()
}

/// Returns the token ids of a file.
pub fn ids(path: &Path) -> Result<Vec<u32>, String> {
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|why| format!("{}: {why}", path.display()))?;
    let ids = text.split(',').map(|id| id.trim().parse::<u32>());
    ids.collect::<Result<_, _>>().map_err(|why| why.to_string())
}

/// Returns the largest distance of numbers from the expected ones, in units of the largest of these.
pub fn distance(found: &[f32], expected: &[f32]) -> Result<f64, String> {
    if found.len() != expected.len() {
        let (found, expected) = (found.len(), expected.len());
        return Err(format!("{found} numbers, expected {expected}"));
    }
    let most = expected.iter().fold(0f32, |most, x| most.max(x.abs()));
    let far = |(one, other): (&f32, &f32)| f64::from((one - other).abs()) / f64::from(most);
    // A distance that is no number stays one that is none.
    let larger = |most: f64, own: f64| {
        if own > most || own.is_nan() {
            own
        } else {
            most
        }
    };
    Ok(found.iter().zip(expected).map(far).fold(0.0, larger))
}

/// The description of a model and its weights.
pub struct Files {
    config: String,
    bytes: Vec<u8>,
}

impl Files {
    /// Those of a folder.
    pub fn open(folder: &Path) -> Result<Files, String> {
        let config = std::fs::read_to_string(folder.join("config.json"));
        let bytes = std::fs::read(folder.join("model.safetensors"));
        Ok(Files {
            config: config.map_err(|why| format!("config.json: {why}"))?,
            bytes: bytes.map_err(|why| format!("model.safetensors: {why}"))?,
        })
    }

    /// Returns the model, and what is read with doubt.
    pub fn model(&self, family: &str) -> Result<(Arc<Model<'_>>, Diagnostics), String> {
        let sources = [Source {
            name: "model.safetensors".to_owned(),
            file: WeightFile::parse(&self.bytes).map_err(|why| why.to_string())?,
        }];
        let read = hf::document(Some(&self.config), &sources, described::families(family));
        let (document, warnings) = read.map_err(|found| messages(&found))?;
        let checkpoint = Checkpoint::new(&document.config, &sources);
        let checkpoint = checkpoint.map_err(|found| messages(&found))?;
        let engine = Engine::new(&Config::default()).map_err(|found| messages(&found))?;
        let weights = Box::new(CheckpointWeights(checkpoint));
        let model = Model::new(document.config, weights, Runner::Jit(Arc::new(engine)));
        let model = Arc::new(model.map_err(|why| why.to_string())?);
        Ok((model, warnings))
    }
}

/// What diagnostics say.
pub fn messages(found: &Diagnostics) -> String {
    let all: Vec<&str> = found.iter().map(|own| own.message.as_str()).collect();
    all.join("; ")
}
