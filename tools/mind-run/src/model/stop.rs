//! Errors of model runs.

use std::io;

use mind_diag::SourceFile;
use mind_driver::host::Host;
use mind_model::{FolderError, ModelError, SpectrogramError, TextError, WavError};

use super::args::ModelArgs;

/// Error of a model run.
#[derive(Debug, thiserror::Error)]
pub(super) enum Stop {
    /// An error that was already reported.
    #[error("reported before")]
    Reported,
    #[error(transparent)]
    Files(#[from] FolderError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Text(#[from] TextError),
    /// The input is text, but the model has no tokenizer.
    #[error("{model}: no tokenizer.json, which is needed for {what}")]
    NoTokenizer { model: String, what: &'static str },
    /// Options that cannot be combined.
    #[error("{0}")]
    Usage(&'static str),
    /// An option that does not apply to the model's family.
    #[error(
        "models of {family} are {models}s: {}, `--{option}` is for {}",
        if *is_encoder { "`--embed` and `--tokens` compute embeddings" } else { "`--prompt` and `--tokens` generate text" },
        if *is_encoder { "decoders" } else { "encoders" }
    )]
    Unused {
        option: &'static str,
        family: &'static str,
        models: &'static str,
        is_encoder: bool,
    },
    /// A text exceeds the context of an encoder.
    #[error("text {text} has {tokens} tokens, more than the model's context of {context}")]
    Long {
        text: usize,
        tokens: usize,
        context: usize,
    },
    /// The model has no pooler, which `--pooling` selects.
    #[error("{model}: the model has no pooler; `--pooling` may be mean or cls")]
    NoPooler { model: String },
    /// An archive without an array of images.
    #[error("{name}: no array `pixel_values`, found {}", if found.is_empty() { "none" } else { found })]
    NoPixels { name: String, found: String },
    /// An array whose type is not that of the model's images.
    #[error(
        "{name}: `pixel_values` is {found}, expected f32{expected:?}, or several of them along a first axis"
    )]
    Pixels {
        name: String,
        found: String,
        expected: [usize; 3],
    },
    /// An invalid WAV file.
    #[error("{name}: {why}")]
    Wav { name: String, why: WavError },
    /// Audio with the wrong sample rate or length.
    #[error("{name}: {why}")]
    Sound { name: String, why: SpectrogramError },
    /// A conversation exceeds the KV cache.
    #[error(
        "the conversation has {needed} tokens, the cache has room for {capacity}; `--capacity` makes it larger"
    )]
    Full { needed: usize, capacity: usize },
    /// A file or standard input cannot be read or written.
    #[error("{name}: {why}")]
    Stream { name: String, why: io::Error },
    /// Arrays that cannot be written to an archive.
    #[error("{name}: {why}")]
    Archive { name: String, why: String },
}

impl Stop {
    /// Reports the error; `config` is the text that describes the model.
    pub(super) fn report(self, args: &ModelArgs, config: &SourceFile, host: &mut dyn Host) {
        match self {
            Stop::Reported => {}
            Stop::Files(why) => match why.diagnostics() {
                Ok((found, file)) => {
                    mind_cli::report(host, &found, file.as_ref().unwrap_or(config), args.form);
                }
                Err(why) => mind_cli::fail(host, &why),
            },
            Stop::Model(_)
            | Stop::Text(_)
            | Stop::NoTokenizer { .. }
            | Stop::Usage(_)
            | Stop::Unused { .. }
            | Stop::Long { .. }
            | Stop::NoPooler { .. }
            | Stop::NoPixels { .. }
            | Stop::Pixels { .. }
            | Stop::Wav { .. }
            | Stop::Sound { .. }
            | Stop::Full { .. }
            | Stop::Stream { .. }
            | Stop::Archive { .. } => mind_cli::fail(host, &self),
        }
    }
}
