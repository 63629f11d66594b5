//! Encoders of images beside `transformers`: the vectors of patches, what poolers make of them, and scores of classes.

use std::path::Path;

use mind_model::Encoder;

use crate::files::{Files, distance, messages, numbers};

/// Returns the largest error of a model, in units of the largest number of the vectors of each image, of what a pooler
/// makes of them, or of its scores.
pub fn compared(family: &str, folder: &Path) -> Result<f64, String> {
    let files = Files::open(folder)?;
    let (model, warnings) = files.model(family)?;
    if !warnings.is_empty() {
        return Err(messages(&warnings));
    }
    let config = *model.config();
    let image = config.image().ok_or("the model reads tokens")?;
    let encoder = Encoder::new(model).map_err(|why| why.to_string())?;
    let named = |name: &str| {
        let path = folder.join(name);
        path.exists().then(|| numbers(&path)).transpose()
    };
    let pixels = numbers(&folder.join("pixels"))?;
    let hidden = numbers(&folder.join("hidden"))?;
    let (pooled, scores) = (named("pooled")?, named("scores")?);
    let mut error = 0f64;
    for (at, pixels) in pixels.chunks_exact(image.elements()).enumerate() {
        let found = encoder.run_image(pixels).map_err(|why| why.to_string())?;
        let part = |all: &[f32], width: usize| -> Result<Vec<f32>, String> {
            let own = all.get(at * width..(at + 1) * width);
            Ok(own.ok_or("fewer numbers than images")?.to_vec())
        };
        let width = image.positions() * config.hidden_size;
        error = error.max(distance(&found.hidden, &part(&hidden, width)?)?);
        let vectors = [
            (&found.pooled, &pooled, config.hidden_size),
            (&found.scores, &scores, config.vocab_size),
        ];
        for (found, all, width) in vectors {
            match (found, all) {
                (Some(found), Some(all)) => {
                    error = error.max(distance(found, &part(all, width)?)?);
                }
                (None, None) => {}
                (Some(_), None) | (None, Some(_)) => {
                    return Err("the model has a pooler or a classifier too many".to_owned());
                }
            }
        }
    }
    if error.is_nan() || error > crate::MOST {
        return Err(format!("a number is off by {error:e} of the largest"));
    }
    Ok(error)
}
