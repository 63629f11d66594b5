//! Running a model from the command line.

use std::path::Path;
use std::sync::Arc;

use clap::ArgMatches;
use mind_cli::{DONE, DiagnosticFormat, REJECTED, npz};
use mind_diag::SourceFile;
use mind_driver::engine::Engine;
use mind_driver::host::Host;
use mind_ir::tensor::Tensor;
use mind_model::{
    CheckpointWeights, Files, FolderError, MappedWeights, Model, ModelError, Runner, Sampler,
    Session, Text, WeightsAt,
};

use crate::args::ModelArgs;

/// Runs the model that the command line names.
pub(super) fn run(matches: &ArgMatches, host: &mut dyn Host) -> u8 {
    match execute(&ModelArgs::of(matches), host) {
        Ok(()) => DONE,
        Err(()) => REJECTED,
    }
}

/// The tokens to start from, and the tokenizer where they were text.
///
/// # Errors
///
/// A text without a tokenizer, or that it refuses.
fn start(args: &ModelArgs, files: &Files) -> Result<(Vec<u32>, Option<Text>), String> {
    let Some(prompt) = &args.prompt else {
        return Ok((args.tokens.clone(), None));
    };
    let Some(json) = &files.tokenizer else {
        return Err(format!(
            "{}: there is no tokenizer.json for the prompt",
            args.model
        ));
    };
    let text = Text::new(json).map_err(|why| why.to_string())?;
    let tokens = text.encode(prompt).map_err(|why| why.to_string())?;
    Ok((tokens, Some(text)))
}

/// # Errors
///
/// The reason has been reported.
fn execute(args: &ModelArgs, host: &mut dyn Host) -> Result<(), ()> {
    let files = Files::open(Path::new(&args.model), WeightsAt::Beside, host);
    let files = files.map_err(|why| refuse(host, why, &nowhere(), args.form))?;
    let files = match &args.kernel_maps {
        Some(folder) => files
            .with_kernel_maps(Path::new(folder), host)
            .map_err(|why| refuse(host, why, &nowhere(), args.form))?,
        None => files,
    };
    let read = files.model();
    let (document, checkpoint, warnings) =
        read.map_err(|why| refuse(host, why, &files.config, args.form))?;
    mind_cli::report(host, &warnings, &files.config, args.form);
    let runner = if args.is_interpreted {
        Runner::Interpreter
    } else {
        let engine = Engine::new(&args.config);
        let engine =
            engine.map_err(|found| mind_cli::report(host, &found, &files.config, args.form))?;
        Runner::Jit(Arc::new(engine))
    };
    let weights = Box::new(MappedWeights {
        weights: CheckpointWeights(checkpoint),
        files: files.contents(),
    });
    let work = host.working("packing weights");
    let model = Model::new(document.config, weights, runner);
    drop(work);
    let model = Arc::new(model.map_err(|why| fail(host, &why))?);
    let (prompt, text) = start(args, &files).map_err(|why| fail(host, &why))?;
    let needed = prompt.len().saturating_add(args.generate.saturating_sub(1));
    let session = Session::new(model, args.capacity.unwrap_or(needed));
    let mut session = session.map_err(|why| fail(host, &why))?;
    let work = host.working("generating");
    let generated = generated(args, &prompt, &mut session);
    drop(work);
    let (tokens, logits) = generated.map_err(|why| fail(host, &why))?;
    if let Some(path) = &args.logits {
        let rows = logits.len() / document.config.vocab_size;
        let array = Tensor::of(vec![rows, document.config.vocab_size], logits);
        save(host, path, &array)?;
    }
    let printed = match text {
        Some(text) => text.decode(&tokens).map_err(|why| fail(host, &why))?,
        None => tokens
            .iter()
            .map(u32::to_string)
            .collect::<Vec<_>>()
            .join(","),
    };
    mind_cli::print(host, &format!("{printed}\n"));
    Ok(())
}

/// The tokens drawn, and the logits that were asked for.
fn generated(
    args: &ModelArgs,
    prompt: &[u32],
    session: &mut Session<'_>,
) -> Result<(Vec<u32>, Vec<f32>), ModelError> {
    let vocab = session.model().config().vocab_size;
    let mut kept = if args.all_logits {
        session.prefill_all(prompt)?
    } else {
        session.prefill(prompt)?
    };
    let mut last = kept[kept.len() - vocab..].to_vec();
    let mut sampler = Sampler::new(args.sampling);
    let mut tokens = Vec::with_capacity(args.generate.min(1 << 16));
    while tokens.len() < args.generate {
        if let Some(&token) = tokens.last() {
            last = session.decode(token)?;
            if args.logits.is_some() {
                kept.extend_from_slice(&last);
            }
        }
        tokens.push(sampler.next(&last));
    }
    Ok((tokens, kept))
}

fn save(host: &mut dyn Host, path: &str, logits: &Tensor) -> Result<(), ()> {
    let archive = npz::write([("logits".to_owned(), logits)]);
    let archive = archive.map_err(|why| fail(host, &format!("{path}: {why}")))?;
    let written = host.write(Path::new(path), &archive);
    written.map_err(|why| fail(host, &format!("{path}: {why}")))
}

/// Reports why there is no result.
fn fail(host: &mut dyn Host, why: &dyn std::fmt::Display) {
    mind_cli::fail(host, why);
}

/// Reports why files are no model; `config` is the text that describes it.
fn refuse(host: &mut dyn Host, why: FolderError, config: &SourceFile, form: DiagnosticFormat) {
    match why.diagnostics() {
        Ok((found, file)) => mind_cli::report(host, &found, file.as_ref().unwrap_or(config), form),
        Err(why) => mind_cli::fail(host, &why),
    }
}

/// The text of a model whose files could not be opened.
fn nowhere() -> SourceFile {
    SourceFile::new("", "")
}
