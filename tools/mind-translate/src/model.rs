//! Descriptions of models: IR v2 documents and files of Hugging Face models.

use std::path::Path;

use clap::ArgMatches;
use mind_cli::{DiagnosticFormat, REJECTED};
use mind_diag::{Diagnostic, Severity, SourceFile, Span};
use mind_driver::formats::{FormatInfo, Read};
use mind_driver::host::Host;
use mind_irv2::{Config, Document, ReadOptions};
use mind_model::c::{Drawn, Tensors, c_program};
use mind_model::{Files, FolderError, Hearing, Suppressed, TextFiles, WeightsAt};

/// Default capacity in tokens of a model's C program.
pub(crate) const CAPACITY: &str = "512";

/// Opens the files at `path`.
///
/// # Errors
///
/// Returns the exit code after reporting the error.
fn open(
    path: &str,
    weights: WeightsAt<'_>,
    matches: &ArgMatches,
    host: &mut dyn Host,
) -> Result<Files, u8> {
    let form = DiagnosticFormat::of(matches);
    let mut files = Files::open(Path::new(path), weights, host);
    if let Some(folder) = matches.get_one::<String>("kernel-maps") {
        files = files.and_then(|files| files.with_kernel_maps(Path::new(folder), host));
    }
    files.map_err(|why| refuse(host, why, &SourceFile::new("", ""), form))
}

/// Opens the files at `path` and returns them with the model that they describe; `from` is their format, if specified.
///
/// # Errors
///
/// Returns the exit code after reporting the error.
pub(crate) fn read(
    path: &str,
    from: Option<&FormatInfo>,
    matches: &ArgMatches,
    host: &mut dyn Host,
) -> Result<(Files, Document), u8> {
    let form = DiagnosticFormat::of(matches);
    let weights = match matches.get_one::<String>("weights") {
        Some(path) => WeightsAt::Path(Path::new(path)),
        None => WeightsAt::BesideConfig,
    };
    let files = open(path, weights, matches, host)?;
    let wanted = from.map(|row| !matches!(row.read, Some(Read::Model)));
    if wanted.is_some_and(|wanted| wanted != files.is_document()) {
        let message = if files.is_document() {
            "the file is an IR v2 document: use `--from irv2`"
        } else {
            "the file is not an IR v2 document"
        };
        let help = "`--from hf` reads a `config.json`, its folder or a `.gguf` file, `--from irv2` a document";
        let found = Diagnostic::error(Span::FILE, message).help(help);
        mind_cli::report_one(host, found, &files.config, form);
        return Err(REJECTED);
    }
    let options = ReadOptions {
        allow_unknown: matches.get_flag("allow-unknown"),
        unknown_flag: Some("--allow-unknown"),
        ..ReadOptions::default()
    };
    let read = files.document(&options);
    let (document, mut warnings) = read.map_err(|why| refuse(host, why, &files.config, form))?;
    if !files.is_document() && !files.has_weights() {
        let message =
            "no weights in the configuration's folder: biases and dtypes are those of its family";
        warnings.push(Diagnostic::new(Severity::Note, Span::FILE, message));
    }
    mind_cli::report(host, &warnings, &files.config, form);
    Ok((files, document))
}

/// Returns the model at `path` as a C file.
///
/// # Errors
///
/// Returns the exit code after reporting the error.
pub(crate) fn c_text(path: &str, matches: &ArgMatches, host: &mut dyn Host) -> Result<String, u8> {
    let form = DiagnosticFormat::of(matches);
    let weights = match matches.get_one::<String>("weights") {
        Some(path) => WeightsAt::Path(Path::new(path)),
        None => WeightsAt::Beside,
    };
    let files = open(path, weights, matches, host)?;
    let options = ReadOptions {
        allow_unknown: matches.get_flag("allow-unknown"),
        unknown_flag: Some("--allow-unknown"),
        ..ReadOptions::default()
    };
    let read = files.model_with(&options);
    let (document, checkpoint, warnings) =
        read.map_err(|why| refuse(host, why, &files.config, form))?;
    mind_cli::report(host, &warnings, &files.config, form);
    let config = &document.config;
    let capacity = matches.get_one("capacity").copied().unwrap_or(1);
    let tensors = Tensors::new(config, &checkpoint, &files.weights());
    let tensors = tensors.map_err(|why| fail(host, &why))?;
    let refused = |why, host: &mut dyn Host| refuse(host, why, &files.config, form);
    let drawn = drawn(&files, config, host).map_err(|why| refused(why, host))?;
    let capacity = config.context_window.min(capacity);
    c_program(config, &tensors, capacity, &drawn).map_err(|why| fail(host, &why))
}

/// Returns the forced and suppressed tokens of an encoder-decoder, which do not depend on logits.
fn drawn(files: &Files, config: &Config, host: &mut dyn Host) -> Result<Drawn, FolderError> {
    let Some(encoder) = config.encoder() else {
        return Ok(Drawn::default());
    };
    let beside = TextFiles::open(files, config.family, host)?;
    let suppressed = match encoder.audio() {
        Some(_) => beside.speech(Hearing::default())?.suppressed,
        None => Suppressed::default(),
    };
    Ok(Drawn {
        forced: beside.forced()?,
        suppressed,
    })
}

fn fail(host: &mut dyn Host, why: &dyn std::fmt::Display) -> u8 {
    mind_cli::fail(host, why);
    REJECTED
}

/// Reports why files do not describe a model; `config` is the text that describes it.
fn refuse(
    host: &mut dyn Host,
    why: FolderError,
    config: &SourceFile,
    form: DiagnosticFormat,
) -> u8 {
    match why.diagnostics() {
        Ok((found, file)) => mind_cli::report(host, &found, file.as_ref().unwrap_or(config), form),
        Err(why) => mind_cli::fail(host, &why),
    }
    REJECTED
}
