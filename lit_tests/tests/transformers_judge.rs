//! Compares small models with random weights with `transformers`.
//!
//! `MIND_TRANSFORMERS` names a Python with torch, transformers and safetensors. Without it the group is reported as not
//! run; `MIND_TRANSFORMERS_REQUIRED=1` makes that a failure. `transformers_counts.txt` lists the models; see
//! docs/testing.md.

#[path = "transformers/audio.rs"]
mod audio;
#[path = "../../compiler/models/mind-model/tests/described/mod.rs"]
mod described;
#[path = "transformers/encoder.rs"]
mod encoder;
#[path = "transformers/files.rs"]
mod files;
#[path = "transformers/image.rs"]
mod image;
#[path = "transformers/pair.rs"]
mod pair;

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};
use mind_model::{Session, largest};

use self::files::Files;

/// Maximum error of a logit, relative to the largest logit of a model.
const MOST: f64 = 1e-5;

fn main() {
    let arguments = Arguments::from_args();
    let python = std::env::var("MIND_TRANSFORMERS").ok();
    let required = std::env::var("MIND_TRANSFORMERS_REQUIRED").is_ok_and(|value| value == "1");
    let name = "models_beside_transformers";
    let trial = match python {
        Some(python) => Trial::test(name, move || judged(&python)),
        None if required => Trial::test(name, || {
            Err(Failed::from(
                "`MIND_TRANSFORMERS` names no Python with transformers",
            ))
        }),
        None => Trial::test(
            format!("{name} (not run: MIND_TRANSFORMERS is not set)"),
            || Ok(()),
        )
        .with_ignored_flag(true),
    };
    libtest_mimic::run(&arguments, vec![trial]).exit();
}

fn judged(python: &str) -> Result<(), Failed> {
    let folder = std::env::temp_dir().join(format!("mind-transformers-{}", std::process::id()));
    let outcome = judge_in(python, &folder);
    let _ = std::fs::remove_dir_all(&folder);
    outcome.map_err(Failed::from)
}

fn judge_in(python: &str, folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|why| why.to_string())?;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/transformers_judge.py");
    let status = Command::new(python).arg(script).arg(folder).status();
    if !status.map_err(|why| format!("{python}: {why}"))?.success() {
        return Err(format!("{script} failed"));
    }
    let listed = std::fs::read_to_string(folder.join("models")).map_err(|why| why.to_string())?;
    let (mut table, mut failed) = (String::new(), Vec::new());
    let mut largest_error = 0f64;
    for line in listed.lines() {
        let (number, called) = line.split_once('\t').ok_or("a line without a number")?;
        let family = called.split('\t').next().unwrap_or_default();
        let own = folder.join(number);
        let error = if own.join("pixels").exists() {
            image::compared(family, &own)
        } else if own.join("hidden").exists() {
            encoder::compared(family, &own)
        } else if own.join("audio_logits").exists() {
            audio::compared(family, &own)
        } else if own.join("pair_logits").exists() {
            pair::compared(family, &own)
        } else {
            compared(family, &own)
        };
        match error {
            // Writing to a string cannot fail.
            Ok(error) => {
                let _ = writeln!(table, "{called}");
                largest_error = largest_error.max(error);
            }
            Err(why) => failed.push(format!("{called}: {why}")),
        }
    }
    println!(
        "{} models agree up to {largest_error:.1e} of the largest number, {} do not",
        table.lines().count(),
        failed.len()
    );
    if !failed.is_empty() {
        return Err(failed.join("\n"));
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/transformers_counts.txt");
    mind_snapshot::check_file(path, table);
    Ok(())
}

/// Returns the largest error of the logits of a model, relative to the largest one.
fn compared(family: &str, folder: &Path) -> Result<f64, String> {
    let files = Files::open(folder)?;
    let (model, _) = files.model(family)?;
    // Given more room, layers with a sliding window cache only their window.
    let mut layers = 0..model.config().num_layers;
    let has_window = layers.any(|layer| model.config().window(layer).is_some());
    let capacity = if has_window { 512 } else { 320 };
    let session = || Session::new(model.clone(), capacity).map_err(|why| why.to_string());
    let tokens = files::ids(&folder.join("tokens"))?;
    let expected = files::numbers(&folder.join("logits"))?;
    let vocab = model.config().vocab_size;
    let found = session()?
        .prefill_all(&tokens)
        .map_err(|why| why.to_string())?;
    let mut error = files::distance(&found, &expected)?;
    let most = expected.iter().fold(0f32, |most, x| most.max(x.abs()));
    let far = |(one, other): (&f32, &f32)| f64::from((one - other).abs()) / f64::from(most);
    for length in [1, 17, 255, 300] {
        let last = session()?
            .prefill(&tokens[..length])
            .map_err(|why| why.to_string())?;
        let row = &expected[(length - 1) * vocab..length * vocab];
        error = last.iter().zip(row).map(far).fold(error, f64::max);
    }
    let exact = files::exact_numbers(&folder.join("exact_logits"))?;
    let own = files::deviation(&found, &exact);
    let theirs = files::deviation(&expected, &exact);
    println!("{family}: {error:.1e}, from double precision {own:.1e}, transformers {theirs:.1e}");
    if error.is_nan() || error > MOST {
        return Err(format!("a logit is off by {error:e} of the largest"));
    }
    if own > 1.5 * theirs + f64::from(f32::EPSILON) {
        return Err(format!(
            "logits deviate from double precision by {own:e}, those of transformers by {theirs:e}"
        ));
    }
    let mut run = session()?;
    let mut last = run.prefill(&tokens[..17]).map_err(|why| why.to_string())?;
    for (at, token) in files::ids(&folder.join("generated"))?
        .into_iter()
        .enumerate()
    {
        let own = largest(&last);
        if own != token {
            return Err(format!("token {at} drawn is {own}, expected {token}"));
        }
        last = run.decode(own).map_err(|why| why.to_string())?;
    }
    Ok(error)
}
