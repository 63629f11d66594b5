//! Encoders beside `transformers`: the vectors of texts of several lengths, and what poolers make of them.

use std::path::Path;

use mind_model::Encoder;

use crate::files::{Files, distance, ids, messages, numbers};

/// Code of the warning that names a head for another task.
const TENSOR_EXTRA: mind_diag::Code = mind_diag::Code(4303);

/// Tokens of each text, as the script has them.
const LENGTHS: [usize; 4] = [1, 17, 255, 300];

/// Returns the largest error of the vectors of a model, in units of the largest number of each text.
pub fn compared(family: &str, folder: &Path) -> Result<f64, String> {
    let files = Files::open(folder)?;
    let (model, warnings) = files.model(family)?;
    let of_head = |own: &mind_diag::Diagnostic| own.code == Some(TENSOR_EXTRA);
    let is_dropped = folder.join("dropped").exists();
    if is_dropped != warnings.iter().any(of_head) || !warnings.iter().all(of_head) {
        return Err(format!(
            "a dropped head: {is_dropped}; warnings: {}",
            messages(&warnings)
        ));
    }
    let width = model.config().hidden_size;
    let encoder = Encoder::new(model).map_err(|why| why.to_string())?;
    let tokens = ids(&folder.join("tokens"))?;
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
