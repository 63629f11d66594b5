//! Image classification and image embeddings.

use std::sync::Arc;

use mind_cli::npz::ArchiveFile;
use mind_driver::host::Host;
use mind_ir::tensor::Tensor;
use mind_ir::types::DType;
use mind_irv2::Image;
use mind_model::{Embedding, Encoder, Model, ModelError, TextFiles};
use serde_json::{Value, json};

use super::args::ModelArgs;
use super::embed;
use super::generate::save;
use super::output::Rate;
use super::stop::Stop;
use crate::args::Form;

/// The name of the array of images in an archive.
const PIXELS: &str = "pixel_values";
/// Limit on the elements of an archive in bytes.
const LIMIT: u64 = 1 << 32;
/// Number of classes printed for an image.
const BEST: usize = 5;

/// Prints or saves the class scores of each image in the archive at `path`, or embeddings if the model has no
/// classifier or the command line requests them.
pub(super) fn run(
    args: &ModelArgs,
    model: Arc<Model<'_>>,
    (path, beside, how): (&str, &TextFiles<'_>, Embedding),
    host: &mut dyn Host,
) -> Result<(), Stop> {
    let encoder = Encoder::new(model)?;
    let config = *encoder.model().config();
    let Some(image) = config.image() else {
        let family = config.family.name();
        return Err(ModelError::ReadsTokens { family }.into());
    };
    let pixels = read(args, image, path, host)?;
    let asks_vectors = args.pooling.is_some() || args.normalizes.is_some();
    let (mut vectors, mut scores) = (Vec::new(), Vec::new());
    let mut rate = Rate::default();
    let work = host.working("looking at images");
    for pixels in pixels.chunks_exact(image.elements().max(1)) {
        let started = host.now();
        let encoded = encoder.run_image(pixels)?;
        rate.add(image.positions(), host.now().saturating_sub(started));
        match &encoded.scores {
            Some(own) if !asks_vectors => scores.push(own.clone()),
            Some(_) | None => {
                vectors.push(embed::vector(args, how, &encoded, config.hidden_size)?);
            }
        }
    }
    drop(work);
    if scores.is_empty() {
        let counts = vec![image.positions(); vectors.len()];
        embed::write(args, how, (&vectors, &counts), host)?;
    } else if let Some(path) = &args.outputs {
        let array = Tensor::of(vec![scores.len(), config.vocab_size], scores.concat());
        save(host, path, ("logits", &array))?;
    } else {
        let labels = beside.labels(config.vocab_size)?;
        let best: Vec<Vec<Class<'_>>> = scores.iter().map(|own| best(own, &labels)).collect();
        let printed = match args.vectors {
            Form::Text => lines(&best),
            Form::Json => object(&best),
        };
        mind_cli::print(host, &printed);
    }
    embed::note(host, rate);
    Ok(())
}

/// Returns the pixels of all images in an archive.
fn read(args: &ModelArgs, image: Image, path: &str, host: &mut dyn Host) -> Result<Vec<f32>, Stop> {
    let archive = ArchiveFile::open(path, LIMIT, args.form, host);
    let mut archive = archive.map_err(|_| Stop::Reported)?;
    let name = path.to_owned();
    let Some(array) = archive.types().get(PIXELS) else {
        let names = archive.types().keys();
        let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
        let found = names.join(", ");
        return Err(Stop::NoPixels { name, found });
    };
    let expected = [image.channels, image.size, image.size];
    let shape = array.shape.as_slice();
    let own = match shape.len() {
        4 => &shape[1..],
        _ => shape,
    };
    if array.dtype != DType::F32 || own != expected {
        let found = format!("{}{shape:?}", array.dtype.name());
        return Err(Stop::Pixels {
            name,
            found,
            expected,
        });
    }
    let arrays = archive.arrays(|own| own == PIXELS, host);
    let arrays = arrays.map_err(|_| Stop::Reported)?;
    let pixels = arrays.values().flat_map(|own| own.elements::<f32>());
    Ok(pixels.copied().collect())
}

/// A class and its score.
struct Class<'l> {
    number: usize,
    label: &'l str,
    score: f32,
}

/// Returns the classes with the highest scores, in descending order. The sort is stable, and NaN counts as the lowest
/// score.
fn best<'l>(scores: &[f32], labels: &'l [String]) -> Vec<Class<'l>> {
    let pairs = scores.iter().zip(labels).enumerate();
    let mut all: Vec<Class<'l>> = pairs
        .map(|(number, (&score, label))| Class {
            number,
            label,
            score,
        })
        .collect();
    let key = |score: f32| {
        if score.is_nan() {
            f32::NEG_INFINITY
        } else {
            score
        }
    };
    all.sort_by(|x, y| key(y.score).total_cmp(&key(x.score)));
    all.truncate(BEST);
    all
}

/// Formats a line with the names and scores of the best classes of each image.
fn lines(images: &[Vec<Class<'_>>]) -> String {
    let line = |best: &Vec<Class<'_>>| {
        let classes: Vec<String> = best
            .iter()
            .map(|own| format!("{} {}", own.label, own.score))
            .collect();
        format!("{}\n", classes.join(", "))
    };
    images.iter().map(line).collect()
}

/// Formats a JSON object on one line.
fn object(images: &[Vec<Class<'_>>]) -> String {
    let class = |own: &Class<'_>| json!({"class": own.number, "label": own.label, "score": embed::number(&own.score)});
    let image = |best: &Vec<Class<'_>>| -> Value {
        let classes: Vec<Value> = best.iter().map(class).collect();
        json!({ "classes": classes })
    };
    let images: Vec<Value> = images.iter().map(image).collect();
    format!("{}\n", json!({ "images": images }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_the_largest_scores_comes_first() {
        let labels: Vec<String> = (0..7).map(|at: i32| format!("l{at}")).collect();
        let found = best(&[1.0, f32::NAN, 3.0, 0.5, 3.0, -0.0, 0.0], &labels);
        let numbers: Vec<usize> = found.iter().map(|own| own.number).collect();
        assert_eq!(numbers, [2, 4, 0, 3, 6]);
        assert_eq!(lines(&[found]), "l2 3, l4 3, l0 1, l3 0.5, l6 0\n");
    }
}
